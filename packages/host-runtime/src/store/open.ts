import { chmodSync, closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { MemoryInteractionStore, SqliteInteractionStore, type InteractionStore } from "./interactions.ts";
import { StoreLock, type Announcement } from "./lock.ts";
import { MemoryThreadStore } from "./memory.ts";
import { SqliteThreadStore } from "./sqlite.ts";
import { loadSqlDriver, type SqlDriver } from "./sqlite-driver.ts";
import type { ThreadStore } from "./store.ts";

export interface OpenedStore {
  store: ThreadStore;
  interactions: InteractionStore;
  /** Why threads are kept in memory only; null when they are kept on disk. */
  memoryReason: string | null;
  /** Tells others where the owner listens. */
  readonly announce: (news: Announcement) => void;
  readonly close: () => void;
}

/**
 * Opens the store in a folder (made with mode 0700, its files 0600) and takes its lock. Without any SQLite the threads
 * live in memory. Throws `StoreLockedError`, or a readable error when the folder cannot be used.
 */
export function openStore(directory: string, driver: SqlDriver | null = loadSqlDriver()): OpenedStore {
  try {
    makeFolder(directory, 0o700);
  } catch (error) {
    throw new Error(`cannot use the data folder ${directory}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (driver === null) return memoryStore("no SQLite: install the optional module better-sqlite3, or use Node 22.13 or newer");
  makePrivate(join(directory, "owner.lock"));
  const lock = StoreLock.take(driver, directory);
  try {
    const file = join(directory, "threads.sqlite");
    makePrivate(file);
    const database = driver(file);
    const store = new SqliteThreadStore(database);
    return {
      store,
      interactions: new SqliteInteractionStore(database),
      memoryReason: null,
      announce: (news) => lock.announce(news),
      close: () => {
        store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** A store for this process alone; `reason` is told to a person, null where it is as it should be. */
export function memoryStore(reason: string | null): OpenedStore {
  const store = new MemoryThreadStore();
  return { store, interactions: new MemoryInteractionStore(), memoryReason: reason, announce: () => undefined, close: () => store.close() };
}

/** Before SQLite opens it: the files that SQLite makes beside it take over its mode. */
function makePrivate(file: string): void {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
}
