import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, expect, vi } from "vitest";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { CACHE, REPO } from "./paths.ts";
import { extensionFaults, type Extensions } from "./extension-schema.ts";
import { WireSchema } from "./schema.ts";

/**
 * Every test client writes down what went over its connection, one file a connection, in `.cache/frames/<test file>`.
 * The fast tests are hermetic: they have no program to fetch, so they judge their frames at once only where an earlier
 * run left the generated schema in the cache; `npm run test:real` always has it and judges every recording of the last
 * fast run with its own. So a fault shows in the run that made it for whoever has run the real tests once.
 */
export const FRAMES_DIR = join(CACHE, "frames");

export type Direction = "c2s" | "s2c";
export interface RecordedFrame {
  dir: Direction;
  msg: unknown;
}

/** Writes one connection's frames. */
export class FrameRecorder {
  readonly file: string;
  #pending: string[] = [];

  private constructor(file: string) {
    this.file = file;
    writeFileSync(file, "");
  }

  /** A recorder for the test file that runs now; `label` names the connection in the file's name. */
  static forTest(label: string): FrameRecorder {
    const dir = folderOfThisTest();
    const recorder = new FrameRecorder(join(dir, `${String(readdirSync(dir).length).padStart(4, "0")}-${label.replace(/\W+/g, "-")}.jsonl`));
    open.add(recorder);
    return recorder;
  }

  record(dir: Direction, msg: unknown): void {
    this.#pending.push(JSON.stringify({ dir, msg }));
    if (this.#pending.length >= 1000) this.flush();
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    appendFileSync(this.file, `${this.#pending.join("\n")}\n`);
    this.#pending = [];
  }
}

const open = new Set<FrameRecorder>();
let prepared: string | undefined;

/** Emptied when a test file starts, so that no frame of an earlier run is judged. */
function folderOfThisTest(): string {
  const dir = join(FRAMES_DIR, relative(REPO, expect.getState().testPath ?? "no-test").replaceAll("/", "__"));
  if (prepared !== dir) {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
    prepared = dir;
  }
  return dir;
}

/** The recordings of all test files that still exist. */
export function recordings(): string[] {
  if (!existsSync(FRAMES_DIR)) return [];
  return readdirSync(FRAMES_DIR)
    .filter((folder) => existsSync(join(REPO, folder.replaceAll("__", "/"))))
    .flatMap((folder) => readdirSync(join(FRAMES_DIR, folder)).map((file) => join(FRAMES_DIR, folder, file)));
}

export function readRecording(file: string): RecordedFrame[] {
  return readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedFrame);
}

export interface Judgement {
  /** Judged frames by kind and method. */
  counts: Map<string, number>;
  faults: string[];
}

/** Judges all that the server sent on one connection; responses by the request that they answer. */
export function judge(frames: Iterable<RecordedFrame>, schema: WireSchema, into: Judgement = { counts: new Map(), faults: [] }): Judgement {
  const asked = new Map<unknown, string>();
  let extensions: Extensions = { detail: false, interaction: false };
  const check = (kind: "response" | "notification" | "request" | "error", method: string, msg: unknown): void => {
    const key = kind === "error" ? "error" : `${kind} ${method}`;
    into.counts.set(key, (into.counts.get(key) ?? 0) + 1);
    const { faults, rest } = extensionFaults(kind, method, msg, extensions);
    if (rest !== null) faults.push(...schema.faults(kind, method, rest, extensions.detail));
    for (const fault of faults) into.faults.push(`${fault}\n    in ${JSON.stringify(msg).slice(0, 400)}`);
  };
  for (const { dir, msg } of frames) {
    if (!isJsonObject(msg)) {
      if (dir === "s2c") into.faults.push(`not an object: ${JSON.stringify(msg)}`);
      continue;
    }
    const method = typeof msg["method"] === "string" ? msg["method"] : undefined;
    if (dir === "c2s") {
      if (method !== undefined && "id" in msg) asked.set(msg["id"], method);
      if (method === "initialize") extensions = extensionsOf(msg["params"]);
      continue;
    }
    if (method !== undefined) check("id" in msg ? "request" : "notification", method, msg);
    else if ("error" in msg) check("error", "", msg);
    else check("response", asked.get(msg["id"]) ?? `to the unknown request ${JSON.stringify(msg["id"])}`, msg);
  }
  return into;
}

/**
 * To be called once at the top of a test file that has connections. Processes start slowly on a busy machine, so its
 * tests get time; when they are done, all connections are judged. The real tests fetch the schema for that, the
 * others take it where it is in the cache.
 */
export function endToEnd(): void {
  const real = /[/\\]tests[/\\]real[/\\]/.test(expect.getState().testPath ?? "");
  if (!real) vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
  afterAll(async () => {
    const schema = real ? await WireSchema.load() : WireSchema.cached();
    if (schema === null) return;
    for (const recorder of open) recorder.flush();
    const dir = folderOfThisTest();
    const judged: Judgement = { counts: new Map(), faults: [] };
    for (const file of readdirSync(dir)) judge(readRecording(join(dir, file)), schema, judged);
    expect(judged.faults.slice(0, 20)).toEqual([]);
  });
}

function extensionsOf(params: unknown): Extensions {
  const capabilities = isJsonObject(params) ? params["capabilities"] : undefined;
  const extensions = isJsonObject(capabilities) ? capabilities["extensions"] : undefined;
  const asked = isJsonObject(extensions) && isJsonObject(extensions["foldcast"]) ? extensions["foldcast"] : {};
  return { detail: asked["detail"] === true, interaction: asked["interaction"] === true };
}

/** A table of the counts for the test output. */
export function report(judgement: Judgement): string {
  const rows = [...judgement.counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([key, count]) => `${String(count).padStart(8)}  ${key}`).join("\n");
}
