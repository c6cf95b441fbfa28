import { open, type FileHandle } from "node:fs/promises";
import { changeSince, fileState, readPieces, type FileState } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistorySource, HistoryTurn } from "@foldcast/protocol-core/harness";
import { HARNESS_ID } from "../manifest.ts";
import { parseHeader, type SessionHeader } from "./file.ts";
import { parseLine, SessionScan, type ScannedTurn } from "./scan.ts";

/** Key of the turn that a session of this process is running in the file; null = none. */
export type RunningTurn = (file: string) => string | null;

/** Saved sessions of the scripted harness. */
export function historySource(running: RunningTurn): HistorySource {
  return {
    recognises(file, head) {
      if (!file.endsWith(".jsonl")) return false;
      const end = head.indexOf("\n");
      if (end !== -1) return parseHeader(head.slice(0, end).replace(/^\uFEFF/, "")) !== null;
      return head.startsWith(`{"type":"session","version":1,"harness":"${HARNESS_ID}",`);
    },
    open: (file) => SessionIndex.open(file, running),
  };
}

/**
 * Index of one session file. A turn without an end in the file reads as cancelled, with what was open closed, unless a
 * session of this process is still running it.
 */
export class SessionIndex implements HistoryIndex {
  readonly file: string;
  readonly title = null;
  readonly #running: RunningTurn;
  #scan = new SessionScan();
  #header!: SessionHeader;
  #state!: FileState;

  private constructor(file: string, running: RunningTurn) {
    this.file = file;
    this.#running = running;
  }

  static async open(file: string, running: RunningTurn): Promise<SessionIndex> {
    const index = new SessionIndex(file, running);
    await index.#rescan();
    return index;
  }

  get nativeSessionId(): string {
    return this.#header.id;
  }
  get header(): SessionHeader {
    return this.#header;
  }
  get cwd(): string {
    return this.#header.cwd;
  }
  get parentNativeSessionId(): string | null {
    return this.#header.forkedFrom?.id ?? null;
  }
  /** Turns with their places in the file. */
  get scannedTurns(): readonly ScannedTurn[] {
    return this.#scan.turns;
  }

  get turns(): readonly HistoryTurn[] {
    return this.#scan.turns.map(({ key, prompt, outcome, startedAt, completedAt }) => ({
      key, prompt, outcome: outcome ?? { status: this.#isRunning(key) ? "unknown" : "cancelled" }, startedAt, completedAt,
    }));
  }

  get diagnostics(): readonly HistoryDiagnostic[] {
    const unfinished = this.#scan.turns.filter((turn) => turn.outcome === null && !this.#isRunning(turn.key)).length;
    return [...this.#scan.diagnostics, ...(unfinished > 0 ? [{ code: "unfinishedTurn", count: unfinished, sample: null }] : [])];
  }

  async *read(from: number, to: number): AsyncGenerator<{ index: number; events: readonly HarnessEvent[] }> {
    const first = Math.max(0, from);
    const turns = this.#scan.turns.slice(first, Math.max(first, to));
    if (turns.length === 0) return;
    const file = await openFile(this.file);
    try {
      for (const [offset, turn] of turns.entries()) yield { index: first + offset, events: await this.#readTurn(file, turn) };
    } finally {
      await file.close();
    }
  }

  async refresh(): Promise<boolean> {
    const file = await openFile(this.file);
    try {
      const change = await changeSince(file, this.#state);
      if (change === "same") return false;
      if (change === "grown") {
        await this.#scan.advance(file);
        this.#state = await fileState(file, this.#scan.scanned);
        return true;
      }
    } finally {
      await file.close();
    }
    await this.#rescan();
    return true;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #rescan(): Promise<void> {
    const file = await openFile(this.file);
    try {
      const scan = new SessionScan();
      await scan.advance(file);
      if (scan.header === null) throw new Error(`${this.file} is no session of the scripted harness.`);
      this.#scan = scan;
      this.#header = scan.header;
      this.#state = await fileState(file, scan.scanned);
    } finally {
      await file.close();
    }
  }

  #isRunning(key: string): boolean {
    return this.#running(this.file) === key;
  }

  async #readTurn(file: FileHandle, turn: ScannedTurn): Promise<HarnessEvent[]> {
    const events: HarnessEvent[] = [];
    await readPieces(file, turn.pieces.list(), (bytes, start, end) => {
      const line = parseLine(bytes.toString("utf8", start, end));
      if (line?.turn === turn.key) events.push(line.event);
    });
    return turn.outcome === null && !this.#isRunning(turn.key) ? [...events, ...missingEnd(events)] : events;
  }
}

function missingEnd(events: readonly HarnessEvent[]): HarnessEvent[] {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === "interaction.opened") open.add(event.interaction.id);
    else if (event.type === "interaction.closed") open.delete(event.interactionId);
  }
  return [
    ...[...open].map((interactionId): HarnessEvent => ({ type: "interaction.closed", interactionId, reason: "cancelled", at: null })),
    { type: "turn.completed", outcome: { status: "cancelled" }, at: null },
  ];
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file, "r");
  } catch (error) {
    throw new Error(`Could not read the session ${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
