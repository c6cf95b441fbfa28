import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { SqlDatabase, SqlDriver } from "./sqlite-driver.ts";

const ownerSchema = z.object({ pid: z.number(), url: z.string().nullable(), socket: z.string().nullable().default(null), lines: z.string().nullable().default(null) });
/**
 * Who holds the store, as it said itself. `url` is a WebSocket for every client, `socket` a unix socket with the same for
 * this user alone, `lines` one for other instances of foldcast; each null until the owner listens there.
 */
export type StoreOwner = z.infer<typeof ownerSchema>;
/** Where an owner listens; what is left out stays as it was. */
export type Announcement = Partial<Omit<StoreOwner, "pid">>;

/** The store is in use by another process. */
export class StoreLockedError extends Error {
  /** Of the process that cannot go on because of it. */
  readonly exitCode = 4;
  readonly owner: StoreOwner | null;
  constructor(directory: string, owner: StoreOwner | null) {
    super(`the store in ${directory} is in use by another foldcast${owner === null ? "" : ` (process ${owner.pid})`}; stop it, or choose another folder with --data-dir`);
    this.name = "StoreLockedError";
    this.owner = owner;
  }
}

/**
 * One owner at a time: an open exclusive transaction on a file of its own. The operating system ends it with the
 * process, however that dies, so there is no stale lock. Beside it stands who the owner is, for others to connect to.
 */
export class StoreLock {
  readonly #database: SqlDatabase;
  readonly #ownerFile: string;
  #owner: StoreOwner = { pid: process.pid, url: null, socket: null, lines: null };

  private constructor(database: SqlDatabase, ownerFile: string) {
    this.#database = database;
    this.#ownerFile = ownerFile;
  }

  /** Throws `StoreLockedError` when another process owns the folder. */
  static take(driver: SqlDriver, directory: string): StoreLock {
    const ownerFile = join(directory, "owner.json");
    const database = driver(join(directory, "owner.lock"));
    try {
      database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    } catch (error) {
      database.close();
      if (error instanceof Error && /locked|busy/i.test(error.message)) throw new StoreLockedError(directory, readOwner(ownerFile));
      throw error;
    }
    const lock = new StoreLock(database, ownerFile);
    lock.announce({});
    return lock;
  }

  announce(news: Announcement): void {
    this.#owner = { ...this.#owner, ...news };
    // In one step: others read it at any moment.
    writeFileSync(`${this.#ownerFile}.new`, JSON.stringify(this.#owner), { mode: 0o600 });
    renameSync(`${this.#ownerFile}.new`, this.#ownerFile);
  }

  release(): void {
    rmSync(this.#ownerFile, { force: true });
    this.#database.close();
  }
}

/** Whether a process owns the folder now, and which one. Takes nothing and makes no file. */
export function peekOwner(driver: SqlDriver, directory: string): { held: boolean; owner: StoreOwner | null } {
  const file = join(directory, "owner.lock");
  if (!existsSync(file)) return { held: false, owner: null };
  const database = driver(file);
  try {
    database.exec("PRAGMA busy_timeout = 0");
    database.prepare("SELECT count(*) FROM sqlite_master").get();
    return { held: false, owner: null };
  } catch (error) {
    if (!(error instanceof Error && /locked|busy/i.test(error.message))) throw error;
    return { held: true, owner: readOwner(join(directory, "owner.json")) };
  } finally {
    database.close();
  }
}

function readOwner(file: string): StoreOwner | null {
  try {
    return ownerSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return null;
  }
}
