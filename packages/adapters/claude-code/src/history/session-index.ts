import { open, type FileHandle } from "node:fs/promises";
import { changeSince, DiagnosticCounter, fileState, type FileState, stillBeginsWith, recordsOf, turnLines, type TurnLine } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistoryTurn } from "@foldcast/protocol-core/harness";
import { type KeptScan, SessionScan } from "./session-scan.ts";
import { describeFile, isSubAgentFile, subAgentsOfCalls, type SessionFile } from "./session-file.ts";
import { turnEvents } from "./turn-events.ts";
import type { IndexedTurn } from "./turn-list.ts";

/** Goes up whenever an index of before would be understood wrongly, or would say less than a new one. */
const KEPT_VERSION = 2;
interface KeptIndex {
  version: number;
  file: string;
  state: FileState;
  scan: KeptScan;
  counted: string[];
  diagnostics: HistoryDiagnostic[];
}

/** Index of one saved session; made by `openSession`. Texts are never kept, only places in the file. */
export class SessionIndex implements HistoryIndex {
  readonly file: string;
  #about: SessionFile;
  #diagnostics: DiagnosticCounter;
  #scan: SessionScan;
  #state: FileState;
  #subAgents: ReadonlyMap<string, string>;
  /** Turns whose peculiarities are already counted: reading them again must not count again. */
  readonly #counted: Set<string>;
  #refreshing: Promise<boolean> = Promise.resolve(false);

  constructor({ scan, about, state, diagnostics, subAgents, counted }: {
    scan: SessionScan; about: SessionFile; state: FileState; diagnostics: DiagnosticCounter; subAgents: ReadonlyMap<string, string>; counted: readonly string[];
  }) {
    this.file = about.file;
    this.#scan = scan;
    this.#about = about;
    this.#state = state;
    this.#diagnostics = diagnostics;
    this.#subAgents = subAgents;
    this.#counted = new Set(counted);
  }

  get nativeSessionId(): string {
    return this.#about.nativeSessionId;
  }

  get parentNativeSessionId(): string | null {
    return this.#about.parentNativeSessionId;
  }

  get cwd(): string | null {
    return this.#scan.cwd;
  }

  get title(): string | null {
    return this.#scan.title ?? this.#about.description;
  }

  get turns(): readonly HistoryTurn[] {
    return this.#scan.ownTurns.turns;
  }

  get diagnostics(): readonly HistoryDiagnostic[] {
    return this.#diagnostics.list();
  }

  async *read(from: number, to: number): AsyncIterable<{ index: number; events: readonly HarnessEvent[] }> {
    const turns = this.#scan.ownTurns.turns.slice(Math.max(0, from), Math.max(0, to));
    if (turns.length === 0) return;
    const file = await open(this.file);
    try {
      let index = Math.max(0, from);
      for await (const { turn, lines } of turnLines(turns, file)) yield { index: index++, events: this.#eventsOf(turn, lines) };
    } finally {
      await file.close();
    }
  }

  refresh(): Promise<boolean> {
    const run = (): Promise<boolean> => this.#refresh();
    this.#refreshing = this.#refreshing.then(run, run);
    return this.#refreshing;
  }

  /** Offset behind the last line of a turn; null where there is no such turn. */
  endOf(key: string): number | null {
    const turn = this.#scan.ownTurns.turns.find((each) => each.key === key);
    return turn === undefined ? null : Math.max(...turn.pieces.list().map(({ offset, length }) => offset + length));
  }

  snapshot(): KeptIndex | undefined {
    const scan = this.#scan.keep();
    return scan === null ? undefined : { version: KEPT_VERSION, file: this.file, state: this.#state, scan, counted: [...this.#counted], diagnostics: this.#diagnostics.list() };
  }

  /** Nothing is held open between calls. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  #eventsOf(turn: IndexedTurn, lines: readonly TurnLine[]): HarnessEvent[] {
    const diagnostics = this.#counted.has(turn.key) ? new DiagnosticCounter() : this.#diagnostics;
    this.#counted.add(turn.key);
    return turnEvents(turn, recordsOf(lines, diagnostics), {
      sessionId: this.#about.sessionId,
      cwd: this.#scan.cwd,
      subAgents: this.#subAgents,
      sidechainIsOwn: this.#scan.isSubAgent,
      diagnostics,
    });
  }

  async #refresh(): Promise<boolean> {
    const file = await open(this.file);
    try {
      const change = await changeSince(file, this.#state);
      if (change === "same") return false;
      if (change === "rewritten") {
        this.#diagnostics = new DiagnosticCounter();
        this.#scan = new SessionScan(this.#diagnostics, isSubAgentFile(this.file));
        this.#counted.clear();
      }
      await this.#scan.read(file);
      this.#state = await fileState(file, this.#scan.scanned);
      this.#about = await describeFile(this.file, this.#scan);
      this.#subAgents = await subAgentsOfCalls(this.#about);
      return true;
    } finally {
      await file.close();
    }
  }
}

/**
 * Indexes a file, going on from what an earlier index of it kept. Rejects with a readable message when it cannot be read
 * or holds no session.
 */
export async function openSession(path: string, known?: unknown): Promise<SessionIndex> {
  const file = await open(path);
  try {
    const kept = await fittingIndex(known, path, file);
    const diagnostics = new DiagnosticCounter();
    for (const { code, count, sample } of kept?.diagnostics ?? []) diagnostics.count(code, sample, count);
    const scan = new SessionScan(diagnostics, isSubAgentFile(path), kept?.scan);
    await scan.read(file);
    if (scan.lines === 0) throw new Error(`${path} holds no Claude Code session`);
    const about = await describeFile(path, scan);
    return new SessionIndex({ scan, about, state: await fileState(file, scan.scanned), diagnostics, subAgents: await subAgentsOfCalls(about), counted: kept?.counted ?? [] });
  } finally {
    await file.close();
  }
}

/** Another version of the index, another file or one that was rewritten: null, and the file is read from its beginning. */
async function fittingIndex(known: unknown, path: string, file: FileHandle): Promise<KeptIndex | null> {
  const kept = known as Partial<KeptIndex> | null | undefined;
  if (kept?.version !== KEPT_VERSION || kept.file !== path || kept.state === undefined) return null;
  return (await stillBeginsWith(file, kept.state)) ? (kept as KeptIndex) : null;
}
