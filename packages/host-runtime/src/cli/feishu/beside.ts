import { setTimeout as pause } from "node:timers/promises";
import { UsageError } from "../usage-error.ts";
import type { RunningChannel } from "./channel.ts";

export interface BesideOptions {
  readonly start: () => Promise<RunningChannel>;
  /** One line for a person. */
  readonly say: (line: string) => void;
  /** First and longest pause after a start that failed, in milliseconds. */
  readonly pauses?: { readonly fromMs: number; readonly toMs: number };
}

export interface Beside {
  /** Waits a moment for answers that are on their way. Never rejects. */
  close(): Promise<void>;
}

const PAUSES = { fromMs: 2_000, toMs: 300_000 };
const SETTLE_MS = 5_000;

/**
 * Runs the channel beside a server, which never notices whether it works. A start that fails is tried again with growing
 * pauses; wrong settings do not change by themselves, so they end it. What happens is said once, not at every try.
 */
export function runBeside({ start, say, pauses = PAUSES }: BesideOptions): Beside {
  const end = new AbortController();
  let running: RunningChannel | null = null;
  const isOver = (): boolean => end.signal.aborted;
  const work = async (): Promise<void> => {
    let told = "";
    for (let wait = pauses.fromMs; !isOver(); wait = Math.min(wait * 2, pauses.toMs)) {
      try {
        const started = await start();
        if (isOver()) return await started.close();
        running = started;
        sayConnections(started, say);
        return;
      } catch (error) {
        const words = error instanceof Error ? error.message : String(error);
        if (isForGood(error)) return say(`${words}. The server goes on without Feishu; foldcast doctor --feishu looks at it`);
        if (words !== told) say(`${words}. The server goes on without Feishu, which is tried again`);
        told = words;
        await pause(wait, undefined, { signal: end.signal, ref: false }).catch(() => undefined);
      }
    }
  };
  void work().catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
  return {
    async close() {
      end.abort();
      try {
        await running?.channel.settle(SETTLE_MS);
        await running?.close();
      } catch (error) {
        say(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

function sayConnections({ appId, onConnection }: RunningChannel, say: (line: string) => void): void {
  say(`talks for ${appId}`);
  let isUp = true;
  onConnection(({ state, reason }) => {
    if (state === "connected" && !isUp) say("connected again");
    if (state === "waiting" && isUp) say(`${reason ?? "the connection was lost"}; it is tried again`);
    if (state === "connected" || state === "waiting") isUp = state === "connected";
  });
}

/** Wrong settings, and a package that is not installed. */
function isForGood(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof Error && ["FeishuConfigError", "FeishuSdkMissingError"].includes(error.name));
}
