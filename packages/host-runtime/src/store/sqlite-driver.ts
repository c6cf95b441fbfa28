import { createRequire } from "node:module";

type SqlValue = string | number | null;

/** The part that better-sqlite3 and node:sqlite have in common, and all that the store needs. Synchronous. */
export interface SqlStatement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}
export type SqlDriver = (file: string) => SqlDatabase;

/**
 * Node's own SQLite where this Node has it, else the optional native module; null with neither. Loaded on first use, so
 * that commands without a store start without it.
 */
export function loadSqlDriver(): SqlDriver | null {
  const require = createRequire(import.meta.url);
  try {
    const { DatabaseSync } = require("node:sqlite") as { DatabaseSync: new (file: string) => SqlDatabase };
    return (file) => new DatabaseSync(file);
  } catch {
    // This Node has none: not before 22.13.
  }
  try {
    const Database = require("better-sqlite3") as new (file: string) => SqlDatabase;
    // Opened once on nothing: a module built for another Node is found out here, not in the middle of a request.
    new Database(":memory:").close();
    return (file) => new Database(file);
  } catch {
    return null;
  }
}
