import { PieceList, firstWords } from "@foldcast/adapter-kit";
import type { HarnessError, TurnOutcome, UsageReport } from "@foldcast/protocol-core/harness";

const PROMPT_CHARACTERS = 200;

/** One turn as the index holds it: where its lines are, and what they prove. */
export interface IndexedTurn {
  key: string;
  /** It began with `task_started`, so that its end is recorded too. */
  explicit: boolean;
  prompt: string;
  /** Null while the file records no end. */
  end: TurnOutcome | null;
  /** The agent owes an answer: the last thing said was a prompt, a call or a thought. */
  busy: boolean;
  startedAt: number | null;
  completedAt: number | null;
  durationMs: number | null;
  cwd: string | null;
  model: string | null;
  usage: UsageReport | null;
  pieces: PieceList;
}

export interface LinePlace {
  offset: number;
  length: number;
  at: number | null;
}

export interface TurnEnd {
  outcome: TurnOutcome;
  startedAt: number | null;
  completedAt: number | null;
  durationMs: number | null;
}

/** What a line does to the agent's debt: `work` owes an answer, `answer` pays it, `note` leaves it as it is. */
export type LineEffect = "work" | "answer" | "note";

/**
 * Sorts the lines of a rollout into turns. From 0.104 on a turn is named when it starts and ends, and a line may name a
 * turn that is long over: a command that outlived it. Before that a turn begins with what the person sent.
 */
export class TurnList {
  turns: IndexedTurn[] = [];
  readonly #byKey = new Map<string, IndexedTurn>();
  #current: IndexedTurn | null = null;
  /** Lines are those of a turn that stands in the file already: a fork's copy of its parent's history. */
  #copying = false;
  /** What a person sent, by the model's record of it; the event that confirms it comes after, or never. */
  #asked: Asked[] = [];
  /** The current turn has nothing but a prompt in it that one kind of record told; the other kind may follow. */
  #unpaired: { by: "event" | "record"; text: string } | null = null;
  /** Lines for the next turn that starts. */
  #early: LinePlace[] = [];
  #cwd: string | null = null;
  #model: string | null = null;

  get current(): IndexedTurn | null {
    return this.#current;
  }

  get copying(): boolean {
    return this.#copying;
  }

  get last(): IndexedTurn | null {
    return this.turns.at(-1) ?? null;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** A process began to write: a new session, a resumed one, or the copy of another one's history. */
  restart(): void {
    this.#leave();
    this.#copying = false;
  }

  start(key: string, startedAt: number | null): void {
    if (this.#current?.key === key) return;
    this.#leave();
    const known = this.#byKey.get(key);
    this.#copying = known !== undefined;
    if (known === undefined) this.#current = this.#begin(key, true, startedAt);
  }

  end(key: string | null, end: TurnEnd): void {
    const named = key === null ? undefined : this.#byKey.get(key);
    if (named === undefined && this.#copying) return;
    this.#settleAsked();
    const turn = named ?? this.#current;
    if (turn === null) return;
    // Said to be interrupted and completed after all: it is completed (0.147, a shutdown that came to nothing).
    if (turn.end === null || (named !== undefined && turn.end.status === "cancelled" && end.outcome.status === "succeeded")) {
      turn.end = end.outcome;
      turn.startedAt = end.startedAt ?? turn.startedAt;
      turn.completedAt = end.completedAt ?? turn.completedAt;
      turn.durationMs = end.durationMs ?? turn.durationMs;
    }
    // What still comes of an interrupted turn belongs to it.
    if (turn === this.#current && end.outcome.status !== "cancelled") this.#current = null;
  }

  fail(error: HarnessError): void {
    const turn = this.#current;
    if (turn !== null) turn.end ??= { status: "failed", error };
  }

  /** Settings come before the prompt that they hold for, within a named turn after its start. */
  context(key: string | null, cwd: string | null, model: string | null): void {
    const turn = (key === null ? undefined : this.#byKey.get(key)) ?? (this.#current?.explicit === true ? this.#current : null);
    if (turn !== null && !this.#copying) {
      turn.cwd ??= cwd;
      turn.model ??= model;
    }
    this.#cwd = cwd ?? this.#cwd;
    this.#model = model ?? this.#model;
  }

  usage(usage: UsageReport): void {
    const turn = this.#current ?? (this.#copying ? null : this.last);
    if (turn !== null) turn.usage = usage;
  }

  /**
   * What a person sent, as an event or a completed item tells it. Without a named turn it begins one, unless it only
   * confirms the model's record that stands before it.
   */
  user(place: LinePlace, text: string, key: string | null): void {
    const turn = this.#named(key);
    if (turn === "copy") return;
    if (turn?.explicit === true) {
      if (turn.prompt === "") turn.prompt = promptOf(text);
      return this.#put(turn, place, "work");
    }
    if (this.#confirms("event", text)) return this.#put(this.#current!, place, "work");
    const record = this.#takeAsked(text);
    this.#open(key, record?.place ?? place, text, record === null ? "event" : null);
    if (record !== null) this.#put(this.#current!, record.place, "work");
    this.#put(this.#current!, place, "work");
  }

  /** The model's record of what a person sent. Empty text: text of the harness, or none. */
  asked(place: LinePlace, text: string, key: string | null): void {
    const turn = this.#named(key);
    if (turn === "copy") return;
    if (turn?.explicit === true) {
      // In a turn whose events are missing it is the prompt, else a copy of it.
      if (turn.prompt === "" && text !== "") turn.prompt = promptOf(text);
      return this.#put(turn, place, text === "" ? "note" : "work");
    }
    if (text === "") return;
    if (this.#confirms("record", text)) this.#put(this.#current!, place, "work");
    else this.#asked.push({ place, text, key });
  }

  content(place: LinePlace, effect: LineEffect, key: string | null, isItem: boolean): void {
    const turn = this.#named(key);
    if (turn === "copy") return;
    if (turn !== null && turn !== this.#current) return this.#put(turn, place, effect);
    this.#settleAsked();
    // The model's own records may lag behind the end of the turn that they belong to.
    if (effect !== "note") this.#unpaired = null;
    if (this.#current === null && !(isItem && this.last !== null)) this.#open(key, place, "", null);
    this.#put(this.#current ?? this.last!, place, effect);
  }

  /** An item where it stands in a turn; between turns it is one of its own. */
  compaction(place: LinePlace, key: string | null): void {
    const turn = this.#named(key);
    if (turn === "copy") return;
    this.#settleAsked();
    if (turn !== null && (turn.explicit || turn.busy || turn.key.startsWith(COMPACTION))) return this.#put(turn, place, "note");
    this.#current = this.#begin(`${COMPACTION}${place.offset}`, false, place.at);
    this.#current.end = { status: "succeeded" };
    this.#put(this.#current, place, "note");
  }

  /** A line that belongs to the turn that starts next. */
  early(place: LinePlace): void {
    if (this.#copying) return;
    if (this.#current !== null) this.#put(this.#current, place, "note");
    else this.#early.push(place);
  }

  /** Takes back the last turns, as `thread_rolled_back` says. Gives how many more than there are it names. */
  rollBack(count: number): number {
    if (this.#copying) return 0;
    this.#leave();
    const kept = Math.max(0, this.turns.length - count);
    const missing = Math.max(0, count - this.turns.length);
    for (const turn of this.turns.slice(kept)) this.#byKey.delete(turn.key);
    this.turns = this.turns.slice(0, kept);
    return missing;
  }

  /** At the end of the file: a prompt that nothing followed is a turn too. */
  settle(): void {
    this.#settleAsked();
  }

  #leave(): void {
    this.#settleAsked();
    this.#current = null;
    this.#unpaired = null;
  }

  /** The turn that a line names, else the current one. Lines of a copied history are nobody's. */
  #named(key: string | null): IndexedTurn | null | "copy" {
    const named = key === null ? undefined : this.#byKey.get(key);
    if (this.#copying) return "copy";
    if (named !== undefined) return named;
    // Its start is lost: the line of another turn does not go into the current one.
    if (key !== null && this.#current?.explicit === true) {
      this.#current = this.#begin(key, true, null);
      return this.#current;
    }
    return this.#current;
  }

  #settleAsked(): void {
    const asked = this.#asked;
    this.#asked = [];
    for (const { place, text, key } of asked) {
      this.#open(key, place, text, "record");
      this.#put(this.#current!, place, "work");
    }
  }

  /** The model's record of this very text; prompts before it that no event confirmed become turns. */
  #takeAsked(text: string): Asked | null {
    const at = this.#asked.findIndex((each) => isSame(each.text, text));
    const [record] = at === -1 ? [] : this.#asked.splice(at, 1);
    this.#settleAsked();
    return record ?? null;
  }

  #open(key: string | null, place: LinePlace, text: string, by: "event" | "record" | null): void {
    this.#current = this.#begin(key ?? `@${place.offset}`, key !== null, place.at, text);
    this.#unpaired = by === null ? null : { by, text };
  }

  #confirms(by: "event" | "record", text: string): boolean {
    const first = this.#unpaired;
    if (first === null || first.by === by || this.#asked.length > 0 || !isSame(first.text, text)) return false;
    this.#unpaired = null;
    return true;
  }

  #begin(key: string, explicit: boolean, startedAt: number | null, prompt = ""): IndexedTurn {
    const turn: IndexedTurn = {
      key, explicit, prompt: promptOf(prompt), end: null, busy: true, startedAt, completedAt: null, durationMs: null,
      cwd: explicit ? null : this.#cwd, model: explicit ? null : this.#model, usage: null, pieces: new PieceList(),
    };
    this.#byKey.set(key, turn);
    this.turns.push(turn);
    for (const place of this.#early) turn.pieces.add(place.offset, place.length);
    this.#early = [];
    return turn;
  }

  #put(turn: IndexedTurn, place: LinePlace, effect: LineEffect): void {
    turn.pieces.add(place.offset, place.length);
    if (effect !== "note") turn.busy = effect === "work";
    if (turn.end === null && place.at !== null && place.at >= (turn.completedAt ?? turn.startedAt ?? 0)) turn.completedAt = place.at;
  }
}

const COMPACTION = "compaction@";

interface Asked {
  place: LinePlace;
  text: string;
  key: string | null;
}

function promptOf(text: string): string {
  return firstWords(text, PROMPT_CHARACTERS);
}

/** Records of one message may differ by what is put around its text for the model. */
function isSame(one: string, other: string): boolean {
  return one === other || (one !== "" && other !== "" && (one.includes(other) || other.includes(one)));
}
