import { statSync } from "node:fs";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../log/logger.ts";

/** A folder to look for sessions in. */
export interface SessionFolder {
  folder: string;
  /** How many levels of folders below it are looked at. */
  depth: number;
  /** The harness whose files these are; null = every adapter is asked. */
  harness: string | null;
}

/** A file that may hold a session, as it is now. */
export interface SessionFile {
  file: string;
  harness: string | null;
  size: number;
  mtimeMs: number;
  /** Changes with its rights, too: what could not be read may be readable then. */
  ctimeMs: number;
}

/** What is in a folder. */
interface Listing {
  files: readonly string[];
  folders: readonly string[];
  /** When the names in it, or its rights, were changed. */
  changedMs: number;
  /** That was so far back when it was listed that a change since would show in it. */
  settled: boolean;
}

/** A folder can be anything: so many names are looked at and no more. */
const MAX_NAMES = 200_000;
/** Looking at files here is quicker than handing each to a thread of the pool; others get their turn in between. */
const SLICE_MS = 8;
/** Some file systems tell times in steps of two seconds. */
const SETTLED_MS = 3_000;

/** Looks for files in folders, again and again: what has not changed costs next to nothing. */
export class SessionFiles {
  readonly #log: Logger;
  #listings: ReadonlyMap<string, Listing> = new Map();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** All files in the folders, in no particular order; none comes twice. A folder that is not there has none. */
  async find(folders: readonly SessionFolder[]): Promise<SessionFile[]> {
    const listings = new Map<string, Listing>();
    const seen = new Set<string>();
    const files: SessionFile[] = [];
    let sliceEnds = performance.now() + SLICE_MS;
    for (const { folder, depth, harness } of folders) {
      for (const listing of await this.#listingsOf(folder, depth, listings)) {
        for (const file of listing.files) {
          if (seen.has(file) || seen.size >= MAX_NAMES) continue;
          seen.add(file);
          const found = statFile(file);
          if (found !== null) files.push({ file, harness, size: found.size, mtimeMs: found.mtimeMs, ctimeMs: found.ctimeMs });
          if (performance.now() < sliceEnds) continue;
          await new Promise((resolve) => setImmediate(resolve));
          sliceEnds = performance.now() + SLICE_MS;
        }
      }
    }
    if (seen.size >= MAX_NAMES) this.#log.warn("too many files in the folders of saved sessions; the rest is left out", { limit: MAX_NAMES });
    this.#listings = listings;
    return files;
  }

  async #listingsOf(root: string, depth: number, all: Map<string, Listing>): Promise<Listing[]> {
    const listings: Listing[] = [];
    let level: readonly string[] = [root];
    for (let at = 0; at <= depth && level.length > 0 && all.size < MAX_NAMES; at += 1) {
      const below: string[] = [];
      for (const folder of level) {
        const listing = await this.#list(folder);
        all.set(folder, listing);
        listings.push(listing);
        below.push(...listing.folders);
      }
      level = below;
    }
    return listings;
  }

  async #list(folder: string): Promise<Listing> {
    const changedMs = folderTime(folder);
    const known = this.#listings.get(folder);
    if (known?.settled === true && known.changedMs === changedMs) return known;
    const files: string[] = [];
    const folders: string[] = [];
    const settled = Date.now() - changedMs > SETTLED_MS;
    for (const entry of await this.#entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() || entry.isSymbolicLink()) files.push(path);
    }
    return { files, folders, changedMs, settled };
  }

  async #entriesOf(folder: string): Promise<readonly Dirent[]> {
    try {
      return await readdir(folder, { withFileTypes: true });
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isMissing) this.#log.warn("cannot read a folder of saved sessions", { folder, error });
      return [];
    }
  }
}

/** Null for what is gone, or no file. */
export function statFile(file: string): Pick<SessionFile, "size" | "mtimeMs" | "ctimeMs"> | null {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats : null;
  } catch {
    return null;
  }
}

/** 0 for a folder that is not there. */
function folderTime(folder: string): number {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  } catch {
    return 0;
  }
}
