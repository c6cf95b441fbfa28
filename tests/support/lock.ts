import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { until } from "./wait.ts";

/**
 * Runs `work` while holding a lock file. Test files run in several processes: one does the work, the others wait up
 * to `timeoutMs`. A lock whose owner is dead is taken over.
 */
export async function withLock<T>(lock: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(lock), { recursive: true });
  const mine = `${lock}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    await until(
      `the lock ${lock}`,
      () => {
        try {
          // A link appears with its content in it: nobody ever reads a lock without an owner.
          linkSync(mine, lock);
          return true;
        } catch {
          if (isLeftBehind(lock)) rmSync(lock, { force: true });
          return undefined;
        }
      },
      { timeoutMs, everyMs: 200 },
    );
  } finally {
    rmSync(mine, { force: true });
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Whether its owner is dead. One that is gone meanwhile is not: the next owner's may stand in its place. */
function isLeftBehind(lock: string): boolean {
  let owner: number;
  try {
    owner = Number(readFileSync(lock, "utf8"));
  } catch {
    return false;
  }
  try {
    process.kill(owner, 0);
    return false;
  } catch {
    return true;
  }
}
