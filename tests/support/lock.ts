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
          if (!ownerLives(lock)) rmSync(lock, { force: true });
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

function ownerLives(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}
