import type { TurnOutcome } from "@foldcast/protocol-core/harness";
import type { InputOrigin } from "@foldcast/protocol-core/interaction";
import type { UserInput } from "@foldcast/protocol-core/wire";

/** A group of threads that a person made, as Codex 0.171 names its parts. */
export interface Section {
  id: string;
  name: string;
  appearance: { icon: string | null; color: string | null } | null;
}

/** What the host keeps of a thread. Times in Unix milliseconds. Never any text of the conversation but its first words. */
export interface ThreadRecord {
  id: string;
  /** Which harness the thread is bound to; null until its first turn. */
  harness: string | null;
  nativeSessionId: string | null;
  /** The harness's own saved file; null where it keeps none, or before the first turn. */
  file: string | null;
  /** `<harness>/<model>` as in the catalogue; null for a found session that does not say. */
  model: string | null;
  effort: string | null;
  cwd: string;
  name: string | null;
  /** First words of the first prompt; empty before the first turn. */
  preview: string;
  archived: boolean;
  ephemeral: boolean;
  threadSource: string | null;
  originator: string | null;
  forkedFromId: string | null;
  /** The section that it is in, with its place there (smaller = higher) and since when. */
  section: (Section & { position: number; enteredAt: number }) | null;
  gitInfo: { sha: string | null; branch: string | null; originUrl: string | null } | null;
  createdAt: number;
  updatedAt: number;
  /** When a turn last started. */
  recencyAt: number;
}

/** What the host knows of a turn that it ran itself: more certain than the harness's file, and never text. */
export interface TurnFact {
  turnId: string;
  /** The harness's own key; null until the harness confirmed the turn. */
  turnKey: string | null;
  /** Null while it runs (and after a crash: then it was interrupted). */
  outcome: TurnOutcome | null;
  startedAt: number | null;
  completedAt: number | null;
  /** From where its input came; absent for the operator's own. */
  origin?: InputOrigin;
}

/** An input that waits for its turn: the only text of a conversation that the host keeps, and only until it is sent. */
export interface QueuedInput {
  id: string;
  input: UserInput[];
  clientId: string | null;
  /** The client's own, kept for it. */
  metadata: Record<string, unknown> | null;
  origin?: InputOrigin;
  /** A client put it into the queue by itself; absent for what was meant for a turn that could not take it. */
  byClient?: true;
}

/** A session in its harness's own words. */
export interface NativeSession {
  harness: string;
  nativeSessionId: string;
}

/**
 * Where threads are kept. All operations are small and synchronous; `transaction` makes several of them one. A thrown
 * error concerns that operation only: nothing of it is kept.
 */
export interface ThreadStore {
  transaction<T>(work: () => T): T;
  thread(id: string): ThreadRecord | null;
  threadByNative(harness: string, nativeSessionId: string): ThreadRecord | null;
  /** In no particular order. */
  threads(): Iterable<ThreadRecord>;
  saveThread(record: ThreadRecord): void;
  /** With all that belongs to it; its session is hidden from then on. */
  deleteThread(id: string): void;
  /**
   * Sessions of harnesses that are not listed as threads though their files are there: those whose thread was deleted, or
   * went on in another session, and those that were hidden. In no particular order.
   */
  hiddenSessions(): Iterable<NativeSession>;
  hideSession(session: NativeSession): void;
  /** Oldest first. */
  turns(threadId: string): readonly TurnFact[];
  turnByKey(threadId: string, turnKey: string): TurnFact | null;
  /** Adds the turn, or replaces the fact with the same turn id. */
  saveTurn(threadId: string, fact: TurnFact): void;
  deleteTurn(threadId: string, turnId: string): void;
  /** In the order in which they are sent. */
  queue(threadId: string): readonly QueuedInput[];
  /** Adds the input at the end, or replaces the one with the same id in its place. */
  saveQueued(threadId: string, queued: QueuedInput): void;
  deleteQueued(threadId: string, id: string): void;
  /** In the order in which they were made. */
  sections(): readonly Section[];
  /** Adds the section, or replaces the one with the same id in its place. */
  saveSection(section: Section): void;
  deleteSection(id: string): void;
  close(): void;
}
