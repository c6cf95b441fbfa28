import { createHash } from "node:crypto";
import { chmodSync, existsSync, lstatSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { makeFolder } from "../make-folder.ts";
import { planOf, sessionSteps } from "./plan.ts";
import type { Plan, PlanOptions, Step } from "./plan.ts";

/** What the system gives: programs that set the environment of a session, and start services. */
export interface System {
  /** Never rejects; a program that cannot be started has the code -1. */
  run(step: Step): Promise<{ code: number; stdout: string; stderr: string }>;
}

const stepSchema = z.tuple([z.string()], z.string());
const Enabled = z.object({
  version: z.literal(1),
  platform: z.enum(["darwin", "linux"]),
  door: z.enum(["cli", "websocket"]),
  model: z.string().nullable(),
  codex: z.string().nullable(),
  variable: z.object({ name: z.string(), value: z.string() }),
  /** What the session had under that name before; null = nothing. */
  before: z.string().nullable(),
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
  /** Made for them, outermost first. */
  folders: z.array(z.string()),
  stop: z.array(stepSchema),
});
/** What was done, so that exactly that is undone. */
type Enabled = z.infer<typeof Enabled>;

/** Something in the way that is not ours; nothing was changed. */
export class InTheWayError extends Error {}

export interface SetupOptions extends PlanOptions {
  system: System;
}

export interface Outcome {
  /** Files written, or removed. */
  files: string[];
  /** Files left where they are: somebody changed them. */
  kept: string[];
  /** What the running session could not be told; it counts from the next login on. */
  trouble: string[];
}

/**
 * Sets Desktop up; what an earlier time set up elsewhere is undone first. The same call twice changes nothing more. Throws
 * an `InTheWayError` where something is in the way; nothing is written then.
 */
export async function enable(options: SetupOptions): Promise<Outcome & { variable: Enabled["variable"] }> {
  const { system, dataDir, platform } = options;
  const plan = planOf(options);
  const before = readState(dataDir);
  demandRoom(plan, before);
  const isSamePlace = before !== null && before.door === options.door && before.files.every(({ path }) => plan.files.some((file) => file.path === path));
  const undone = before === null || isSamePlace ? null : await disable(options);
  const earlier = isSamePlace ? before : null;
  const held = earlier === null ? await valueOf(options, plan.variable.name) : earlier.before;
  const state: Enabled = {
    version: 1, platform, door: options.door, model: options.model, codex: options.codex, variable: plan.variable, before: held === plan.variable.value ? null : held,
    files: plan.files.map(({ path, text }) => ({ path, sha256: hash(text) })), folders: [...(earlier?.folders ?? [])], stop: plan.stop.map(([program, ...args]) => [program, ...args]),
  };
  write(plan, state, dataDir);
  const trouble = undone?.trouble ?? [];
  for (const step of plan.start) {
    const { code, stderr } = await system.run(step);
    // One that does not run cannot be ended.
    if (code !== 0 && !step.includes("bootout")) trouble.push(`${step.join(" ")}: ${stderr.trim() || `exit code ${code}`}`);
  }
  return { files: state.files.map(({ path }) => path), kept: undone?.kept ?? [], trouble, variable: plan.variable };
}

/** Throws when one of the files would take the place of what is not ours, or not as we left it. */
function demandRoom({ files }: Plan, earlier: Enabled | null): void {
  for (const { path, text } of files) {
    const there = contentOf(path);
    if (there === null || there === text) continue;
    const left = earlier?.files.find((file) => file.path === path)?.sha256;
    if (left === undefined) throw new InTheWayError(`${path} is there already, and not from foldcast; move it away first`);
    if (there === UNREADABLE || hash(there) !== left) throw new InTheWayError(`${path} was changed since foldcast wrote it; move it away first`);
  }
}

/** Writes all of it, or nothing. Notes in `state` which folders were made. */
function write({ files }: Plan, state: Enabled, dataDir: string): void {
  const old = files.map(({ path }) => contentOf(path));
  const made: string[] = [];
  const folderOf = (path: string): void => {
    const missing = missingFolders(dirname(path));
    made.push(...missing);
    state.folders.push(...missing.filter((folder) => !state.folders.includes(folder)));
    makeFolder(dirname(path), 0o700);
  };
  try {
    for (const { path, mode, text } of files) {
      folderOf(path);
      writeFileSync(path, text, { mode });
      chmodSync(path, mode);
    }
    folderOf(stateFile(dataDir));
    writeFileSync(stateFile(dataDir), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    files.forEach(({ path }, at) => {
      const was = old[at] ?? null;
      if (was === null && isThere(path)) rmSync(path);
      else if (was !== null && was !== UNREADABLE) writeFileSync(path, was);
    });
    for (const folder of made.toReversed()) removeIfEmpty(folder);
    throw new InTheWayError(`nothing was set up: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Undoes what `enable` did, and nothing else. Files that somebody changed stay. */
export async function disable({ system, dataDir, platform, home }: Pick<SetupOptions, "system" | "dataDir" | "platform" | "home">): Promise<Outcome> {
  const state = readState(dataDir);
  if (state === null) return { files: [], kept: [], trouble: [] };
  const trouble: string[] = [];
  const { name, value } = state.variable;
  const session = sessionSteps(platform, name);
  const isStill = (await valueOf({ system, platform }, name)) === value;
  const back = !isStill ? [] : [state.before === null ? session.unset : session.set(state.before)];
  for (const step of [...state.stop, ...back]) {
    const { code, stderr } = await system.run(step);
    if (code !== 0) trouble.push(`${step.join(" ")}: ${stderr.trim() || `exit code ${code}`}`);
  }
  const [files, kept]: [string[], string[]] = [[], []];
  for (const { path, sha256 } of state.files) {
    const now = stateOf(path, sha256);
    if (now === "changed") kept.push(path);
    if (now !== "ok") continue;
    rmSync(path);
    files.push(path);
  }
  rmSync(stateFile(dataDir));
  for (const folder of state.folders.toReversed()) if (folder !== home) removeIfEmpty(folder);
  return { files, kept, trouble };
}

export interface Status {
  enabled: boolean;
  door: Enabled["door"] | null;
  model: string | null;
  /** The real program that was found, or named, then. */
  codex: string | null;
  variable: Enabled["variable"] | null;
  /** What programs of this session see under that name; null = nothing. */
  session: string | null;
  files: { path: string; state: FileState }[];
}
type FileState = "ok" | "changed" | "missing";

export async function status(options: Pick<SetupOptions, "system" | "dataDir" | "platform">): Promise<Status> {
  const state = readState(options.dataDir);
  if (state === null) return { enabled: false, door: null, model: null, codex: null, variable: null, session: null, files: [] };
  const { door, model, codex, variable } = state;
  const files = state.files.map(({ path, sha256 }) => ({ path, state: stateOf(path, sha256) }));
  return { enabled: true, door, model, codex, variable, session: await valueOf(options, variable.name), files };
}

async function valueOf({ system, platform }: Pick<SetupOptions, "system" | "platform">, name: string): Promise<string | null> {
  const { code, stdout } = await system.run(sessionSteps(platform, name).read);
  if (code !== 0) return null;
  if (platform === "darwin") return stdout.trim() === "" ? null : stdout.replace(/\n$/, "");
  const line = stdout.split("\n").find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  if (line === undefined || line === "") return null;
  // systemctl shows what a shell would need to be told, in its own quotes.
  const quoted = /^\$?(['"])(.*)\1$/.exec(line)?.[2];
  return quoted === undefined ? line : quoted.replace(/\\(.)/g, "$1");
}

const stateFile = (dataDir: string): string => join(dataDir, "desktop", "enabled.json");

/** What stands at a path and is no file with a text: a folder, or a link to nowhere. */
const UNREADABLE = Symbol("no file that can be read");

/** Null = nothing is there. */
function contentOf(path: string): string | null | typeof UNREADABLE {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return isThere(path) ? UNREADABLE : null;
  }
}

/** Also for a link to nowhere. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function stateOf(path: string, sha256: string): FileState {
  const there = contentOf(path);
  return there === null ? "missing" : there !== UNREADABLE && hash(there) === sha256 ? "ok" : "changed";
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

function readState(dataDir: string): Enabled | null {
  if (!existsSync(stateFile(dataDir))) return null;
  const parsed = Enabled.safeParse(jsonOf(readFileSync(stateFile(dataDir), "utf8")));
  if (!parsed.success) throw new InTheWayError(`${stateFile(dataDir)} is not readable for this foldcast; the one that wrote it can undo it`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Outermost first. */
function missingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let at = path; !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody has put something there since.
  }
}
