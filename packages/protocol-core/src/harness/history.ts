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
  /** What `open` can go on from instead of reading the file again: plain JSON data, without any text of the conversation but the prompts' first words. */
  snapshot?(): unknown;
  close(): Promise<void>;
}

/** Where a harness may look for its files on this machine. */
export interface HistoryPlaces {
  /** Of the host's process. */
  env: Readonly<Record<string, string | undefined>>;
  /** The person's home folder. */
  home: string;
  /** The adapter's own folder, the `dataDir` of its `HarnessEnvironment`. */
  dataDir: string;
}

/** A folder with session files of one harness; `depth` = how many levels of folders below it may hold some. */
export interface HistoryRoot {
  folder: string;
  depth: number;
}

/** What a list of threads shows of a saved session. Times in Unix milliseconds, null = not recorded. */
export interface SessionPeek {
  nativeSessionId: string;
  cwd: string | null;
  /** The name that a person or the harness gave; null = none. */
  title: string | null;
  /** First words of the first prompt, at most 200 characters; empty where there is none. */
  prompt: string;
  startedAt: number | null;
  updatedAt: number | null;
  /**
   * Only a `session` is a thread of its own; a fork is one. A `child` is a sub-agent's file. A `copy` says nothing that
   * the session `parentNativeSessionId` does not say; it is left out where that one is there.
   */
  kind: "session" | "child" | "copy";
  parentNativeSessionId: string | null;
  /** For `copies` of the same source only; kept with the peek. */
  lineage?: readonly string[];
}

export interface HistorySource {
  /** Cheap look (name and first bytes): may this file be one of ours? Never throws. */
  recognises(file: string, head: string): boolean;
  /**
   * Rejects with a readable message when the file cannot be read or holds no session of this harness. `known` is what
   * an earlier index of this file gave as its `snapshot`, perhaps in another process; an adapter takes it only where it
   * can prove that it still fits, and never fails because of it.
   */
  open(file: string, known?: unknown): Promise<HistoryIndex>;
  /** The folders where this harness keeps sessions on this machine; absent = sessions of others are not looked for. Does no I/O. */
  roots?(places: HistoryPlaces): readonly HistoryRoot[];
  /**
   * What a list shows, from the file's ends: a huge file is not read whole. Null for a file that holds no session with
   * a turn in it; a name that is none of ours costs no reading. Rejects when the file cannot be read. Absent = the
   * whole file is indexed for it.
   */
  peek?(file: string): Promise<SessionPeek | null>;
  /** What was said stands whole in JSON strings of the file, so that a search may look at its bytes before it reads them. */
  readonly wholeTexts?: boolean;
  /**
   * Of all sessions found, the files that others supersede: copies that only a look at several files can tell. Called
   * again whenever one of them has changed.
   */
  copies?(sessions: readonly { file: string; peek: SessionPeek }[]): Promise<ReadonlySet<string>>;
}
