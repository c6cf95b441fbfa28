import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HarnessAdapter, HistoryIndex } from "@foldcast/protocol-core/harness";
import type { HarnessCatalogue } from "../harness/catalogue.ts";
import type { Logger } from "../log/logger.ts";
import type { ThreadRecord } from "../store/store.ts";
import { threadIdFor } from "./ids.ts";

/** Bounds of one scan: folders of saved sessions can be anything. */
const MAX_FILES = 20_000;
const MAX_DEPTH = 8;
const HEAD_BYTES = 8192;
/** A folder is looked at again after this long at the earliest. */
const RESCAN_MS = 2_000;

interface Known {
  size: number;
  mtimeMs: number;
  /** Null for a file that no adapter reads. */
  record: ThreadRecord | null;
}

/**
 * Saved sessions in folders, found by asking every adapter whether a file is one of its own. Nothing is read before
 * somebody asks; a file is read again only when it changed.
 */
export class SavedSessions {
  readonly #folders: readonly string[];
  readonly #catalogue: HarnessCatalogue;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  #scannedAt = -Infinity;
  #scan: Promise<void> | null = null;

  constructor(options: { folders: readonly string[]; catalogue: HarnessCatalogue; log: Logger; now: () => number }) {
    this.#folders = options.folders;
    this.#catalogue = options.catalogue;
    this.#log = options.log;
    this.#now = options.now;
  }

  async records(): Promise<readonly ThreadRecord[]> {
    if (this.#folders.length === 0) return [];
    if (this.#now() - this.#scannedAt > RESCAN_MS) {
      this.#scan ??= this.#rescan().finally(() => {
        this.#scan = null;
        this.#scannedAt = this.#now();
      });
      await this.#scan;
    }
    return [...this.#known.values()].flatMap(({ record }) => (record === null ? [] : [record]));
  }

  async find(id: string): Promise<ThreadRecord | null> {
    return (await this.records()).find((record) => record.id === id) ?? null;
  }

  async #rescan(): Promise<void> {
    const adapters = [...(await this.#catalogue.adapters()).values()].filter((adapter) => adapter.history !== null);
    const files: string[] = [];
    for (const folder of this.#folders) await this.#walk(folder, 0, files);
    if (files.length === MAX_FILES) this.#log.warn("too many files in the folders of saved sessions; the rest is left out", { limit: MAX_FILES });
    const present = new Set(files);
    for (const file of this.#known.keys()) if (!present.has(file)) this.#known.delete(file);
    for (const file of files) await this.#look(file, adapters);
  }

  async #walk(folder: string, depth: number, files: string[]): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      this.#log.warn("cannot read a folder of saved sessions", { folder, error });
      return [];
    });
    for (const entry of entries) {
      if (files.length >= MAX_FILES) return;
      const path = join(folder, entry.name);
      if (entry.isFile()) files.push(path);
      else if (entry.isDirectory() && depth < MAX_DEPTH) await this.#walk(path, depth + 1, files);
    }
  }

  async #look(file: string, adapters: readonly HarnessAdapter[]): Promise<void> {
    const stats = await stat(file).catch(() => null);
    if (stats === null) return void this.#known.delete(file);
    const { size, mtimeMs, birthtimeMs } = stats;
    const known = this.#known.get(file);
    if (known?.size === size && known.mtimeMs === mtimeMs) return;
    this.#known.set(file, { size, mtimeMs, record: null });
    try {
      const head = await readHead(file);
      const adapter = adapters.find((each) => each.history!.recognises(file, head));
      if (adapter === undefined) return;
      this.#known.set(file, { size, mtimeMs, record: await this.#read(file, adapter, { birthtimeMs, mtimeMs }) });
    } catch (error) {
      this.#log.info("cannot read a saved session", { file, error });
    }
  }

  async #read(file: string, adapter: HarnessAdapter, times: { birthtimeMs: number; mtimeMs: number }): Promise<ThreadRecord | null> {
    const index = await adapter.history!.open(file);
    try {
      return index.turns.length === 0 ? null : recordOf(index, adapter.manifest.id, times);
    } finally {
      await index.close();
    }
  }
}

function recordOf(index: HistoryIndex, harness: string, times: { birthtimeMs: number; mtimeMs: number }): ThreadRecord {
  const { turns } = index;
  const started = turns.map((turn) => turn.startedAt).filter((at) => at !== null);
  const ended = turns.map((turn) => turn.completedAt ?? turn.startedAt).filter((at) => at !== null);
  const createdAt = started[0] ?? Math.floor(times.birthtimeMs);
  return {
    id: threadIdFor(harness, index.nativeSessionId),
    harness,
    nativeSessionId: index.nativeSessionId,
    file: index.file,
    model: null,
    effort: null,
    cwd: index.cwd ?? "/",
    name: index.title,
    preview: turns.find((turn) => turn.prompt !== "")?.prompt ?? "",
    archived: false,
    ephemeral: false,
    threadSource: null,
    originator: null,
    forkedFromId: null,
    section: null,
    gitInfo: null,
    createdAt,
    updatedAt: ended.at(-1) ?? Math.floor(times.mtimeMs),
    recencyAt: started.at(-1) ?? Math.floor(times.mtimeMs),
  };
}

async function readHead(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
