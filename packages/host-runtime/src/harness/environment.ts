import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AbortSignalLike, HarnessEnvironment } from "@foldcast/protocol-core/harness";
import type { ToolMap } from "@foldcast/protocol-core/tools";
import type { Logger } from "../log/logger.ts";
import { uuidv7 } from "../threads/uuid7.ts";

/** What the machine offers to one adapter. `dataDir` is a folder of its own, not yet made. */
export function harnessEnvironment(id: string, options: { dataDir: string; log: Logger; toolMaps: Readonly<Record<string, ToolMap>> }): HarnessEnvironment {
  return {
    now: () => Date.now(),
    newId: () => uuidv7(Date.now()),
    sleep,
    log: (level, message, fields) => options.log[level](message, { harness: id, ...fields }),
    dataDir: harnessDataDir(options.dataDir, id),
    toolMaps: options.toolMaps,
  };
}

/** The folder of an adapter's own files in the host's. */
export function harnessDataDir(dataDir: string, id: string): string {
  return join(dataDir, "harness", id);
}

async function sleep(ms: number, signal?: AbortSignalLike): Promise<void> {
  if (signal === undefined) return delay(ms);
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await delay(ms, undefined, { signal: abort.signal });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
