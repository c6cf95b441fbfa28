import { type DiagnosticCounter, type KeptFile, ScannedFile, type TurnLine } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistoryTurn } from "@foldcast/protocol-core/harness";
import { decode } from "./dialects.ts";
import { FileTexts } from "./edits.ts";
import type { NotedLine, WireNote } from "./notes.ts";
import { describeFile, type SessionFile } from "./session-file.ts";
import { type KeptScan, SessionScan } from "./session-scan.ts";
import { SideFiles } from "./side-files.ts";
import { surveyOf } from "./survey.ts";
import type { IndexedTurn } from "./turn-list.ts";
import { TurnReader } from "./turn-reader.ts";

const BLOB_MARK = "\"blobref:";

/** Goes up whenever an index of before would be understood wrongly, or would say less than a new one. */
const KEPT_VERSION = 2;
interface KeptIndex extends KeptFile {
  version: number;
  file: string;
  scan: KeptScan;
}

/** Index of one saved session; made by `openSession`. Texts are never kept, only places in the file. */
export class SessionIndex implements HistoryIndex {
  readonly #file: ScannedFile<SessionScan>;
  #about: SessionFile;
  readonly #side: SideFiles;

  constructor(file: ScannedFile<SessionScan>, about: SessionFile) {
    this.#file = file;
    this.#about = about;
    this.#side = new SideFiles(file.path);
  }

  get file(): string {
    return this.#file.path;
  }

  get nativeSessionId(): string {
    return this.#about.nativeSessionId;
  }

  get parentNativeSessionId(): string | null {
    return this.#about.parentNativeSessionId;
  }

  get cwd(): string | null {
    return this.#about.cwd;
  }

  get title(): string | null {
    return this.#about.title;
  }

  get turns(): readonly HistoryTurn[] {
    return this.#file.scan.turns.turns;
  }

  get diagnostics(): readonly HistoryDiagnostic[] {
    const { undone } = this.#file.scan.turns;
    return [...this.#file.diagnostics.list(), ...(undone === 0 ? [] : [{ code: "turn.takenBack", count: undone, sample: null }])];
  }

  async *read(from: number, to: number): AsyncGenerator<{ index: number; events: readonly HarnessEvent[] }> {
    let index = Math.max(0, from);
    const turns = this.#file.scan.turns.turns.slice(index, Math.max(0, to));
    for await (const events of this.#file.read(turns, (...turn) => this.#eventsOf(...turn), (text) => text.includes(BLOB_MARK))) yield { index: index++, events };
  }

  refresh(): Promise<boolean> {
    return this.#file.refresh(async () => {
      this.#about = await describeFile(this.file, this.#file.scan);
    });
  }

  snapshot(): KeptIndex | undefined {
    const scan = this.#file.scan.keep();
    return scan === null ? undefined : { version: KEPT_VERSION, file: this.file, scan, ...this.#file.keep() };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #eventsOf(turn: IndexedTurn, lines: readonly TurnLine[], diagnostics: DiagnosticCounter): Promise<HarnessEvent[]> {
    const noted: NotedLine[] = [];
    for (const line of lines) {
      if (line.record === null) {
        diagnostics.count("line.unusable", line.sample);
        continue;
      }
      if (!line.whole) diagnostics.count("line.tooDeep");
      const record = line.marked ? await this.#side.withBlobs(line.record) : line.record;
      noted.push(decode(record));
    }
    const files = new FileTexts(this.#about.cwd);
    const reader = new TurnReader({ sessionId: this.#about.sessionId, files, diagnostics, survey: surveyOf(noted) });
    const events = reader.start({ key: turn.key, at: turn.startedAt, ...openingOf(turn, noted[0]), model: modelOf(noted) });
    for (const line of noted) {
      for (const note of line.notes) if (note.type === "fileBefore") await this.#learn(files, note);
      events.push(...reader.feed(line));
    }
    events.push(...reader.end(turn.outcome, turn.completedAt, turn.durationMs));
    return events;
  }

  async #learn(files: FileTexts, { path, key }: Extract<WireNote, { type: "fileBefore" }>): Promise<void> {
    const text = key === null ? null : await this.#side.copy(key);
    if (key === null || text !== null) files.know(path, text);
  }
}

/** What set a turn off, from its first line. */
function openingOf(turn: IndexedTurn, line: NotedLine | undefined): Pick<Parameters<TurnReader["start"]>[0], "input" | "byPerson" | "notice"> {
  const note = line?.notes.find((each) => each.type === "prompt" || each.type === "contextPrompt");
  if (note?.type === "prompt") return { input: note.input, byPerson: note.byPerson, notice: note.notice };
  return { input: note?.input ?? [], byPerson: turn.opening === "prompt" || turn.opening === "shell", notice: null };
}

function modelOf(lines: readonly NotedLine[]): string | null {
  for (const { notes } of lines) for (const note of notes) if (note.type === "model") return note.model;
  return null;
}

/**
 * Indexes a file, going on from what an earlier index of it kept. Rejects with a readable message when it cannot be read
 * or holds no session.
 */
export async function openSession(path: string, known?: unknown): Promise<SessionIndex> {
  const kept = keptIndex(known, path);
  const file = await ScannedFile.open(path, (diagnostics, fromKept) => new SessionScan(diagnostics, fromKept ? kept?.scan : undefined), kept);
  if (!file.scan.isOurs) throw new Error(`${path} holds no Kimi session`);
  return new SessionIndex(file, await describeFile(path, file.scan));
}

/** Null for another version of the index, or one of another file. */
function keptIndex(known: unknown, path: string): KeptIndex | null {
  const kept = known as Partial<KeptIndex> | null | undefined;
  return kept?.version === KEPT_VERSION && kept.file === path && kept.state !== undefined ? (kept as KeptIndex) : null;
}
