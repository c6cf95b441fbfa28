import type { SqlDatabase } from "./sqlite-driver.ts";

/** One step a version; a step that shipped is never changed again. The version is SQLite's own `user_version`. */
const STEPS: readonly string[] = [
  `CREATE TABLE threads (
     id TEXT PRIMARY KEY, harness TEXT, native_id TEXT, record TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE UNIQUE INDEX threads_by_native ON threads (harness, native_id) WHERE native_id IS NOT NULL;
   CREATE TABLE turns (
     thread_id TEXT NOT NULL, seq INTEGER NOT NULL, turn_id TEXT NOT NULL, turn_key TEXT, fact TEXT NOT NULL,
     PRIMARY KEY (thread_id, turn_id)
   ) WITHOUT ROWID;
   CREATE INDEX turns_by_key ON turns (thread_id, turn_key);`,
  `CREATE TABLE interactions (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, kind TEXT NOT NULL,
     status TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, settled_at INTEGER
   );`,
  `CREATE TABLE queued_inputs (
     thread_id TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, queued TEXT NOT NULL, PRIMARY KEY (thread_id, id)
   ) WITHOUT ROWID;
   CREATE TABLE sections (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, section TEXT NOT NULL);`,
  `ALTER TABLE interactions ADD COLUMN turn_key TEXT;
   ALTER TABLE interactions ADD COLUMN request_id TEXT;
   ALTER TABLE interactions ADD COLUMN digest TEXT;`,
  // By the database itself, so that no way of changing a thread can leave its old session to be found again.
  `CREATE TABLE hidden_sessions (harness TEXT NOT NULL, native_id TEXT NOT NULL, PRIMARY KEY (harness, native_id)) WITHOUT ROWID;
   CREATE TRIGGER hide_deleted AFTER DELETE ON threads WHEN old.native_id IS NOT NULL AND old.harness IS NOT NULL
     BEGIN INSERT OR IGNORE INTO hidden_sessions VALUES (old.harness, old.native_id); END;
   CREATE TRIGGER hide_left AFTER UPDATE ON threads WHEN old.native_id IS NOT NULL AND old.harness IS NOT NULL AND old.native_id IS NOT new.native_id
     BEGIN INSERT OR IGNORE INTO hidden_sessions VALUES (old.harness, old.native_id); END;`,
];

export const SCHEMA_VERSION = STEPS.length;

/** Brings the database to this version, all steps in one transaction. Throws for one that a later foldcast made. */
export function migrate(database: SqlDatabase): void {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version > SCHEMA_VERSION) throw new Error(`the store was written by a later foldcast (version ${version}, this one knows ${SCHEMA_VERSION}); update foldcast`);
  if (version === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const step of STEPS.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
