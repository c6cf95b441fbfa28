import { createHash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { makeFolder } from "../make-folder.ts";
import { planOf, sessionSteps } from "./plan.ts";
import type { PlanOptions, Step } from "./plan.ts";

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

/** Sets Desktop up; what an earlier time set up otherwise is undone first. The same call twice changes nothing more. */
export async function enable(options: SetupOptions): Promise<Outcome & { variable: Enabled["variable"] }> {
  const { system, dataDir, platform } = options;
  const plan = planOf(options);
  const earlier = readState(dataDir);
  const ours = new Set(earlier?.files.map(({ path }) => path));
  for (const { path, text } of plan.files) {
    if (!ours.has(path) && existsSync(path) && readFileSync(path, "utf8") !== text) throw new InTheWayError(`${path} is there already, and not from foldcast; move it away first`);
  }
  const trouble: string[] = [];
  if (earlier !== null && earlier.door !== options.door) trouble.push(...(await disable(options)).trouble);
  const { name } = plan.variable;
  const before = earlier?.door === options.door ? earlier.before : await valueOf(options, name);
  const folders = earlier?.door === options.door ? earlier.folders : [];
  for (const { path, mode, text } of plan.files) {
    folders.push(...missingFolders(dirname(path)).filter((folder) => !folders.includes(folder)));
    makeFolder(dirname(path), 0o700);
    writeFileSync(path, text, { mode });
    chmodSync(path, mode);
  }
  const state: Enabled = {
    version: 1, platform, door: options.door, model: options.model, codex: options.codex, variable: plan.variable, before: before === plan.variable.value ? null : before,
    files: plan.files.map(({ path, text }) => ({ path, sha256: hash(text) })), folders, stop: plan.stop.map(([program, ...args]) => [program, ...args]),
  };
  writeState(dataDir, state);
  for (const step of plan.start) {
    const { code, stderr } = await system.run(step);
    // One that does not run cannot be ended.
    if (code !== 0 && !step.includes("bootout")) trouble.push(`${step.join(" ")}: ${stderr.trim() || `exit code ${code}`}`);
  }
  return { files: state.files.map(({ path }) => path), kept: [], trouble, variable: plan.variable };
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
    if (!existsSync(path)) continue;
    if (hash(readFileSync(path, "utf8")) !== sha256) {
      kept.push(path);
      continue;
    }
    rmSync(path);
    files.push(path);
  }
  rmSync(stateFile(dataDir));
  for (const folder of state.folders.toReversed()) removeIfEmpty(folder, home);
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
  files: { path: string; state: "ok" | "changed" | "missing" }[];
}

export async function status(options: Pick<SetupOptions, "system" | "dataDir" | "platform">): Promise<Status> {
  const state = readState(options.dataDir);
  if (state === null) return { enabled: false, door: null, model: null, codex: null, variable: null, session: null, files: [] };
  const { door, model, codex, variable } = state;
  const files = state.files.map(({ path, sha256 }) => ({
    path, state: !existsSync(path) ? ("missing" as const) : hash(readFileSync(path, "utf8")) === sha256 ? ("ok" as const) : ("changed" as const),
  }));
  return { enabled: true, door, model, codex, variable, session: await valueOf(options, variable.name), files };
}

async function valueOf({ system, platform }: Pick<SetupOptions, "system" | "platform">, name: string): Promise<string | null> {
  const { code, stdout } = await system.run(sessionSteps(platform, name).read);
  if (code !== 0) return null;
  if (platform === "darwin") return stdout.trim() === "" ? null : stdout.replace(/\n$/, "");
  const line = stdout.split("\n").find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  // systemctl shows what a shell would need to be told.
  return line === undefined || line === "" ? null : line.replace(/^\$?(['"])(.*)\1$/, "$2");
}

const stateFile = (dataDir: string): string => join(dataDir, "desktop", "enabled.json");
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

function writeState(dataDir: string, state: Enabled): void {
  const file = stateFile(dataDir);
  const folder = dirname(file);
  state.folders.push(...missingFolders(folder).filter((each) => !state.folders.includes(each)));
  makeFolder(folder, 0o700);
  writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

/** Outermost first. */
function missingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let at = path; !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

function removeIfEmpty(folder: string, home: string): void {
  if (folder === home) return;
  try {
    rmdirSync(folder);
  } catch {
    // Somebody has put something there since.
  }
}
