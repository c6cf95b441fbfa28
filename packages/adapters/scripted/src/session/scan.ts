import type { FileHandle } from "node:fs/promises";
import { DiagnosticCounter, PieceList, sampleOf, scanLines } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryTurn, TurnOutcome } from "@foldcast/protocol-core/harness";
import { isJsonObject, type UserInput } from "@foldcast/protocol-core/wire";
import { parseHeader, type SessionHeader, type SessionLine } from "./file.ts";

/** A turn of the file: `outcome` null = the file has no end of it. */
export interface ScannedTurn extends Omit<HistoryTurn, "outcome"> {
  outcome: TurnOutcome | null;
  pieces: PieceList;
}

/** A scan as JSON. */
export interface KeptScan {
  header: SessionHeader;
  turns: (Omit<ScannedTurn, "pieces"> & { pieces: readonly number[] })[];
  scanned: number;
  latest: number | null;
  diagnostics: HistoryDiagnostic[];
}

const PROMPT_LENGTH = 200;

/** What is known of a session file up to `scanned`; grows with the file. */
export class SessionScan {
  header: SessionHeader | null = null;
  readonly turns: ScannedTurn[] = [];
  /** Bytes that need not be looked at again. */
  scanned = 0;
  /** Time of the last event of a turn, Unix milliseconds. */
  latest: number | null = null;
  readonly #byKey = new Map<string, ScannedTurn>();
  readonly #diagnostics = new DiagnosticCounter();
  #truncatedTail: string | null = null;
  #sawFirstLine = false;

  /** `kept`: what an earlier scan of the file gave. */
  constructor(kept: KeptScan | null = null) {
    if (kept === null) return;
    ({ header: this.header, scanned: this.scanned, latest: this.latest } = kept);
    this.#sawFirstLine = true;
    for (const { code, count, sample } of kept.diagnostics) this.#diagnostics.count(code, sample, count);
    for (const { pieces, ...rest } of kept.turns) {
      const turn = { ...rest, pieces: PieceList.of(pieces) };
      this.turns.push(turn);
      this.#byKey.set(turn.key, turn);
    }
  }

  /** To go on from later. */
  keep(): KeptScan | null {
    if (this.header === null) return null;
    return {
      header: this.header,
      turns: this.turns.map((turn) => ({ ...turn, pieces: turn.pieces.numbers })),
      scanned: this.scanned,
      latest: this.latest,
      diagnostics: this.#diagnostics.list(),
    };
  }

  get diagnostics(): HistoryDiagnostic[] {
    const tail = this.#truncatedTail === null ? [] : [{ code: "truncatedLine", count: 1, sample: this.#truncatedTail }];
    return [...this.#diagnostics.list(), ...tail];
  }

  /**
   * Reads on, to the end of the file or to `to`. With `from` behind what is scanned, what lies between is left out: enough
   * for what a list shows, never for an index.
   */
  async advance(file: FileHandle, { from = this.scanned, to }: { from?: number; to?: number } = {}): Promise<void> {
    const tail: { sample: string | null } = { sample: null };
    // Somewhere in a line, as a rule.
    let broken = from > this.scanned;
    const scan = await scanLines(file, (bytes, start, end, offset, ended) => {
      if (broken) return void (broken = false);
      const known = this.#take(bytes, start, end, offset);
      if (known) return;
      // Without its line end it may still be in writing: it is looked at again when the file has grown.
      if (ended) this.#diagnostics.count("unreadableLine", sampleOf(bytes, start, end));
      else tail.sample = sampleOf(bytes, start, end);
    }, { from, ...(to === undefined ? {} : { to }) });
    if (scan.oversized > 0) this.#diagnostics.count("oversizedLine", null, scan.oversized);
    this.#truncatedTail = tail.sample;
    this.scanned = tail.sample === null ? scan.end : scan.unendedFrom;
  }

  #take(bytes: Buffer, start: number, end: number, offset: number): boolean {
    const text = bytes.toString("utf8", start, end);
    if (!this.#sawFirstLine) {
      this.#sawFirstLine = true;
      this.header = parseHeader(text);
      if (this.header !== null) return true;
    }
    const line = parseLine(text);
    if (line === null) return false;
    if (line.turn === undefined) return true;
    const turn = this.#turn(line.turn);
    turn.pieces.add(offset, end - start);
    note(turn, line.event);
    if (typeof line.event.at === "number") this.latest = line.event.at;
    return true;
  }

  #turn(key: string): ScannedTurn {
    let turn = this.#byKey.get(key);
    if (turn === undefined) {
      turn = { key, prompt: "", outcome: null, startedAt: null, completedAt: null, pieces: new PieceList() };
      this.#byKey.set(key, turn);
      this.turns.push(turn);
    }
    return turn;
  }
}

/** Null when the text is no line of a session file. */
export function parseLine(text: string): SessionLine | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value) || !isJsonObject(value["event"]) || typeof value["event"]["type"] !== "string") return null;
    return value["turn"] === undefined || typeof value["turn"] === "string" ? (value as unknown as SessionLine) : null;
  } catch {
    return null;
  }
}

/** Takes from the first start and the first end what an index tells; the file may hold anything in their place. */
function note(turn: ScannedTurn, event: HarnessEvent): void {
  if (event.type === "turn.started") {
    if (turn.startedAt !== null || turn.prompt !== "") return;
    turn.startedAt = typeof event.at === "number" ? event.at : null;
    turn.prompt = Array.isArray(event.input) ? cut(promptText(event.input)) : "";
  } else if (turn.outcome === null && (event.type === "turn.completed" || event.type === "fault")) {
    turn.outcome = event.type === "fault" ? { status: "failed", error: event.error } : event.outcome;
    turn.completedAt = typeof event.at === "number" ? event.at : null;
  }
}

/** The text that a person wrote, without pictures and the like. */
export function promptText(input: readonly UserInput[]): string {
  return input.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n");
}

function cut(text: string): string {
  const head = text.slice(0, PROMPT_LENGTH);
  return text.length > PROMPT_LENGTH ? head.replace(/[\uD800-\uDBFF]$/, "") : head;
}
