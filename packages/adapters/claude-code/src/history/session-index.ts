import { open, type FileHandle } from "node:fs/promises";
import { changeSince, DiagnosticCounter, fileState, type FileState, readPieces } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistoryTurn } from "@foldcast/protocol-core/harness";
import { parseRecord, type SessionRecord } from "./record.ts";
import { SessionScan } from "./session-scan.ts";
import { describeFile, isSubAgentFile, subAgentsOfCalls, type SessionFile } from "./session-file.ts";
import { turnEvents } from "./turn-events.ts";
import type { IndexedTurn } from "./turn-list.ts";

/** Index of one saved session; made by `openSession`. Texts are never kept, only places in the file. */
export class SessionIndex implements HistoryIndex {
  readonly file: string;
  #about: SessionFile;
  #diagnostics: DiagnosticCounter;
  #scan: SessionScan;
  #state: FileState;
  #subAgents: ReadonlyMap<string, string>;
  /** Turns whose peculiarities are already counted: reading them again must not count again. */
  readonly #counted = new Set<string>();
  #refreshing: Promise<boolean> = Promise.resolve(false);

  constructor(scan: SessionScan, about: SessionFile, state: FileState, diagnostics: DiagnosticCounter, subAgents: ReadonlyMap<string, string>) {
    this.file = about.file;
    this.#scan = scan;
    this.#about = about;
    this.#state = state;
    this.#diagnostics = diagnostics;
    this.#subAgents = subAgents;
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
      for (const turn of turns) yield { index: index++, events: await this.#eventsOf(turn, file) };
    } finally {
      await file.close();
    }
  }

  refresh(): Promise<boolean> {
    const run = (): Promise<boolean> => this.#refresh();
    this.#refreshing = this.#refreshing.then(run, run);
    return this.#refreshing;
  }

  /** Nothing is held open between calls. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #eventsOf(turn: IndexedTurn, file: FileHandle): Promise<HarnessEvent[]> {
    const again = this.#counted.has(turn.key);
    const diagnostics = again ? new DiagnosticCounter() : this.#diagnostics;
    this.#counted.add(turn.key);
    const records: SessionRecord[] = [];
    await readPieces(file, turn.pieces.list(), (bytes, start, end) => {
      const text = bytes.toString("utf8", start, end);
      const record = parseRecord(text);
      if (record === null) diagnostics.count("line.malformed", text.slice(0, 200));
      else records.push(record);
    });
    return turnEvents(turn, records, {
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

/** Indexes a file. Rejects with a readable message when it cannot be read or holds no session. */
export async function openSession(path: string): Promise<SessionIndex> {
  const file = await open(path);
  try {
    const diagnostics = new DiagnosticCounter();
    const scan = new SessionScan(diagnostics, isSubAgentFile(path));
    await scan.read(file);
    if (scan.lines === 0) throw new Error(`${path} holds no Claude Code session`);
    const about = await describeFile(path, scan);
    return new SessionIndex(scan, about, await fileState(file, scan.scanned), diagnostics, await subAgentsOfCalls(about));
  } finally {
    await file.close();
  }
}
