import { type DiagnosticCounter, type KeptFile, recordsOf, ScannedFile, type TurnLine } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistoryTurn } from "@foldcast/protocol-core/harness";
import { type KeptScan, SessionScan } from "./session-scan.ts";
import { describeFile, isSubAgentFile, subAgentsOfCalls, type SessionFile } from "./session-file.ts";
import { turnEvents } from "./turn-events.ts";
import type { IndexedTurn } from "./turn-list.ts";

/** Goes up whenever an index of before would be understood wrongly, or would say less than a new one. */
const KEPT_VERSION = 5;
interface KeptIndex extends KeptFile {
  version: number;
  file: string;
  scan: KeptScan;
}

/** Index of one saved session; made by `openSession`. Texts are never kept, only places in the file. */
export class SessionIndex implements HistoryIndex {
  readonly #file: ScannedFile<SessionScan>;
  #about: SessionFile;
  #subAgents: ReadonlyMap<string, string>;

  constructor(file: ScannedFile<SessionScan>, about: SessionFile, subAgents: ReadonlyMap<string, string>) {
    this.#file = file;
    this.#about = about;
    this.#subAgents = subAgents;
  }

  get file(): string {
    return this.#about.file;
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
    return this.#file.diagnostics.list();
  }

  async *read(from: number, to: number): AsyncIterable<{ index: number; events: readonly HarnessEvent[] }> {
    let index = Math.max(0, from);
    const turns = this.#scan.ownTurns.turns.slice(index, Math.max(0, to));
    for await (const events of this.#file.read(turns, (...turn) => this.#eventsOf(...turn))) yield { index: index++, events };
  }

  refresh(): Promise<boolean> {
    return this.#file.refresh(async () => {
      this.#about = await describeFile(this.file, this.#scan);
      this.#subAgents = await subAgentsOfCalls(this.#about);
    });
  }

  /** Offset behind the last line of a turn; null where there is no such turn. */
  endOf(key: string): number | null {
    const turn = this.#scan.ownTurns.turns.find((each) => each.key === key);
    return turn === undefined ? null : Math.max(...turn.pieces.list().map(({ offset, length }) => offset + length));
  }

  snapshot(): KeptIndex | undefined {
    const scan = this.#scan.keep();
    return scan === null ? undefined : { version: KEPT_VERSION, file: this.file, scan, ...this.#file.keep() };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  get #scan(): SessionScan {
    return this.#file.scan;
  }

  #eventsOf(turn: IndexedTurn, lines: readonly TurnLine[], diagnostics: DiagnosticCounter): HarnessEvent[] {
    return turnEvents(turn, recordsOf(lines, diagnostics), {
      sessionId: this.#about.sessionId,
      cwd: this.#scan.cwd,
      subAgents: this.#subAgents,
      sidechainIsOwn: this.#scan.isSubAgent,
      diagnostics,
    });
  }
}

/**
 * Indexes a file, going on from what an earlier index of it kept. Rejects with a readable message when it cannot be read
 * or holds no session.
 */
export async function openSession(path: string, known?: unknown): Promise<SessionIndex> {
  const kept = keptIndex(known, path);
  const file = await ScannedFile.open(path, (diagnostics, fromKept) => new SessionScan(diagnostics, isSubAgentFile(path), fromKept ? kept?.scan : undefined), kept);
  if (file.scan.lines === 0) throw new Error(`${path} holds no Claude Code session`);
  const about = await describeFile(path, file.scan);
  return new SessionIndex(file, about, await subAgentsOfCalls(about));
}

/** Null for another version of the index, or one of another file. */
function keptIndex(known: unknown, path: string): KeptIndex | null {
  const kept = known as Partial<KeptIndex> | null | undefined;
  return kept?.version === KEPT_VERSION && kept.file === path && kept.state !== undefined ? (kept as KeptIndex) : null;
}
