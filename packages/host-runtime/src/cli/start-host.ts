import { homedir } from "node:os";
import { harnesses } from "@foldcast/adapter-registry";
import type { HarnessEntry } from "@foldcast/adapter-registry";
import { toolMaps } from "@foldcast/adapter-registry/tool-maps";
import { Host } from "../host.ts";
import { InteractionManager } from "../interactions/manager.ts";
import { createLogger } from "../log/pino-logger.ts";
import type { ProcessLogger } from "../log/pino-logger.ts";
import { openStore, type OpenedStore } from "../store/open.ts";
import { keepHeapSmall } from "./heap.ts";
import { hint } from "./options/config-file.ts";
import type { ServerOptions } from "./server-options.ts";
import { UsageError } from "./usage-error.ts";

export interface RunningHost {
  host: Host;
  log: ProcessLogger;
  store: OpenedStore;
  /** Resolves once, after the first signal that asks for the end, when the running turns are over. */
  stopped: Promise<NodeJS.Signals>;
}

const END_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Beyond this the process ends with what is still open. */
const CLOSE_PATIENCE_MS = 8_000;

/**
 * Builds the host of this process from its options. Throws a `UsageError` for a harness that is not registered, and a
 * `StoreLockedError` when another process owns the store.
 */
export function startHost(options: ServerOptions, store: OpenedStore = openStore(options.dataDir), signals: readonly NodeJS.Signals[] = END_SIGNALS): RunningHost {
  keepHeapSmall();
  const stranger = unknownHarness(options.harnesses);
  if (stranger !== null) throw new UsageError(stranger);
  const log = createLogger({ level: options.logLevel, file: options.logFile });
  if (store.memoryReason !== null) log.info("threads are kept in memory only", { reason: store.memoryReason });
  const host = new Host({
    store: store.store,
    harnesses: chosenHarnesses(options),
    extraToolMaps: toolMaps,
    harnessSettings: options.harnessSettings,
    settingsByHarness: options.settingsByHarness,
    dataDir: options.dataDir,
    dialect: options.dialect,
    native: options.native ?? null,
    idleSessionMs: options.idleSessionMs,
    parallelStarts: options.parallelStarts,
    sessionFolders: options.sessionFolders,
    discovery: {
      ...options.discovery,
      env: process.env,
      home: homedir(),
      // Without a store of its own no process may write beside it.
      cacheDir: store.memoryReason === null ? options.dataDir : null,
      onProgress: (done, total) => void process.stderr.write(`foldcast: looked at ${done} of ${total} saved sessions; each is looked at once\n`),
    },
    interactions: new InteractionManager({ log, now: () => Date.now(), expiryMs: options.interactionExpiryMs, store: store.interactions }),
    log,
  });
  // A fault in an adapter's own callbacks must not take the other threads with it.
  process.on("uncaughtException", (error) => log.error("uncaught exception", { error }));
  process.on("unhandledRejection", (error) => log.error("unhandled rejection", { error }));
  // The clients are still there then: they see the end of their turns.
  const stopped = firstSignal(signals).then(async (signal) => {
    await host.drain();
    return signal;
  });
  return { host, log, store, stopped };
}

/** What is wrong with the names of the harnesses that are wanted; null = nothing. */
export function unknownHarness(wanted: readonly string[] | null): string | null {
  const known = harnesses.map((entry) => entry.id);
  const unknown = wanted?.find((id) => !known.includes(id));
  return unknown === undefined ? null : `there is no harness \`${unknown}\`${hint(unknown, known)}`;
}

/** Those that are wanted, in the order in which their models are listed; the first that is ready gives the default. */
export function chosenHarnesses(options: Pick<ServerOptions, "harnesses" | "harnessSettings">): HarnessEntry[] {
  const chosen = harnesses.filter(({ id }) => options.harnesses?.includes(id) ?? true);
  // Who gives scenarios wants to see them played.
  const played = options.harnessSettings["scenarios"] === undefined ? [] : chosen.filter(({ isDemonstration }) => isDemonstration === true);
  return [...played, ...chosen.filter((entry) => !played.includes(entry))];
}

/** Ends turns, sessions and clients; never takes longer than a person waits. */
export async function stopHost({ host, log, store }: RunningHost): Promise<void> {
  const patience = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_PATIENCE_MS).unref());
  await Promise.race([host.close(), patience]);
  store.close();
  await log.flush();
}

/** The first signal that asks this process for its end. A second one ends it at once. */
export function firstSignal(signals: readonly NodeJS.Signals[] = END_SIGNALS): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let seen = false;
    for (const signal of signals) {
      process.on(signal, () => {
        // Who asks twice does not want to wait.
        if (seen && signal !== "SIGHUP") process.exit(signal === "SIGINT" ? 130 : 143);
        seen = true;
        resolve(signal);
      });
    }
  });
}
