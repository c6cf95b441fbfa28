import { open, type FileHandle } from "node:fs/promises";
import { changeSince, demandSameFile, fileState, lookAt, readPieces, stillBeginsWith, type FileState } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistorySource, HistoryTurn, SessionPeek } from "@foldcast/protocol-core/harness";
import { HARNESS_ID } from "../manifest.ts";
import { parseHeader, type SessionHeader } from "./file.ts";
import { parseLine, SessionScan, type KeptScan, type ScannedTurn } from "./scan.ts";

/** Key of the turn that a session of this process is running in the file; null = none. */
export type RunningTurn = (file: string) => string | null;

/** Saved sessions of the scripted harness; its own are all in `folder`. */
export function historySource(folder: string, running: RunningTurn): HistorySource {
  return {
    recognises(file, head) {
      if (!file.endsWith(".jsonl")) return false;
      const end = head.indexOf("\n");
      if (end !== -1) return parseHeader(head.slice(0, end).replace(/^\uFEFF/, "")) !== null;
      return head.startsWith(`{"type":"session","version":1,"harness":"${HARNESS_ID}",`);
    },
    open: (file, known) => SessionIndex.open(file, running, known),
    roots: () => [{ folder, depth: 0 }],
    peek,
  };
}

/** A first and a last part of this size tell what a list shows. */
const END_BYTES = 32 * 1024;

async function peek(path: string): Promise<SessionPeek | null> {
  if (!path.endsWith(".jsonl")) return null;
  const file = await openFile(path);
  try {
    const { size, mtimeMs } = await file.stat();
    const scan = new SessionScan();
    await scan.advance(file, size <= 2 * END_BYTES ? {} : { to: END_BYTES });
    if (scan.scanned < size) await scan.advance(file, { from: Math.max(scan.scanned, size - END_BYTES) });
    const { header, turns, latest } = scan;
    if (header === null || turns.length === 0) return null;
    return {
      nativeSessionId: header.id,
      cwd: header.cwd,
      title: null,
      prompt: turns.find((turn) => turn.prompt !== "")?.prompt ?? "",
      startedAt: turns.find((turn) => turn.startedAt !== null)?.startedAt ?? header.createdAt,
      updatedAt: latest ?? Math.floor(mtimeMs),
      kind: "session",
      parentNativeSessionId: header.forkedFrom?.id ?? null,
    };
  } finally {
    await file.close();
  }
}

/** Goes up whenever an index of before would be understood wrongly. */
const KEPT_VERSION = 1;
interface KeptIndex {
  version: number;
  file: string;
  state: FileState;
  scan: KeptScan;
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

  /** `known`: the snapshot of an earlier index of the file. */
  static async open(file: string, running: RunningTurn, known?: unknown): Promise<SessionIndex> {
    const index = new SessionIndex(file, running);
    await index.#rescan(known);
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
      await demandSameFile(file, this.file, this.#state);
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
        const seen = await lookAt(file);
        await this.#scan.advance(file);
        this.#state = await fileState(file, seen, this.#scan.scanned);
        return true;
      }
    } finally {
      await file.close();
    }
    await this.#rescan();
    return true;
  }

  snapshot(): KeptIndex | undefined {
    const scan = this.#scan.keep();
    return scan === null ? undefined : { version: KEPT_VERSION, file: this.file, state: this.#state, scan };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #rescan(known?: unknown): Promise<void> {
    const file = await openFile(this.file);
    try {
      const scan = new SessionScan(await this.#fitting(known, file));
      const seen = await lookAt(file);
      await scan.advance(file);
      if (scan.header === null) throw new Error(`${this.file} is no session of the scripted harness.`);
      this.#scan = scan;
      this.#header = scan.header;
      this.#state = await fileState(file, seen, scan.scanned);
    } finally {
      await file.close();
    }
  }

  /** Null where the file is another one by now, or the index was made by another version. */
  async #fitting(known: unknown, file: FileHandle): Promise<KeptScan | null> {
    const kept = known as Partial<KeptIndex> | null | undefined;
    if (kept?.version !== KEPT_VERSION || kept.file !== this.file || kept.state === undefined) return null;
    return (await stillBeginsWith(file, kept.state)) ? (kept.scan ?? null) : null;
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
