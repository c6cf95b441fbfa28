import { PieceList, firstWords } from "@foldcast/adapter-kit";
import type { HarnessError, TurnOutcome } from "@foldcast/protocol-core/harness";
import type { BlockFacts, LineFacts } from "./line.ts";
import type { UserContent } from "./user-content.ts";
import { isAnsweredCommand } from "./user-content.ts";

const PROMPT_CHARACTERS = 200;

/** What the first line of a turn is. */
export type TurnOpening =
  /** A prompt or an answered command: its content is the turn's input. */
  | "prompt"
  /** A command of the program itself that a client sent: what the program prints is the answer. */
  | "command"
  /** A command of the person's own shell. */
  | "shell"
  /** News that set the agent to work. */
  | "notice"
  /** A compaction that stood between two turns; its prompt, where it has one, is what a client sent for it. */
  | "compaction"
  /** Lines with no prompt before them in the file. */
  | "content";

/** One turn as the index holds it: where its lines are, and what they prove. */
export interface IndexedTurn {
  key: string;
  opening: TurnOpening;
  prompt: string;
  outcome: TurnOutcome;
  startedAt: number | null;
  completedAt: number | null;
  durationMs: number | null;
  pieces: PieceList;
}

export interface LinePlace {
  offset: number;
  length: number;
}

/** A list as JSON; turns by their place in it. */
export interface KeptTurnList {
  turns: (Omit<IndexedTurn, "pieces"> & { pieces: readonly number[] })[];
  messages: [string, number][];
  calls: [string, number][];
  awaited: string[];
  head: string | null;
  current: number;
  flags: [busy: boolean, answered: boolean, boundary: boolean];
  turnIndex: number | null;
}

/** A line that holds what was typed for a command: the command's own line has the name that it goes by in the program. */
export interface TypedLine {
  text: string;
  place: LinePlace;
}

/** Whether the turn's first line is what was sent for it. */
export function hasInput({ opening, prompt }: IndexedTurn): boolean {
  return opening === "prompt" || opening === "command" || (opening === "compaction" && prompt !== "");
}

interface PendingCommand {
  facts: LineFacts;
  place: LinePlace;
  content: UserContent;
}

/**
 * Sorts the lines of a conversation into turns, in the order of the file. The order of the file and not the `parentUuid`
 * chain decides: chains break at compactions, at lines that were never written and where two processes wrote, and a
 * branch that a rewind left behind did happen; so no line can be lost. Two things overrule the order: the blocks of one
 * message stay in the turn where the message began, unless they answer a later prompt, and a tool's result stays with its
 * call. Not every model's ids are unique: the last call of an id is the one that is meant.
 */
export class TurnList {
  readonly turns: IndexedTurn[] = [];
  readonly #turnOfMessage = new Map<string, IndexedTurn>();
  readonly #turnOfCall = new Map<string, IndexedTurn>();
  /** Calls whose results stand before them. */
  readonly #awaited: Set<string>;
  /** The last line before an answer to the current turn's prompt: the prompt, or one of those that the program puts behind it. */
  #head: string | null = null;
  #current: IndexedTurn | null = null;
  /** The agent owes an answer: lines that follow without a prompt go on with the current turn. */
  #busy = false;
  #answered = false;
  #command: PendingCommand | null = null;
  #boundary = false;
  #turnIndex: number | null = null;

  constructor(awaited: readonly string[] = []) {
    this.#awaited = new Set(awaited);
  }

  /** A list that goes on from where another was. */
  static restore(kept: KeptTurnList): TurnList {
    const list = new TurnList(kept.awaited);
    for (const { pieces, ...turn } of kept.turns) list.turns.push({ ...turn, pieces: PieceList.of(pieces) });
    for (const [id, at] of kept.messages) list.#turnOfMessage.set(id, list.turns[at]!);
    for (const [id, at] of kept.calls) list.#turnOfCall.set(id, list.turns[at]!);
    list.#current = kept.current === -1 ? null : list.turns[kept.current]!;
    [list.#busy, list.#answered, list.#boundary] = kept.flags;
    list.#turnIndex = kept.turnIndex;
    list.#head = kept.head;
    return list;
  }

  /** Null while it holds a text of the conversation. */
  keep(): KeptTurnList | null {
    if (this.#command !== null) return null;
    const places = new Map(this.turns.map((turn, at) => [turn, at]));
    const placesOf = (map: ReadonlyMap<string, IndexedTurn>): [string, number][] => [...map].map(([id, turn]) => [id, places.get(turn)!]);
    return {
      turns: this.turns.map((turn) => ({ ...turn, pieces: turn.pieces.numbers })),
      messages: placesOf(this.#turnOfMessage),
      calls: placesOf(this.#turnOfCall),
      awaited: [...this.#awaited],
      head: this.#head,
      current: this.#current === null ? -1 : places.get(this.#current)!,
      flags: [this.#busy, this.#answered, this.#boundary],
      turnIndex: this.#turnIndex,
    };
  }

  get empty(): boolean {
    return this.turns.length === 0;
  }

  /** Any line at all: between a prompt and its answer stand what a hook added and what was sent to the model (2.1.332). */
  chain({ type, uuid, parent }: LineFacts): void {
    if (type !== "assistant" && uuid !== null && parent !== null && parent === this.#head) this.#head = uuid;
  }

  user(facts: LineFacts, place: LinePlace, content: UserContent, typed: TypedLine | null = null): void {
    const hasResults = facts.blocks.some((block) => block.isResult);
    if (content.interrupted) this.#interrupt();
    if (hasResults) {
      const into = this.#add(facts, place, this.#joined(facts));
      for (const { callId } of facts.blocks) {
        if (callId === null || this.#turnOfCall.has(callId)) continue;
        this.#turnOfCall.set(callId, into);
        this.#awaited.add(callId);
      }
      if (into === this.#current) this.#busy = !content.interrupted;
      return;
    }
    const begins = facts.turnIndex !== null && facts.turnIndex !== this.#turnIndex;
    switch (content.kind) {
      case "prompt":
        return this.#begin("prompt", facts, place, content.text === "" ? "[image]" : content.text);
      case "command":
        if (begins || isAnsweredCommand(content.text)) return this.#beginCommand({ facts, place, content });
        if (facts.sentByClient) return this.#clientCommand(facts, place, content, typed);
        this.#command = { facts, place, content };
        return;
      case "shellInput":
        return this.#begin("shell", facts, place, "");
      case "shellOutput":
        if (this.#current?.opening === "shell" && !this.#answered) this.#add(facts, place, this.#current);
        return;
      case "notice":
        // Several pieces of news that were delivered together set off one turn.
        if (this.#current?.opening === "notice" && !this.#answered) this.#add(facts, place, this.#current);
        else this.#begin("notice", facts, place, "");
        return;
      case "summary":
        return this.summary(facts, place);
      case "nothing":
        return this.output(facts, place);
    }
  }

  /** A command of the program that a client sent. */
  command(facts: LineFacts, place: LinePlace, line: string): void {
    this.#begin("command", facts, place, line);
    this.#busy = false;
  }

  failCommand(error: HarnessError): void {
    if (this.#current?.opening === "command") this.fail(error);
  }

  /** What a command of the program printed. */
  output(facts: LineFacts, place: LinePlace): void {
    // Behind the line of another command it is that one's.
    if (this.#current?.opening === "command" && this.#command === null) this.#add(facts, place, this.#current);
  }

  /** Text that the harness wrote for the model. Only where it says so does it begin a turn. */
  hiddenUser(facts: LineFacts, place: LinePlace): void {
    if (facts.turnIndex !== null && facts.turnIndex !== this.#turnIndex) this.#begin("notice", facts, place, "");
  }

  assistant(facts: LineFacts, place: LinePlace, failure: HarnessError | null): void {
    let turn = this.#joined(facts);
    if (turn === null && this.#command !== null && !this.#busy) {
      this.#beginCommand(this.#command);
      turn = this.#current;
    }
    const into = this.#add(facts, place, turn);
    if (facts.messageId !== null) this.#turnOfMessage.set(facts.messageId, into);
    for (const { isCall, callId } of facts.blocks) {
      if (!isCall || callId === null) continue;
      this.#turnOfCall.set(callId, into);
      this.#awaited.delete(callId);
    }
    if (into.outcome.status !== "cancelled") {
      into.outcome = facts.aborted ? { status: "cancelled" } : failure === null ? { status: "unknown" } : { status: "failed", error: failure };
    }
    if (into !== this.#current) return;
    this.#answered = true;
    this.#command = null;
    this.#busy = failure === null && !facts.aborted
      && (facts.blocks.some((block) => block.isCall) || facts.blocks.every((block) => block.type === "thinking"));
  }

  /** Any other line that is shown. */
  member(facts: LineFacts, place: LinePlace): void {
    this.#add(facts, place, null);
  }

  /** `compact_boundary`: an item where it stands, a turn of its own between turns. */
  boundary(facts: LineFacts, place: LinePlace): void {
    this.#boundary = true;
    if (this.#current !== null && this.#busy) {
      this.#add(facts, place, this.#current);
      return;
    }
    this.#begin("compaction", facts, place, "");
    this.#busy = false;
  }

  /** The text that replaced what was compacted. Before 2.1.29 there is no boundary line, and it marks the place itself. */
  summary(facts: LineFacts, place: LinePlace): void {
    if (!this.#boundary) this.boundary(facts, place);
    this.#boundary = false;
  }

  duration(milliseconds: number): void {
    if (this.#current !== null) this.#current.durationMs = milliseconds;
    this.#busy = false;
  }

  /** The program ended in the middle of the turn; it says so when it goes on with the session. */
  cutOff(): void {
    if (this.#busy) this.#interrupt();
  }

  fail(error: HarnessError): void {
    if (this.#current !== null && this.#current.outcome.status === "unknown") this.#current.outcome = { status: "failed", error };
    this.#busy = false;
  }

  /** Lines of a sub-agent that stand among these; shown with the turn around them. */
  attach(place: LinePlace): boolean {
    if (this.#current === null) return false;
    this.#current.pieces.add(place.offset, place.length);
    return true;
  }

  #interrupt(): void {
    if (this.#current !== null) this.#current.outcome = { status: "cancelled" };
    this.#busy = false;
  }

  #beginCommand(command: PendingCommand): void {
    const [input] = command.content.input;
    this.#begin("prompt", command.facts, command.place, input?.type === "text" ? input.text : "");
  }

  /** The line of `/compact` comes behind what it did: it gives the turn its key. Other commands begin their turn. */
  #clientCommand(facts: LineFacts, place: LinePlace, content: UserContent, typed: TypedLine | null): void {
    const [input] = content.input;
    const line = input?.type === "text" ? input.text : "";
    if (this.#current?.opening === "compaction" && /^\/compact\b/.test(line)) {
      this.#current.key = facts.uuid ?? this.#current.key;
      // Without further words it is what a client asks for when it compacts.
      if (argumentsOf(line) === "") return;
      this.#current.prompt = firstWords(line, PROMPT_CHARACTERS);
      this.#current.pieces.addFirst(place.offset, place.length);
    } else if (typed !== null && argumentsOf(typed.text) === argumentsOf(line)) this.command(facts, typed.place, typed.text);
    else this.command(facts, place, line);
  }

  #begin(opening: TurnOpening, facts: LineFacts, place: LinePlace, prompt: string): void {
    const at = timeOf(facts);
    const turn: IndexedTurn = {
      key: facts.uuid ?? `@${place.offset}`,
      opening,
      prompt: firstWords(prompt, PROMPT_CHARACTERS),
      outcome: { status: "unknown" },
      startedAt: at,
      completedAt: opening === "compaction" ? at : null,
      durationMs: null,
      pieces: new PieceList(),
    };
    turn.pieces.add(place.offset, place.length);
    this.turns.push(turn);
    this.#current = turn;
    this.#head = facts.uuid;
    this.#busy = true;
    this.#answered = false;
    this.#command = null;
    if (opening !== "compaction") this.#boundary = false;
    if (facts.turnIndex !== null) this.#turnIndex = facts.turnIndex;
  }

  #add(facts: LineFacts, place: LinePlace, turn: IndexedTurn | null): IndexedTurn {
    const into = turn ?? this.#current;
    if (into === null) {
      this.#begin("content", facts, place, "");
      return this.#current!;
    }
    into.pieces.add(place.offset, place.length);
    const at = timeOf(facts);
    if (at !== null && at >= (into.completedAt ?? into.startedAt ?? 0)) into.completedAt = at;
    return into;
  }

  #joined(facts: LineFacts): IndexedTurn | null {
    const ofMessage = facts.messageId === null ? undefined : this.#turnOfMessage.get(facts.messageId);
    if (ofMessage !== undefined && (facts.parent === null || facts.parent !== this.#head)) return ofMessage;
    return this.#ofCalls(facts.blocks);
  }

  /** By the calls that the line answers, and those that it makes for results that were there before. */
  #ofCalls(blocks: readonly BlockFacts[]): IndexedTurn | null {
    for (const { callId, isCall } of blocks) {
      const turn = callId === null || (isCall && !this.#awaited.has(callId)) ? undefined : this.#turnOfCall.get(callId);
      if (turn !== undefined) return turn;
    }
    return null;
  }
}

/** What stands behind a command's name. */
function argumentsOf(line: string): string {
  return line.replace(/^\S*/, "").trim();
}

function timeOf(facts: LineFacts): number | null {
  if (facts.timestamp === null) return null;
  const time = Date.parse(facts.timestamp);
  return Number.isFinite(time) ? time : null;
}
