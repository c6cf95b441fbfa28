import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { HarnessAdapter, HistoryPlaces } from "@foldcast/protocol-core/harness";
import type { HarnessCatalogue } from "../harness/catalogue.ts";
import type { Logger } from "../log/logger.ts";
import type { ThreadRecord } from "../store/store.ts";
import { VERSION } from "../version.ts";
import { isSession, nativeKey, peekByIndex, recogniser, recordOf, threadsAmong } from "./found-sessions.ts";
import type { Session } from "./found-sessions.ts";
import { KeptIndexes } from "./kept-indexes.ts";
import { SessionCache } from "./session-cache.ts";
import type { KnownFile } from "./session-cache.ts";
import { SessionFiles, statFile } from "./session-files.ts";
import type { SessionFile, SessionFolder } from "./session-files.ts";

/** Which saved sessions of other programs are threads here. */
export interface DiscoveryOptions {
  /** Whether the folders are looked at in which the harnesses of this machine keep their sessions. */
  enabled: boolean;
  /** Harnesses whose own folders are left out all the same: somebody else lists what is in there. */
  except: readonly string[];
  /** More folders, with sessions of any harness. */
  folders: readonly string[];
  /** So many files are looked at, the newest. */
  maxSessions: number;
  /** Milliseconds since a file was last written; older ones are left out. Null = no limit. */
  maxAgeMs: number | null;
  /** Where what was seen is kept, so that the next start need not look again; null = in memory only. */
  cacheDir: string | null;
  /** The adapters' folders are found by these. */
  env: HistoryPlaces["env"];
  home: string;
  /** Milliseconds that a list waits for a look at what has changed; what is not seen by then is there the next time. */
  patienceMs: number;
  /** The same for a first look, which may be one at thousands of files. */
  firstPatienceMs: number;
  /** A scan that takes long, now and then: files looked at and to be looked at. */
  onProgress(done: number, total: number): void;
}

export const DEFAULT_MAX_SESSIONS = 10_000;
export const NO_DISCOVERY: DiscoveryOptions = {
  enabled: false, except: [], folders: [], maxSessions: DEFAULT_MAX_SESSIONS, maxAgeMs: null, cacheDir: null, env: {}, home: "/", patienceMs: 75, firstPatienceMs: 5_000, onProgress: () => undefined,
};

/** Levels below a folder of the person's own choice. */
const MAX_DEPTH = 8;
/** Stock clients ask for several lists at a time. */
const RESCAN_MS = 250;
const PROGRESS_AFTER_MS = 1_000;
const PROGRESS_EVERY_MS = 500;
const FILES_AT_ONCE = 4;

/**
 * Sessions that harnesses saved on this machine without us, as threads. Nothing is read before somebody asks, and a
 * file again only when its size or time has changed, in this process or in one before.
 */
export class SavedSessions {
  readonly indexes: KeptIndexes;
  readonly #options: DiscoveryOptions;
  readonly #catalogue: HarnessCatalogue;
  readonly #log: Logger;
  readonly #now: () => number;
  /** Our folder of an adapter, by its id. */
  readonly #dataDirOf: (harness: string) => string;
  readonly #files: SessionFiles;
  #cache: SessionCache | null = null;
  #found: readonly SessionFile[] = [];
  /** The first look is over. */
  #seenAll = false;
  #records: readonly ThreadRecord[] = [];
  #byId: ReadonlyMap<string, Session> = new Map();
  #byNative: ReadonlyMap<string, ThreadRecord> = new Map();
  #scannedAt = -Infinity;
  #scan: Promise<void> | null = null;

  constructor(options: { discovery: DiscoveryOptions; catalogue: HarnessCatalogue; dataDirOf: (harness: string) => string; log: Logger; now: () => number }) {
    const { cacheDir } = options.discovery;
    this.#options = options.discovery;
    this.#catalogue = options.catalogue;
    this.#dataDirOf = options.dataDirOf;
    this.#log = options.log;
    this.#now = options.now;
    this.#files = new SessionFiles(options.log);
    this.indexes = new KeptIndexes(cacheDir === null ? null : join(cacheDir, "history"), options.log);
  }

  /** All that are threads, newest file first. While a first scan takes long: those that it has seen. */
  async records(): Promise<readonly ThreadRecord[]> {
    if (!this.#options.enabled && this.#options.folders.length === 0) return [];
    if (this.#scan === null && this.#now() - this.#scannedAt > RESCAN_MS) {
      this.#scan = this.#rescan().catch((error: unknown) => this.#log.error("looking for saved sessions failed", { error })).finally(() => {
        this.#scan = null;
        this.#scannedAt = this.#now();
      });
    }
    if (this.#scan !== null) await patiently(this.#scan, this.#seenAll ? this.#options.patienceMs : this.#options.firstPatienceMs);
    return this.#records;
  }

  /** One of them by its thread's id; without a scan where it was seen before and is still there. */
  async find(id: string): Promise<ThreadRecord | null> {
    const known = this.#byId.get(id);
    if (known !== undefined && isSame(known, statFile(known.file))) return recordOf(known);
    await this.records();
    const found = this.#byId.get(id);
    return found === undefined ? null : recordOf(found);
  }

  /** The session as it was last seen; nothing is looked at. */
  seen(harness: string, nativeSessionId: string): ThreadRecord | null {
    return this.#byNative.get(nativeKey(harness, nativeSessionId)) ?? null;
  }

  async #rescan(): Promise<void> {
    const adapters = new Map([...(await this.#catalogue.adapters())].filter(([, adapter]) => adapter.history !== null));
    const cache = (this.#cache ??= await this.#loadCache(adapters));
    const found = await this.#files.find(this.#foldersOf(adapters));
    const oldest = this.#options.maxAgeMs === null ? -Infinity : this.#now() - this.#options.maxAgeMs;
    if (this.#seenAll && !isNews(this.#found, found)) return;
    this.#found = found;
    dropMissing(cache, found);
    const newest = found.toSorted((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1));
    const files = newest.filter(({ mtimeMs }) => mtimeMs >= oldest).slice(0, this.#options.maxSessions);
    await this.#lookAt(files.filter((file) => !isSame(cache.files.get(file.file), file)), adapters, cache, files);
    await this.#publish(files, adapters, cache);
    this.#seenAll = true;
  }

  async #loadCache(adapters: ReadonlyMap<string, HarnessAdapter>): Promise<SessionCache> {
    const { cacheDir } = this.#options;
    const stamp = JSON.stringify({ foldcast: VERSION, harnesses: [...adapters.keys()] });
    const cache = new SessionCache(cacheDir === null ? null : join(cacheDir, "saved-sessions.jsonl"), stamp, this.#log);
    await cache.load();
    return cache;
  }

  #foldersOf(adapters: ReadonlyMap<string, HarnessAdapter>): SessionFolder[] {
    const { enabled, except, folders, env, home } = this.#options;
    const own = [...adapters].filter(([harness]) => !except.includes(harness)).flatMap(([harness, { history }]) =>
      (enabled ? (history!.roots?.({ env, home, dataDir: this.#dataDirOf(harness) }) ?? []) : []).map((root) => ({ ...root, harness })));
    return [...own, ...folders.map((folder) => ({ folder, depth: MAX_DEPTH, harness: null }))];
  }

  /** Looks at files, newest first. What was seen is published now and then while that takes long. */
  async #lookAt(changed: readonly SessionFile[], adapters: ReadonlyMap<string, HarnessAdapter>, cache: SessionCache, all: readonly SessionFile[]): Promise<void> {
    const started = performance.now();
    let reportAt = started + PROGRESS_AFTER_MS;
    let seen: KnownFile[] = [];
    // One after the other; and now and then, since a server that is stopped before the end would begin anew the next time.
    let saving = Promise.resolve();
    const save = (): void => {
      const some = seen;
      seen = [];
      saving = saving.then(() => cache.save(some));
    };
    let done = 0;
    let next = 0;
    const work = async (): Promise<void> => {
      for (let file = changed[next++]; file !== undefined; file = changed[next++]) {
        const entry = await this.#look(file, adapters);
        // What could not be read may well be readable the next time.
        if (entry === null) cache.files.delete(file.file);
        else {
          cache.files.set(file.file, entry);
          seen.push(entry);
        }
        done += 1;
        if (performance.now() < reportAt || done === changed.length) continue;
        reportAt = performance.now() + PROGRESS_EVERY_MS;
        this.#options.onProgress(done, changed.length);
        save();
        await this.#publish(all, adapters, cache);
      }
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
    if (reportAt > started + PROGRESS_AFTER_MS) this.#options.onProgress(changed.length, changed.length);
    save();
    await saving;
  }

  /** Null for a file that cannot be read. */
  async #look({ file, harness, size, mtimeMs }: SessionFile, adapters: ReadonlyMap<string, HarnessAdapter>): Promise<KnownFile | null> {
    try {
      const adapter = harness === null ? await recogniser(file, adapters) : adapters.get(harness);
      if (adapter === undefined) return { file, size, mtimeMs, harness: null, peek: null };
      const { history, manifest } = adapter;
      return { file, size, mtimeMs, harness: manifest.id, peek: await (history!.peek?.(file) ?? peekByIndex(history!, file)) };
    } catch (error) {
      this.#log.info("cannot read a saved session", { file, error });
      return null;
    }
  }

  async #publish(files: readonly SessionFile[], adapters: ReadonlyMap<string, HarnessAdapter>, cache: SessionCache): Promise<void> {
    const known = files.map(({ file }) => cache.files.get(file)).filter((each) => each !== undefined).filter(isSession);
    const threads = await threadsAmong(known, adapters, this.#log);
    const byId = new Map<string, Session>();
    const byNative = new Map<string, ThreadRecord>();
    const records: ThreadRecord[] = [];
    for (const session of threads) {
      const record = recordOf(session);
      records.push(record);
      byId.set(record.id, session);
      byNative.set(nativeKey(session.harness, session.peek.nativeSessionId), record);
    }
    // Sub-agents are in no list, and can be opened by who knows their id.
    for (const child of known.filter(({ peek }) => peek.kind === "child")) {
      const { id } = recordOf(child);
      if (!byId.has(id)) byId.set(id, child);
    }
    [this.#records, this.#byId, this.#byNative] = [records, byId, byNative];
  }
}

async function patiently(scan: Promise<void>, ms: number): Promise<void> {
  const patience = new AbortController();
  const waited = delay(ms, undefined, { ref: false, signal: patience.signal }).catch(() => undefined);
  await Promise.race([scan, waited]);
  patience.abort();
}

interface FileTime {
  size: number;
  mtimeMs: number;
}

function isSame(known: FileTime | undefined, now: FileTime | null): boolean {
  return known !== undefined && now !== null && known.size === now.size && known.mtimeMs === now.mtimeMs;
}

/** In the order of their folders: what has not changed stands where it stood. */
function isNews(before: readonly SessionFile[], now: readonly SessionFile[]): boolean {
  return before.length !== now.length || now.some((file, at) => before[at]!.file !== file.file || before[at]!.ctimeMs !== file.ctimeMs || !isSame(before[at], file));
}

/** Files that are gone are forgotten; those that only fall out of the limits are not: they need no second look. */
function dropMissing(cache: SessionCache, found: readonly SessionFile[]): void {
  const present = new Set(found.map(({ file }) => file));
  for (const file of cache.files.keys()) if (!present.has(file)) cache.files.delete(file);
}
