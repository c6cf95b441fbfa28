import type { HarnessEvent } from "./events.ts";
import type { TurnOutcome } from "./items.ts";

/** A counted peculiarity of a saved file; `sample` is a short raw piece of the first case. */
export interface HistoryDiagnostic {
  code: string;
  count: number;
  sample: string | null;
}

/** What the index knows of a turn without projecting it. Times in Unix milliseconds, null = not recorded. */
export interface HistoryTurn {
  /** The harness's own key, stable across reads and growth of the file. */
  key: string;
  /** First words of the prompt, at most 200 characters; empty for a turn that the agent started. */
  prompt: string;
  outcome: TurnOutcome;
  startedAt: number | null;
  completedAt: number | null;
}

/**
 * A saved session, indexed once: per turn its pieces of the file. Any one turn can be read alone, at a cost that
 * depends on that turn only.
 */
export interface HistoryIndex {
  readonly nativeSessionId: string;
  readonly file: string;
  readonly cwd: string | null;
  readonly title: string | null;
  /** The session that this one is a copy or a child of, where the file says so. */
  readonly parentNativeSessionId: string | null;
  readonly turns: readonly HistoryTurn[];
  readonly diagnostics: readonly HistoryDiagnostic[];
  /** Events of turns `from` ≤ i < `to`, one array per turn, in order, ready for a fresh projector each. */
  read(from: number, to: number): AsyncIterable<{ index: number; events: readonly HarnessEvent[] }>;
  /** Looks at appended growth only (a rewritten file is scanned anew). True when something changed. */
  refresh(): Promise<boolean>;
  close(): Promise<void>;
}

export interface HistorySource {
  /** Cheap look (name and first bytes): may this file be one of ours? Never throws. */
  recognises(file: string, head: string): boolean;
  /** Rejects with a readable message when the file cannot be read or holds no session of this harness. */
  open(file: string): Promise<HistoryIndex>;
}
