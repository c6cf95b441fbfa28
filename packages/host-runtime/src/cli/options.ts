import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { DEFAULT_EXPIRY_MS } from "../interactions/manager.ts";
import type { LogLevel } from "../log/logger.ts";
import { UsageError } from "./usage-error.ts";

/** What a server is started with, whatever its transport. */
export interface ServerOptions {
  dataDir: string;
  harnesses: readonly string[] | null;
  harnessSettings: Readonly<Record<string, unknown>>;
  sessionFolders: readonly string[];
  dialect: "auto" | "default" | "desktop";
  /** Milliseconds until an approval or a question that nobody answers is denied. */
  interactionExpiryMs: number;
  logLevel: LogLevel;
  logFile: string | null;
  /** The bearer token that clients must show; null = none. */
  token: string | null;
}

/** Where a value comes from that no flag gives: environment before file. `null` where neither has it. */
export interface Settings {
  get(name: string): string | null;
}

/** Flags that `serve` and `app-server` have in common. */
export const SERVER_FLAGS = {
  "data-dir": { type: "string" },
  harness: { type: "string", multiple: true },
  scenario: { type: "string" },
  "scenario-speed": { type: "string" },
  "scenario-process": { type: "boolean" },
  sessions: { type: "string", multiple: true },
  dialect: { type: "string" },
  "no-native": { type: "boolean" },
  "codex-bin": { type: "string" },
  "ws-auth": { type: "string" },
  "ws-token-file": { type: "string" },
  "interaction-expiry-ms": { type: "string" },
  "log-level": { type: "string" },
  "log-file": { type: "string" },
} as const satisfies ParseArgsConfig["options"];

/** Values of those flags as `parseArgs` gives them. */
export type ServerFlags = Partial<Record<keyof typeof SERVER_FLAGS, string | boolean | (string | boolean)[] | undefined>>;

/** `parseArgs`, with its complaints as wrong usage. */
export function parseFlags<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Node adds advice on positional arguments that fits no command here.
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split(". To specify")[0] ?? message);
  }
}

/** The twins of flags in the environment: `--data-dir` is `FOLDCAST_DATA_DIR`. A configuration file will come after it. */
export function environmentSettings(env: NodeJS.ProcessEnv): Settings {
  return { get: (name) => env[`FOLDCAST_${name.toUpperCase().replaceAll("-", "_")}`] ?? null };
}

export function serverOptions(flags: ServerFlags, settings: Settings, env: NodeJS.ProcessEnv): ServerOptions {
  const text = (name: keyof ServerFlags): string | null => (typeof flags[name] === "string" ? flags[name] : settings.get(name));
  const list = (name: keyof ServerFlags): string[] => {
    const given = flags[name];
    if (Array.isArray(given)) return given.map(String);
    return settings.get(name)?.split(",").map((each) => each.trim()).filter((each) => each !== "") ?? [];
  };
  const harnesses = list("harness").flatMap((each) => each.split(","));
  const scenario = text("scenario");
  return {
    dataDir: resolve(text("data-dir") ?? defaultDataDir(env)),
    harnesses: harnesses.length === 0 ? null : harnesses,
    harnessSettings: {
      ...(scenario === null ? {} : { scenarios: resolve(scenario) }),
      ...(text("scenario-speed") === null ? {} : { speed: speed(text("scenario-speed")!) }),
      ...(flags["scenario-process"] === true || isTrue(settings.get("scenario-process")) ? { process: true } : {}),
    },
    sessionFolders: list("sessions").map(existingFolder),
    dialect: oneOf("--dialect", text("dialect") ?? "auto", ["auto", "default", "desktop"]),
    interactionExpiryMs: milliseconds("--interaction-expiry-ms", text("interaction-expiry-ms") ?? String(DEFAULT_EXPIRY_MS)),
    logLevel: oneOf("--log-level", text("log-level") ?? "warn", ["debug", "info", "warn", "error"]),
    logFile: text("log-file"),
    token: readToken(text("ws-auth"), text("ws-token-file")),
  };
}

export function oneOf<const T extends string>(flag: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === given);
  if (found === undefined) throw new UsageError(`${flag} is ${allowed.join(", ")}; got \`${given}\``);
  return found;
}

/** A port number; 0 = any free one. */
export function portNumber(given: string): number {
  const port = Number(given);
  if (!/^\d+$/.test(given) || port > 65_535) throw new UsageError(`--port is a number from 0 to 65535; got \`${given}\``);
  return port;
}

function existingFolder(given: string): string {
  const folder = resolve(given);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw new UsageError(`--sessions names a folder with saved sessions; there is none at ${folder}`);
  return folder;
}

function speed(given: string): number {
  const value = Number(given);
  if (!Number.isFinite(value) || value < 0) throw new UsageError(`--scenario-speed is a number from 0 on; got \`${given}\``);
  return value;
}

/** A timer of the platform takes no more than 31 bits. */
function milliseconds(flag: string, given: string): number {
  const value = Number(given);
  if (!/^\d+$/.test(given) || value < 1 || value > 2_147_483_647) throw new UsageError(`${flag} is a whole number of milliseconds, at most 24 days; got \`${given}\``);
  return value;
}

function isTrue(value: string | null): boolean {
  return value === "1" || value === "true";
}

/** The token in a file, without the white space around it. */
export function readToken(mode: string | null, file: string | null): string | null {
  if (mode !== null && mode !== "capability-token") throw new UsageError(`--ws-auth ${mode} is not supported; use \`capability-token\``);
  if (file === null) {
    if (mode !== null) throw new UsageError("--ws-auth capability-token needs --ws-token-file FILE");
    return null;
  }
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`cannot read the token file: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (token === "") throw new UsageError(`the token file ${file} is empty`);
  return token;
}

function defaultDataDir(env: NodeJS.ProcessEnv): string {
  const home = env["HOME"] ?? homedir();
  if (process.platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "foldcast");
  if (process.platform === "darwin") return join(home, "Library", "Application Support", "foldcast");
  return join(env["XDG_DATA_HOME"] ?? join(home, ".local", "share"), "foldcast");
}
