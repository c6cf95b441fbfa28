import { type FilePiece, PieceList, firstWords } from "@foldcast/adapter-kit";
import type { HistoryTurn, TurnOutcome } from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";
import type { NotedLine, WireNote } from "./notes.ts";
import { textOfInput } from "./parts.ts";

const PROMPT_CHARACTERS = 200;

/** What set a turn off. */
export type TurnOpening = "prompt" | "notice" | "shell" | "compaction" | "content";

export interface IndexedTurn extends HistoryTurn {
  opening: TurnOpening;
  durationMs: number | null;
  /** The file says where the turn ends. */
  ended: boolean;
  pieces: PieceList;
  /** Where the line begins that was added last. */
  lastOffset: number;
}

/** A list as JSON; turns by their place in it. */
export interface KeptTurnList {
  turns: (Omit<IndexedTurn, "pieces"> & { pieces: readonly number[] })[];
  current: number;
  compaction: number;
  anchors: number[];
  keys: [string, number][];
  busy: boolean;
  echoes: number;
  ordinal: number;
  undone: number;
}

type Note<T extends WireNote["type"]> = Extract<WireNote, { type: T }>;

/**
 * Sorts the lines of one agent's file into turns, in the order of the file. kimi-code says since 1.5 where a turn ends;
 * before that, and in kimi-cli, a turn goes on until the next one begins: a step that ended in `tool_use` ends nothing.
 */
export class TurnList {
  #turns: IndexedTurn[] = [];
  #current: IndexedTurn | null = null;
  /** The agent owes an answer. */
  #busy = false;
  /** Copies of prompts in the model's context that are still to come. */
  #echoes = 0;
  #ordinal = 0;
  readonly #keys = new Map<string, number>();
  /** Turns that an undo can go back to. */
  #anchors: IndexedTurn[] = [];
  /** A compaction between turns goes on in the background. */
  #compaction: IndexedTurn | null = null;
  #undone = 0;

  /** A list that goes on from where another was. */
  static restore(kept: KeptTurnList): TurnList {
    const list = new TurnList();
    list.#turns = kept.turns.map(({ pieces, ...turn }) => ({ ...turn, pieces: PieceList.of(pieces) }));
    list.#current = list.#turns[kept.current] ?? null;
    list.#compaction = list.#turns[kept.compaction] ?? null;
    list.#anchors = kept.anchors.map((at) => list.#turns[at]!);
    for (const [key, times] of kept.keys) list.#keys.set(key, times);
    list.#busy = kept.busy;
    list.#echoes = kept.echoes;
    list.#ordinal = kept.ordinal;
    list.#undone = kept.undone;
    return list;
  }

  keep(): KeptTurnList {
    const places = new Map(this.#turns.map((turn, at) => [turn, at]));
    const placeOf = (turn: IndexedTurn | null): number => (turn === null ? -1 : places.get(turn)!);
    return {
      turns: this.#turns.map((turn) => ({ ...turn, pieces: turn.pieces.numbers })),
      current: placeOf(this.#current), compaction: placeOf(this.#compaction), anchors: this.#anchors.map(placeOf), keys: [...this.#keys],
      busy: this.#busy, echoes: this.#echoes, ordinal: this.#ordinal, undone: this.#undone,
    };
  }

  get turns(): readonly IndexedTurn[] {
    return this.#turns;
  }

  /** Whether a line that begins no turn belongs to one. */
  get isOpen(): boolean {
    return this.#current !== null && !this.#current.ended;
  }

  /** How many turns were taken back; they are no longer among the others. */
  get undone(): number {
    return this.#undone;
  }

  add(line: NotedLine, place: FilePiece): void {
    for (const note of line.notes) this.#note(note, line.at, place);
  }

  #note(note: WireNote, at: number | null, place: FilePiece): void {
    switch (note.type) {
      case "prompt":
        this.#echoes = 1;
        return this.#prompt(note.notice === null ? "prompt" : "notice", keyOf(note), note, at, place);
      case "contextPrompt":
        if (this.#echoes > 0) this.#echoes -= 1;
        else if (this.#busy) this.#member(at, place);
        else this.#prompt("prompt", null, note, at, place);
        return;
      case "steer":
        this.#echoes += 1;
        return this.#member(at, place);
      case "shellInput":
        this.#begin("shell", null, [], at, place);
        this.#busy = false;
        return;
      case "shellOutput":
        if (this.#current?.opening !== "shell" || this.#current.ended) return;
        this.#member(at, place);
        this.#current.outcome = { status: "succeeded" };
        this.#current.ended = true;
        return;
      case "compaction":
        return this.#compact(note.phase, at, place);
      case "undo":
        return this.#undo(note.count);
      case "clear":
        this.#anchors = [];
        return;
      case "end":
        return this.#end(note, at, place);
      case "cancel":
        if (this.#current === null || !this.#busy) return;
        this.#member(at, place);
        this.#current.outcome = { status: "cancelled" };
        this.#busy = false;
        return;
      case "interrupted":
        this.#member(at, place);
        if (note.error !== null) this.#current!.outcome = { status: "failed", error: note.error };
        else if (this.#current!.outcome.status !== "failed") this.#current!.outcome = { status: "cancelled" };
        this.#busy = false;
        return;
      case "stepBegin":
      case "spoken":
      case "call":
        this.#member(at, place);
        // Whatever the step before ended in: the turn went on.
        if (!this.#current!.ended && this.#current!.outcome.status !== "cancelled") this.#current!.outcome = { status: "unknown" };
        this.#busy = true;
        return;
      case "stepEnd":
        this.#member(at, place);
        return this.#stepEnd(note.finish);
      case "result":
      case "approval":
      case "question":
      case "childStarted":
      case "contextAnswer":
        return this.#member(at, place);
      default:
        // Between turns these belong to none: a task in the background ended, a file was saved.
        if (this.isOpen) this.#member(at, place);
    }
  }

  #prompt(opening: TurnOpening, key: string | null, note: Note<"prompt" | "contextPrompt">, at: number | null, place: FilePiece): void {
    const turn = this.#begin(opening, key, note.input, at, place);
    if (note.undoable) this.#anchors.push(turn);
  }

  #begin(opening: TurnOpening, key: string | null, input: readonly UserInput[], at: number | null, place: FilePiece): IndexedTurn {
    this.#ordinal += 1;
    const text = textOfInput(input);
    const turn: IndexedTurn = {
      key: this.#unique(key ?? `turn#${this.#ordinal}`),
      opening,
      prompt: firstWords(text.trim() === "" && input.length > 0 ? "[image]" : text, PROMPT_CHARACTERS),
      outcome: { status: "unknown" },
      startedAt: at,
      completedAt: null,
      durationMs: null,
      ended: false,
      pieces: new PieceList(),
      lastOffset: -1,
    };
    addPiece(turn, place);
    this.#turns.push(turn);
    this.#current = turn;
    this.#busy = true;
    return turn;
  }

  /** Copies of a session repeat its ids; a key is given once. */
  #unique(key: string): string {
    const times = (this.#keys.get(key) ?? 0) + 1;
    this.#keys.set(key, times);
    return times === 1 ? key : `${key}~${times}`;
  }

  #member(at: number | null, place: FilePiece, turn: IndexedTurn | null = this.#current): void {
    if (turn === null || (turn === this.#current && turn.ended)) {
      this.#begin("content", null, [], at, place);
      return;
    }
    addPiece(turn, place);
    if (at !== null && !turn.ended && at >= (turn.completedAt ?? turn.startedAt ?? 0)) turn.completedAt = at;
  }

  #stepEnd(finish: string | null): void {
    const turn = this.#current!;
    if (finish === null || finish === "tool_use" || finish === "tool_calls" || turn.outcome.status === "cancelled") return;
    // A failed step may be tried again; `interrupted` or the next step says what became of it.
    const outcome: TurnOutcome | null = finish === "error" ? null : finish === "interrupted" ? { status: "cancelled" } : { status: "succeeded" };
    if (outcome !== null) turn.outcome = outcome;
    this.#busy = outcome === null;
  }

  #end(note: Note<"end">, at: number | null, place: FilePiece): void {
    const turn = this.#current;
    if (turn === null || turn.ended) return;
    this.#member(at, place);
    turn.outcome = note.outcome;
    turn.durationMs = note.durationMs;
    turn.ended = true;
    if (at !== null) turn.completedAt = at;
    this.#busy = false;
  }

  #compact(phase: Note<"compaction">["phase"], at: number | null, place: FilePiece): void {
    if (phase === "done") this.#anchors = [];
    if (this.#compaction !== null) {
      this.#member(at, place, this.#compaction);
      if (phase !== "begin") this.#compacted(this.#compaction, phase, at);
      return;
    }
    if (this.#busy) return this.#member(at, place);
    // `apply_compaction` and `complete` both say that it is done.
    if (phase === "cancelled" || (phase === "done" && this.#current?.opening === "compaction")) return;
    const turn = this.#begin("compaction", at === null ? null : `compaction-${at}`, [], at, place);
    this.#busy = false;
    if (phase === "begin") this.#compaction = turn;
    else this.#compacted(turn, phase, at);
  }

  #compacted(turn: IndexedTurn, phase: "done" | "cancelled", at: number | null): void {
    turn.outcome = { status: phase === "done" ? "succeeded" : "cancelled" };
    turn.completedAt = at;
    turn.ended = true;
    this.#compaction = null;
  }

  /** Takes back the turns of the last `count` prompts, and what the agent did by itself after them. */
  #undo(count: number): void {
    let first: IndexedTurn | undefined;
    for (let times = 0; times < count && this.#anchors.length > 0; times++) first = this.#anchors.pop();
    const from = first === undefined ? -1 : this.#turns.indexOf(first);
    if (from === -1) return;
    this.#undone += this.#turns.length - from;
    this.#turns = this.#turns.slice(0, from);
    this.#current = null;
    this.#compaction = null;
    this.#busy = false;
    this.#echoes = 0;
  }
}

/** A line that says several things is one piece. */
function addPiece(turn: IndexedTurn, place: FilePiece): void {
  if (turn.lastOffset === place.offset) return;
  turn.pieces.add(place.offset, place.length);
  turn.lastOffset = place.offset;
}

/** The program counts the turns of a session since protocol 1.5, those that it began by itself and those taken back too. */
export function keyOf(note: Note<"prompt">): string | null {
  return note.turnId === null ? null : `turn-${note.turnId}`;
}
