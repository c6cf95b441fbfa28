import { join } from "node:path";
import { CODEX } from "../native/program.ts";
import type { LocalDoors } from "../rpc/local-door.ts";
import { shimScript } from "./shim.ts";
import { environmentLine, plist, unitWords } from "./texts.ts";

/**
 * How Desktop gets to us. `cli`: it starts the shim in the place of its `codex`; the server lives as long as Desktop, and
 * the real Codex gets all that Desktop wants from it. `websocket`: it connects to a server that is there from login on.
 */
export type Door = "cli" | "websocket";

export interface PlanOptions {
  platform: "darwin" | "linux";
  door: Door;
  home: string;
  /** Of the person, for launchd. */
  uid: number;
  dataDir: string;
  configHome: string;
  /** Where foldcast's own sockets are; null where they can be nowhere. */
  doors: LocalDoors | null;
  foldcast: readonly string[];
  codex: string | null;
  model: string | null;
  /** Settings of ours that are not the default, by the name of their variable. */
  env: Readonly<Record<string, string>>;
  /** The search path of a server that no shell starts. */
  path: string;
}

export interface PlannedFile {
  path: string;
  mode: number;
  text: string;
}

/** A program and its arguments. */
export type Step = readonly [program: string, ...args: string[]];

/** All that is done and undone; nothing else is touched. */
export interface Plan {
  files: PlannedFile[];
  /** The variable that Desktop looks at, and its value. */
  variable: { name: string; value: string };
  /** After the files were written. A failure is told, and what was written counts from the next login on. */
  start: Step[];
  /** Before the files are removed. */
  stop: Step[];
}

const LABEL = "foldcast.desktop";
const SERVER_LABEL = "foldcast.server";
const UNIT = "foldcast.service";

export function planOf(options: PlanOptions): Plan {
  const { platform, door, dataDir, doors, model } = options;
  const shim: PlannedFile = { path: join(dataDir, "desktop", CODEX), mode: 0o700, text: shimScript(options) };
  if (door === "websocket" && doors === null) throw new Error(`the path of ${dataDir} is too long, or has characters that cannot stand in an address; choose another folder with --data-dir, or --door cli`);
  const variable = door === "cli"
    ? { name: "CODEX_CLI_PATH", value: shim.path }
    // Desktop sends every host but this machine's own through a proxy: the name has to stand there.
    : { name: "CODEX_APP_SERVER_WS_URL", value: `ws+unix://localhost${doors!.socket}:/rpc${model === null ? "" : `?model=${encodeURIComponent(model)}`}` };
  const server = door === "cli" ? null : [...options.foldcast, "app-server", "--listen", "off"];
  // The shim names the program itself.
  const env = { ...options.env, ...(options.codex === null ? {} : { FOLDCAST_CODEX_BIN: options.codex }) };
  const rest = platform === "darwin" ? onMac({ ...options, env }, variable, server) : onLinux({ ...options, env }, variable, server);
  return { ...rest, variable, files: [...(door === "cli" ? [shim] : []), ...rest.files] };
}

type PlatformPlan = Omit<Plan, "variable">;

function onMac({ home, uid, dataDir, env, path }: PlanOptions, { name, value }: Plan["variable"], server: readonly string[] | null): PlatformPlan {
  const agents = join(home, "Library", "LaunchAgents");
  const setting: PlannedFile = {
    path: join(agents, `${LABEL}.plist`), mode: 0o644,
    // What launchctl sets is forgotten at the end of the session.
    text: plist({ Label: LABEL, RunAtLoad: true, ProgramArguments: ["/bin/launchctl", "setenv", name, value] }),
  };
  const start: Step[] = [["/bin/launchctl", "setenv", name, value]];
  if (server === null) return { files: [setting], start, stop: [] };
  const service: PlannedFile = {
    path: join(agents, `${SERVER_LABEL}.plist`), mode: 0o644,
    text: plist({
      Label: SERVER_LABEL, RunAtLoad: true, KeepAlive: { SuccessfulExit: false }, ProcessType: "Interactive", ProgramArguments: server,
      EnvironmentVariables: { ...env, PATH: path }, StandardErrorPath: join(dataDir, "desktop", "server.log"),
    }),
  };
  return {
    files: [setting, service],
    // One that runs already has the settings of the last time.
    start: [...start, ["/bin/launchctl", "bootout", `gui/${uid}/${SERVER_LABEL}`], ["/bin/launchctl", "bootstrap", `gui/${uid}`, service.path]],
    stop: [["/bin/launchctl", "bootout", `gui/${uid}/${SERVER_LABEL}`]],
  };
}

function onLinux({ configHome, env, path }: PlanOptions, { name, value }: Plan["variable"], server: readonly string[] | null): PlatformPlan {
  const setting: PlannedFile = {
    path: join(configHome, "environment.d", "60-foldcast.conf"), mode: 0o644,
    text: `# Written by foldcast desktop enable, removed by foldcast desktop disable.\n${environmentLine(name, value)}`,
  };
  const start: Step[] = [["systemctl", "--user", "set-environment", `${name}=${value}`]];
  if (server === null) return { files: [setting], start, stop: [] };
  const service: PlannedFile = {
    path: join(configHome, "systemd", "user", UNIT), mode: 0o644,
    text: `# Written by foldcast desktop enable, removed by foldcast desktop disable.
[Unit]
Description=foldcast, every coding agent as Codex

[Service]
ExecStart=${unitWords(server)}
${Object.entries({ ...env, PATH: path }).map(([key, each]) => `Environment=${unitWords([`${key}=${each}`]).replaceAll("$$", "$")}\n`).join("")}Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
`,
  };
  return {
    files: [setting, service],
    start: [...start, ["systemctl", "--user", "daemon-reload"], ["systemctl", "--user", "enable", UNIT], ["systemctl", "--user", "restart", UNIT]],
    stop: [["systemctl", "--user", "disable", "--now", UNIT]],
  };
}

/** Reads, sets and takes back the variable in the running session. */
export function sessionSteps(platform: PlanOptions["platform"], name: string): { read: Step; set: (value: string) => Step; unset: Step } {
  if (platform === "darwin") {
    return { read: ["/bin/launchctl", "getenv", name], set: (value) => ["/bin/launchctl", "setenv", name, value], unset: ["/bin/launchctl", "unsetenv", name] };
  }
  const user = ["systemctl", "--user"] as const;
  return { read: [...user, "show-environment"], set: (value) => [...user, "set-environment", `${name}=${value}`], unset: [...user, "unset-environment", name] };
}
