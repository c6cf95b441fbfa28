import { open } from "node:fs/promises";
import { changeSince, DiagnosticCounter, fileState, type FileState, turnLines, type TurnLine } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistoryTurn } from "@foldcast/protocol-core/harness";
import { decode } from "./dialects.ts";
import { FileTexts } from "./edits.ts";
import type { NotedLine, WireNote } from "./notes.ts";
import { describeFile, type SessionFile } from "./session-file.ts";
import { SessionScan } from "./session-scan.ts";
import { SideFiles } from "./side-files.ts";
import { surveyOf } from "./survey.ts";
import type { IndexedTurn } from "./turn-list.ts";
import { TurnReader } from "./turn-reader.ts";

const BLOB_MARK = "\"blobref:";

/** Index of one saved session; made by `openSession`. Texts are never kept, only places in the file. */
export class SessionIndex implements HistoryIndex {
  readonly file: string;
  #about: SessionFile;
  #diagnostics: DiagnosticCounter;
  #scan: SessionScan;
  #state: FileState;
  readonly #side: SideFiles;
  /** Turns whose peculiarities are already counted: reading them again must not count again. */
  readonly #counted = new Set<string>();
  #refreshing: Promise<boolean> = Promise.resolve(false);

  constructor(file: string, scan: SessionScan, about: SessionFile, state: FileState, diagnostics: DiagnosticCounter) {
    this.file = file;
    this.#scan = scan;
    this.#about = about;
    this.#state = state;
    this.#diagnostics = diagnostics;
    this.#side = new SideFiles(file);
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
    return this.#scan.turns.turns;
  }

  get diagnostics(): readonly HistoryDiagnostic[] {
    const { undone } = this.#scan.turns;
    return [...this.#diagnostics.list(), ...(undone === 0 ? [] : [{ code: "turn.takenBack", count: undone, sample: null }])];
  }

  async *read(from: number, to: number): AsyncGenerator<{ index: number; events: readonly HarnessEvent[] }> {
    const turns = this.#scan.turns.turns.slice(Math.max(0, from), Math.max(0, to));
    if (turns.length === 0) return;
    const file = await open(this.file);
    try {
      let index = Math.max(0, from);
      for await (const { turn, lines } of turnLines(turns, file, (text) => text.includes(BLOB_MARK))) yield { index: index++, events: await this.#eventsOf(turn, lines) };
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

  async #eventsOf(turn: IndexedTurn, lines: readonly TurnLine[]): Promise<HarnessEvent[]> {
    const diagnostics = this.#counted.has(turn.key) ? new DiagnosticCounter() : this.#diagnostics;
    this.#counted.add(turn.key);
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

  async #refresh(): Promise<boolean> {
    const file = await open(this.file);
    try {
      const change = await changeSince(file, this.#state);
      if (change === "same") return false;
      if (change === "rewritten") {
        this.#diagnostics = new DiagnosticCounter();
        this.#scan = new SessionScan(this.#diagnostics);
        this.#counted.clear();
      }
      await this.#scan.read(file);
      this.#state = await fileState(file, this.#scan.scanned);
      this.#about = await describeFile(this.file, this.#scan);
      return true;
    } finally {
      await file.close();
    }
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

/** Indexes a file. Rejects with a readable message when it cannot be read or holds no session. */
export async function openSession(path: string): Promise<SessionIndex> {
  const file = await open(path);
  try {
    const diagnostics = new DiagnosticCounter();
    const scan = new SessionScan(diagnostics);
    await scan.read(file);
    if (!scan.isOurs) throw new Error(`${path} holds no Kimi session`);
    return new SessionIndex(path, scan, await describeFile(path, scan), await fileState(file, scan.scanned), diagnostics);
  } finally {
    await file.close();
  }
}
