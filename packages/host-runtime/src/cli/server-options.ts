import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { LogLevel } from "../log/logger.ts";
import type { NativeProgram } from "../native/upstream.ts";
import type { ConfigFile } from "./options/config-file.ts";
import { pathFrom } from "./options/kinds.ts";
import type { Values } from "./options/option.ts";
import type { SERVER_OPTIONS } from "./table/options.ts";
import { UsageError } from "./usage-error.ts";

/** What a server is started with, whatever its transport. */
export interface ServerOptions {
  dataDir: string;
  harnesses: readonly string[] | null;
  /** For every adapter; before the table of one in the configuration file. */
  harnessSettings: Readonly<Record<string, unknown>>;
  /** The tables `[harness.<id>]` of the configuration file. */
  settingsByHarness: ConfigFile["harness"];
  sessionFolders: readonly string[];
  /** Which of the sessions that harnesses saved on this machine are threads. */
  discovery: { enabled: boolean; maxSessions: number; maxAgeMs: number | null; firstPatienceMs?: number };
  dialect: "auto" | "default" | "desktop";
  /** The real Codex behind the server, looked for by whoever starts one; null or absent = none. */
  native?: NativeProgram | null;
  /** Milliseconds until an approval or a question that nobody answers is denied. */
  interactionExpiryMs: number;
  /** Milliseconds after which a harness session that is not used is let go; null = never. */
  idleSessionMs: number | null;
  parallelStarts: number;
  logLevel: LogLevel;
  logFile: string | null;
  /** The bearer token that clients must show; null = none. */
  token: string | null;
}

export function serverOptions(values: Values<typeof SERVER_OPTIONS>, file: ConfigFile | null, env: NodeJS.ProcessEnv): ServerOptions {
  const harnesses = values.harness.flatMap((each) => each.split(","));
  return {
    dataDir: values["data-dir"] ?? defaultDataDir(env),
    harnesses: harnesses.length === 0 ? null : harnesses,
    harnessSettings: {
      ...(values.scenario === null ? {} : { scenarios: values.scenario }),
      ...(values["scenario-speed"] === null ? {} : { speed: values["scenario-speed"] }),
      ...(values["scenario-process"] ? { process: true } : {}),
    },
    settingsByHarness: Object.fromEntries(Object.entries(file?.harness ?? {}).map(([id, table]) => [id, atHome(table)])),
    sessionFolders: values.sessions.map(existingFolder),
    discovery: {
      enabled: values.discover === "on",
      maxSessions: values["max-sessions"],
      maxAgeMs: values["max-session-age-days"] === 0 ? null : values["max-session-age-days"] * 86_400_000,
    },
    dialect: values.dialect,
    interactionExpiryMs: values["interaction-expiry-ms"],
    idleSessionMs: values["idle-session-ms"] === 0 ? null : values["idle-session-ms"],
    parallelStarts: values["parallel-starts"],
    logLevel: values["log-level"],
    logFile: values["log-file"],
    token: tokenOf(values["ws-auth"], values["ws-token-file"]),
  };
}

/** What a harness's settings mean is its own business; only the home folder is the same for all. */
function atHome(table: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, typeof value === "string" && value.startsWith("~/") ? pathFrom(value, "/") : value]));
}

/** Wherever it was named. */
export const SESSIONS_ADVICE = "correct --sessions (FOLDCAST_SESSIONS, `sessions` in the configuration file)";

function existingFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw new UsageError(`there is no folder ${folder}; ${SESSIONS_ADVICE}`);
  return folder;
}

function tokenOf(mode: string | null, file: string | null): string | null {
  if (file === null && mode !== null) throw new UsageError("--ws-auth capability-token needs --ws-token-file FILE");
  return file === null ? null : readToken(file);
}

/** The token in a file, without the white space around it. Only a server can have a new one made: a client wants that of its server. */
export function readToken(file: string, whose: "own" | "server's" = "own"): string {
  const advice = (verb: string): string => (whose === "own" ? `to ${verb} it: (umask 077; openssl rand -hex 32 > ${file})` : "the one that the server was started with is wanted, as its --ws-token-file");
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw new UsageError(`there is no token file ${file}; ${advice("make")}`);
    throw new UsageError(`cannot read the token file: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (token === "") throw new UsageError(`the token file ${file} is empty; ${advice("fill")}`);
  return token;
}

/** Where the processes of a person agree on who talks for which app of a chat platform, whatever their data folders. */
export function appLocks(env: NodeJS.ProcessEnv): string {
  return join(defaultDataDir(env), "feishu-apps");
}

/** Where this system keeps the data of programs. */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  const home = env["HOME"] ?? homedir();
  if (process.platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "foldcast");
  if (process.platform === "darwin") return join(home, "Library", "Application Support", "foldcast");
  return join(env["XDG_DATA_HOME"] ?? join(home, ".local", "share"), "foldcast");
}
