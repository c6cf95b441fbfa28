import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HistoryIndex, HistorySource } from "@foldcast/protocol-core/harness";
import type { Logger } from "../log/logger.ts";

/** A smaller file is indexed anew as fast as its index is read. */
const WORTH_KEEPING_BYTES = 1024 * 1024;
const MAX_KEPT = 200;

/**
 * Indexes of long sessions, one file each beside the store, so that opening one does not read it whole again. Whether a
 * kept index still fits is for its adapter to prove. May be deleted at any time; nothing in here ever throws.
 */
export class KeptIndexes {
  readonly #folder: string | null;
  readonly #log: Logger;
  #saving: Promise<void> = Promise.resolve();

  /** `folder` null = none is kept. */
  constructor(folder: string | null, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Opens the index of a session, from the kept one as far as it goes. Rejects as the source does. */
  async open(source: HistorySource, file: string): Promise<HistoryIndex> {
    const path = this.#pathOf(file);
    const known = path === null ? undefined : await readKept(path);
    const index = await source.open(file, known);
    if (known === undefined) this.keep(index);
    return index;
  }

  /** Keeps what the index knows now, some time soon. */
  keep(index: HistoryIndex): void {
    const path = this.#pathOf(index.file);
    if (path === null || index.snapshot === undefined) return;
    this.#saving = this.#saving.then(() => this.#save(path, index)).catch((error: unknown) => {
      this.#log.info("the index of a saved session could not be kept", { file: index.file, error });
    });
  }

  /** Resolves when nothing is being written any more. */
  settled(): Promise<void> {
    return this.#saving;
  }

  async #save(path: string, index: HistoryIndex): Promise<void> {
    const { size } = await stat(index.file);
    if (size < WORTH_KEEPING_BYTES) return;
    // Whoever asked for the index gets its answer first.
    await new Promise((resolve) => setTimeout(resolve, 50).unref());
    const snapshot = index.snapshot?.();
    if (snapshot === undefined) return;
    await mkdir(this.#folder!, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, JSON.stringify(snapshot), { mode: 0o600 });
    await rename(`${path}.new`, path);
    await this.#dropOldest();
  }

  async #dropOldest(): Promise<void> {
    const names = await readdir(this.#folder!);
    if (names.length <= MAX_KEPT) return;
    const files = await Promise.all(names.map(async (name) => ({ path: join(this.#folder!, name), at: (await stat(join(this.#folder!, name))).mtimeMs })));
    for (const { path } of files.sort((a, b) => a.at - b.at).slice(0, names.length - MAX_KEPT)) await rm(path, { force: true });
  }

  #pathOf(file: string): string | null {
    return this.#folder === null ? null : join(this.#folder, `${createHash("sha256").update(file).digest("hex").slice(0, 32)}.json`);
  }
}

async function readKept(path: string): Promise<unknown> {
  try {
    const known: unknown = JSON.parse(await readFile(path, "utf8"));
    const now = new Date();
    // The least recently used one goes first.
    await utimes(path, now, now);
    return known;
  } catch {
    return undefined;
  }
}
