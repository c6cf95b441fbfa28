import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { HarnessAdapter, HistoryIndex, HistorySource } from "@foldcast/protocol-core/harness";
import type { ToolMap } from "@foldcast/protocol-core/tools";
import { harnessEnvironment } from "../harness/environment.ts";
import type { HarnessEntry } from "../harness/catalogue.ts";
import { silentLogger } from "../log/logger.ts";
import { threadIdFor, turnIdFor } from "../threads/ids.ts";
import { projectorOptions } from "../threads/projector-options.ts";
import { findFiles, readHead } from "./find-files.ts";
import { projectTurn } from "./project-turn.ts";
import type { DiagnosticRow, ErrorRow, ReplayRow, TotalRow } from "./rows.ts";

export interface ReplayOptions {
  path: string;
  /** Reads every file as a session of this harness. */
  harness: string | null;
  withItems: boolean;
  entries: readonly HarnessEntry[];
  /** Maps of harnesses without an adapter, for recordings made with their tools. */
  extraToolMaps: Readonly<Record<string, ToolMap>>;
  /** Called after each file of a folder. */
  onProgress?: (done: number, of: number) => void;
}

interface Reader {
  id: string;
  source: HistorySource;
}

/**
 * Replays saved sessions: finds them, projects their turns one at a time and says how each folds. Rows come file by
 * file in the order of names, the total last; at no time is more than one turn held. Rejects only for a path or harness
 * that does not exist; what is wrong with a file is a row.
 */
export async function* replay(options: ReplayOptions): AsyncGenerator<ReplayRow, TotalRow> {
  const { folder, files, closed } = await findFiles(options.path);
  const { readers, toolMaps } = await loadReaders(options);
  const total: TotalRow = { type: "total", files: 0, unreadable: 0, turns: 0, folded: 0, open: {} };
  for (const [done, file] of files.entries()) {
    const found = await readerOf(file, readers, options.harness !== null, folder);
    if (found !== null) {
      total.files++;
      for await (const row of "type" in found ? [found] : replayFile(file, found, toolMaps, options.withItems)) {
        count(row, total);
        yield row;
      }
    }
    options.onProgress?.(done + 1, files.length);
  }
  for (const [path, error] of closed) {
    total.files++;
    const row = unreadable(path, error);
    count(row, total);
    yield row;
  }
  yield total;
  return total;
}

function count(row: ReplayRow, total: TotalRow): void {
  if (row.type === "error") total.unreadable++;
  if (row.type !== "turn") return;
  total.turns++;
  if (row.fold.folds) total.folded++;
  else if (row.fold.reason !== null) total.open[row.fold.reason] = (total.open[row.fold.reason] ?? 0) + 1;
}

/** Null for files of a folder that nobody would take for a session, such as notes beside them. */
async function readerOf(file: string, readers: readonly Reader[], forced: boolean, inFolder: boolean): Promise<Reader | ErrorRow | null> {
  const mayBe = !inFolder || file.endsWith(".jsonl");
  if (forced) return mayBe ? readers[0]! : null;
  try {
    const head = await readHead(file);
    const reader = readers.find(({ source }) => source.recognises(file, head));
    if (reader !== undefined) return reader;
    if (!mayBe) return null;
    return { type: "error", file, code: "notASession", message: `${basename(file)} is not a saved session of ${readers.map(({ id }) => id).join(", ")}` };
  } catch (error) {
    return unreadable(file, error);
  }
}

async function* replayFile(
  file: string, { id, source }: Reader, toolMaps: Readonly<Record<string, ToolMap>>, withItems: boolean,
): AsyncGenerator<ReplayRow> {
  let index: HistoryIndex | null = null;
  try {
    index = await source.open(file);
    const { nativeSessionId, cwd } = index;
    const thread = { id: threadIdFor(id, nativeSessionId), harness: id, cwd: cwd ?? "/" };
    yield { type: "session", schema: 1, file, harness: id, nativeId: nativeSessionId, threadId: thread.id, cwd };
    const common = projectorOptions(thread, toolMaps);
    const projection = new Map<string, DiagnosticRow>();
    for await (const { index: at, events } of index.read(0, index.turns.length)) {
      const turn = index.turns[at]!;
      const { row, diagnostics } = projectTurn(turn, at, events, { ...common, turnId: turnIdFor(id, nativeSessionId, turn.key) }, withItems);
      yield row;
      for (const [code, { count: by, sample }] of diagnostics) {
        const known = projection.get(code);
        if (known === undefined) projection.set(code, { type: "diagnostic", file, code, count: by, sample });
        else known.count += by;
      }
    }
    for (const { code, count: by, sample } of index.diagnostics) yield { type: "diagnostic", file, code, count: by, sample };
    yield* projection.values();
  } catch (error) {
    yield unreadable(file, error);
  } finally {
    await index?.close();
  }
}

function unreadable(file: string, error: unknown): ErrorRow {
  return { type: "error", file, code: "unreadable", message: error instanceof Error ? error.message : String(error) };
}

/** The adapters that read saved sessions. One that does not load is left out; it may not take the others with it. */
async function loadReaders(options: ReplayOptions): Promise<{ readers: Reader[]; toolMaps: Readonly<Record<string, ToolMap>> }> {
  const { entries, harness } = options;
  if (harness !== null && !entries.some((entry) => entry.id === harness)) {
    throw new Error(`there is no harness ${harness}; there are ${entries.map((entry) => entry.id).join(", ")}`);
  }
  const toolMaps: Record<string, ToolMap> = { ...options.extraToolMaps };
  const readers: Reader[] = [];
  for (const entry of entries) {
    const adapter = await load(entry, toolMaps);
    if (adapter === null) continue;
    toolMaps[entry.id] = adapter.manifest.tools;
    if (adapter.history !== null && (harness === null || harness === entry.id)) readers.push({ id: entry.id, source: adapter.history });
  }
  if (readers.length === 0) throw new Error(harness === null ? "no harness here can read saved sessions" : `${harness} cannot read saved sessions`);
  return { readers, toolMaps };
}

async function load(entry: HarnessEntry, toolMaps: Readonly<Record<string, ToolMap>>): Promise<HarnessAdapter | null> {
  try {
    const definition = await entry.load();
    return await definition.create(harnessEnvironment(entry.id, { dataDir: join(tmpdir(), "foldcast-replay"), log: silentLogger, toolMaps }), {});
  } catch {
    return null;
  }
}
