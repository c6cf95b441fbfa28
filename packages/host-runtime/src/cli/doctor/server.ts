import { createServer } from "node:net";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isLoopback } from "../../rpc/listen.ts";
import { peekOwner } from "../../store/lock.ts";
import type { StoreOwner } from "../../store/lock.ts";
import { loadSqlDriver } from "../../store/sqlite-driver.ts";
import type { SqlDriver } from "../../store/sqlite-driver.ts";
import { fault, ok, warning } from "./check.ts";
import type { Check, Finding } from "./check.ts";

const PROBE_MS = 2_000;

/** Whether the store can be opened, and who has it. Takes and changes nothing. */
export function storeCheck(folder: string, driver: SqlDriver | null = loadSqlDriver()): Check {
  return {
    id: "store",
    async run(): Promise<Finding> {
      if (driver === null) return warning("no SQLite: threads are forgotten when a server ends", "npm install better-sqlite3 (with -g where foldcast was installed so), or use Node 22.13 or newer");
      const lock = peekOwner(driver, folder);
      if (lock.held) return await describeOwner(folder, lock.owner);
      const file = join(folder, "threads.sqlite");
      if (!existsSync(file)) return ok("no threads yet");
      const database = driver(file);
      try {
        const [row] = database.prepare("PRAGMA quick_check(1)").all() as Record<string, unknown>[];
        const verdict = String(Object.values(row ?? {})[0]);
        if (verdict !== "ok") return damaged(file, verdict);
        const count = Number(Object.values(database.prepare("SELECT count(*) FROM threads").get() as Record<string, unknown>)[0]);
        return ok(`${count} thread${count === 1 ? "" : "s"} of its own; sessions that the agents saved are listed from their own files`);
      } catch (error) {
        return damaged(file, error instanceof Error ? error.message : String(error));
      } finally {
        database.close();
      }
    },
  };
}

function damaged(file: string, why: string): Finding {
  return fault(`${file} cannot be read: ${why}`, "move it away: the agents' own sessions are not in it, only the list of threads, their names and how turns ended");
}

async function describeOwner(folder: string, owner: StoreOwner | null): Promise<Finding> {
  const who = owner === null ? "another foldcast" : `process ${owner.pid}`;
  const stop = owner === null ? "stop it" : `stop it (kill ${owner.pid})`;
  if (owner?.url == null) return warning(`${who} has ${folder}, and does not say where it listens`, `a chat in progress is one such; otherwise ${stop}, or use another folder with --data-dir`);
  if (await answers(owner.url)) return ok(`${who} serves it on ${owner.url}`);
  return warning(`${who} has ${folder} and does not answer on ${owner.url}`, `${stop}, or use another folder with --data-dir`);
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url.replace(/^ws/, "http") + "/readyz", { signal: AbortSignal.timeout(PROBE_MS) })).ok;
  } catch {
    return false;
  }
}

/** Whether `serve` could listen where it is told to. */
export function portCheck({ host, port, hasToken, ownerUrl }: { host: string; port: number; hasToken: boolean; ownerUrl: string | null }): Check {
  return {
    id: "port",
    async run(): Promise<Finding> {
      if (!isLoopback(host) && !hasToken) return fault(`${host} can be reached from other machines, and no token is asked`, "give --ws-auth capability-token --ws-token-file FILE, or listen on 127.0.0.1");
      if (port === 0) return ok(`any free one on ${host}`);
      if (ownerUrl !== null && ownerUrl.endsWith(`:${port}`)) return ok(`foldcast serves on ${ownerUrl}`);
      const code = await tryPort(host, port);
      if (code === null) return ok(`${host}:${port} is free`);
      if (code === "EADDRINUSE") return warning(`${host}:${port} is in use by another program`, "choose another one with --port N (port = N in the configuration), or --port 0 for any free one");
      if (code === "EACCES") return fault(`${host}:${port} may not be used by you`, "choose a port above 1023");
      return fault(`cannot listen on ${host}:${port}: ${code}`, "choose another --host; 127.0.0.1 is this machine alone");
    },
  };
}

function tryPort(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: host.replace(/^\[|\]$/g, ""), port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
