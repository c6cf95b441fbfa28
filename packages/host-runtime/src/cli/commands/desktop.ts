import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { harnesses } from "@foldcast/adapter-registry";
import { realSystem, runningProgram } from "../../desktop/program.ts";
import { disable, enable, InTheWayError, status } from "../../desktop/setup.ts";
import type { Outcome, SetupOptions } from "../../desktop/setup.ts";
import { CODEX, findCodex } from "../../native/program.ts";
import { localDoors } from "../../rpc/local-door.ts";
import type { Call } from "../command.ts";
import { surroundings } from "../native.ts";
import { environmentName } from "../options/option.ts";
import { defaultDataDir } from "../server-options.ts";
import { DEFAULT_PORT } from "../table/options.ts";
import type { DESKTOP_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

const WINDOWS = `On Windows Codex Desktop wants a real .exe for CODEX_CLI_PATH, so it connects to a server that runs already:

  1  foldcast serve                                                        keep it running; at every login: Task Scheduler
  2  setx CODEX_APP_SERVER_WS_URL ws://127.0.0.1:${DEFAULT_PORT}
  3  quit Codex Desktop and start it again

To undo it: reg delete HKCU\\Environment /v CODEX_APP_SERVER_WS_URL /f
`;

export async function run({ operands: [verb = "", stray], settings, env, stdout, stderr }: Call<typeof DESKTOP_OPTIONS>): Promise<number> {
  if (stray !== undefined) throw new UsageError(`\`${stray}\` is one word too many`);
  const { values, origins } = await settings();
  const around = surroundings(env);
  const codex = await findCodex(values["codex-bin"], around, { desktopFirst: true });
  if (verb === CODEX) {
    if (codex === null) stderr.write("foldcast desktop: there is no codex program here; foldcast doctor says what to do\n");
    else stdout.write(`${codex}\n`);
    return codex === null ? 1 : 0;
  }
  const { platform } = process;
  const print = (json: object, text: string): void => void stdout.write(values.json ? `${JSON.stringify(json)}\n` : text);
  if (platform !== "darwin" && platform !== "linux") {
    print({ platform, enabled: false, steps: WINDOWS }, WINDOWS);
    return 0;
  }
  demandModel(values.model);
  const dataDir = values["data-dir"] ?? defaultDataDir(env);
  const configHome = env["XDG_CONFIG_HOME"];
  const kept = { "data-dir": origins["data-dir"] === "default" ? null : dataDir, config: values.config ?? env[environmentName("config")] ?? null };
  const setup: SetupOptions = {
    platform, door: values.door, home: around.home, uid: userInfo().uid, dataDir, doors: localDoors(dataDir, homedir()),
    configHome: configHome !== undefined && isAbsolute(configHome) ? configHome : join(around.home, ".config"),
    foldcast: runningProgram(), codex, model: values.model, path: env["PATH"] ?? "/usr/bin:/bin", system: realSystem,
    env: Object.fromEntries(Object.entries(kept).flatMap(([option, value]) => (value === null || value === "" ? [] : [[environmentName(option), value]]))),
  };
  try {
    switch (verb) {
      case "enable": {
        const done = await enable(setup);
        print({ ...done, codex }, `${report(done, "wrote")}set      ${done.variable.name}=${done.variable.value}\n${codex === null ? "note     there is no codex program here: foldcast answers alone\n" : `codex    ${codex}\n`}${done.trouble.length === 0 ? AGAIN : LATER}`);
        return 0;
      }
      case "disable": {
        const done = await disable(setup);
        print(done, `${report(done, "removed")}${done.files.length + done.kept.length === 0 ? "Nothing was set up.\n" : AGAIN}`);
        return done.kept.length > 0 ? 1 : 0;
      }
      default: {
        const found = await status(setup);
        const now = { ...found, codex: found.codex ?? codex };
        print({ platform, ...now }, describe(now));
        return now.files.some(({ state }) => state !== "ok") ? 1 : 0;
      }
    }
  } catch (error) {
    if (!(error instanceof InTheWayError)) throw error;
    stderr.write(`foldcast desktop: ${error.message}\n`);
    return 1;
  }
}

const AGAIN = "\nQuit Codex Desktop and start it again.\n";
const LATER = "\nThis session could not be told: log out and in, then start Codex Desktop.\n";

/** Which of its models a harness has is seen when it runs; whose it is can be said now. */
function demandModel(model: string | null): void {
  if (model === null || harnesses.some(({ id, isReplayOnly }) => isReplayOnly !== true && model.startsWith(`${id}/`))) return;
  throw new UsageError(`there is no model \`${model}\`; foldcast models lists those of ours`);
}

function report({ files, kept, trouble }: Outcome, did: string): string {
  const lines = [...files.map((path) => `${did.padEnd(8)} ${path}`), ...kept.map((path) => `left     ${path}: it was changed since`), ...trouble.map((each) => `note     ${each.replaceAll("\n", "\n         ")}`)];
  return lines.map((line) => `${line}\n`).join("");
}

function describe({ enabled, door, model, codex, variable, session, files }: Awaited<ReturnType<typeof status>>): string {
  if (!enabled || variable === null) return "Codex Desktop is not set up for foldcast; foldcast desktop enable does it.\n";
  const active = session === variable.value ? "in this session, too" : session === null ? "not in this session; from the next login on" : `this session has ${session}`;
  return [
    `door     ${door ?? ""}${model === null ? "" : `, default model ${model}`}`,
    `set      ${variable.name}=${variable.value}`, `         ${active}`,
    ...files.map(({ path, state }) => `${state.padEnd(8)} ${path}`),
    `codex    ${codex ?? "none: foldcast answers alone"}`,
  ].map((line) => `${line}\n`).join("");
}
