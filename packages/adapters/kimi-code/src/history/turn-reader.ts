import { type DiagnosticCounter, filledString, freeId, type JsonRecord, stringOf } from "@foldcast/adapter-kit";
import type { ChildAgent, HarnessEvent, InteractionRequest, TurnOutcome } from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";
import { Children, startsAgents } from "./children.ts";
import { argumentsOf } from "./decode-code.ts";
import type { FileTexts } from "./edits.ts";
import type { KnownCall, NotedLine, Notice, SpokenPart, WireNote } from "./notes.ts";
import { resultOf } from "./results.ts";
import { NO_SURVEY, type Survey } from "./survey.ts";

export interface TurnContext {
  /** The session in which agent ids are unique. */
  sessionId: string;
  files: FileTexts;
  diagnostics: DiagnosticCounter;
  /** Absent while the turn runs: what is to come is not known. */
  survey?: Survey;
}

type Note<T extends WireNote["type"]> = Extract<WireNote, { type: T }>;

interface OpenCall extends KnownCall {
  itemId: string;
  declined: boolean;
}

/**
 * Makes events from the notes of one turn, in their order: the same for a saved turn and for one that is being written.
 * What a note causes is returned at once; the same notes always give the same events.
 */
export class TurnReader {
  readonly #context: TurnContext;
  readonly #survey: Survey;
  readonly #children: Children;
  #events: HarnessEvent[] = [];
  #at: number | null = null;
  readonly #open = new Map<string, OpenCall>();
  readonly #itemIds = new Set<string>();
  /** A call whose arguments are still being written. */
  #growing: { id: string; name: string; text: string } | null = null;
  /** The text that was said last: how its step ends says whether it is whole. */
  #speaking: string | null = null;
  /** All texts of the turn, for copies of them. */
  readonly #said = new Set<string>();
  readonly #salvagedSteps = new Set<string>();
  readonly #asks = new Map<string, { callId: string | null; open: boolean }>();
  #usageInStep = false;
  #compaction: string | null = null;
  #numbers = 0;

  constructor(context: TurnContext) {
    this.#context = context;
    this.#survey = context.survey ?? NO_SURVEY;
    this.#children = new Children(context.sessionId);
  }

  /** The beginning of the turn, with what set it off. */
  start(turn: { key: string; at: number | null; input: readonly UserInput[]; byPerson: boolean; notice: Notice | null; model: string | null; clientId?: string | null }): HarnessEvent[] {
    this.#at = turn.at;
    this.#push({
      type: "turn.started", turnKey: turn.key, at: turn.at, input: [...turn.input], origin: turn.byPerson ? "user" : "agent", model: turn.model,
      ...(turn.clientId === undefined ? {} : { clientId: turn.clientId }),
    });
    if (turn.notice !== null) this.#aside(turn.notice.name, turn.notice.input, turn.notice.text === "" ? null : turn.notice.text, turn.notice.failed);
    return this.#take();
  }

  feed(line: NotedLine): HarnessEvent[] {
    this.#at = line.at;
    for (const note of line.notes) {
      if (this.#growing !== null && note.type !== "callPart" && note.type !== "childNote") this.#grown();
      this.#note(note);
    }
    return this.#take();
  }

  /** Closes what is open and the turn. */
  end(outcome: TurnOutcome, at: number | null, durationMs: number | null): HarnessEvent[] {
    this.#at = at;
    if (this.#growing !== null) this.#grown();
    this.#silence(outcome.status === "cancelled" ? "cancelled" : outcome.status === "failed" ? "failed" : "succeeded");
    for (const [id, ask] of this.#asks) if (ask.open) this.#push({ type: "interaction.closed", interactionId: id, reason: "cancelled", at });
    for (const { itemId } of this.#open.values()) this.#push({ type: "item.completed", itemId, outcome: { status: "cancelled" }, at });
    if (this.#compaction !== null) this.#push({ type: "item.completed", itemId: this.#compaction, outcome: { status: outcome.status === "cancelled" ? "cancelled" : "succeeded" }, at });
    this.#push({ type: "turn.completed", outcome, at, durationMs });
    return this.#take();
  }

  #take(): HarnessEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #push(event: HarnessEvent): void {
    this.#events.push(event);
  }

  #note(note: WireNote): void {
    switch (note.type) {
      case "steer":
        this.#silence();
        return this.#push({ type: "item.started", item: { kind: "userMessage", id: this.#number("user"), content: note.input }, at: this.#at });
      case "stepBegin":
        this.#silence();
        this.#usageInStep = false;
        return;
      case "stepEnd":
        return this.#stepEnd(note);
      case "spoken":
        return this.#spoken(note);
      case "contextAnswer":
        for (const part of note.parts) if (!this.#said.has(part.text)) this.#speak(null, part);
        for (const call of note.calls) if (!this.#itemIds.has(call.id)) this.#call(call);
        return;
      case "twin":
        for (const call of note.calls) if (!this.#itemIds.has(call.id)) this.#call(call);
        return;
      case "call":
        if (!note.growing) return void this.#call(note.call);
        this.#growing = { id: note.call.id, name: note.call.name, text: stringOf(note.call.input) ?? "" };
        return this.#grownIfWhole();
      case "callPart":
        if (this.#growing === null) {
          if (note.append !== "") this.#count("callPart.withoutCall", note.append);
          return;
        }
        this.#growing.text += note.append;
        return this.#grownIfWhole();
      case "result":
        return this.#result(note);
      case "approval":
        return this.#approval(note);
      case "question":
        return this.#ask(note.id, note.callId, { id: note.id, kind: "question", questions: note.questions });
      case "answered":
        return this.#answered(note);
      case "usage":
        this.#usageInStep = true;
        return this.#push({ type: "usage.updated", usage: note.usage, at: this.#at });
      case "retry":
        return this.#push({ type: "retry", error: note.error, at: this.#at });
      case "interrupted":
        return this.#silence(note.error === null ? "cancelled" : "failed");
      case "compaction":
        return this.#compact(note.phase);
      case "childStarted":
        this.#children.started(note);
        return this.#showChildren(note.callId);
      case "childEnded":
        return this.#showChildren(this.#children.ended(note));
      case "childNote":
        if (this.#children.inline(note)) this.#showChildren(note.callId);
        return;
      case "plan":
        return this.#whole({ kind: "plan", id: this.#number("plan"), text: note.text });
      case "aside":
        return this.#aside(note.name, note.input, note.output, note.failed);
      case "unknown":
        this.#count("record.unknownType", JSON.stringify(note.record));
        return this.#whole({ kind: "tool", id: this.#number("aside"), name: note.name, input: note.record, unknown: true });
      case "shellInput":
        return this.#push({ type: "item.started", item: { kind: "command", id: "shell", command: note.command, source: "userShell" }, at: this.#at });
      case "shellOutput":
        return this.#push({ type: "item.completed", itemId: "shell", outcome: note.failed ? { status: "failed" } : { status: "succeeded" }, result: { output: note.text }, at: this.#at });
      case "prompt":
      case "contextPrompt":
      case "cancel":
      case "end":
      case "undo":
      case "clear":
      case "fileBefore":
      case "model":
      case "task":
        return;
    }
  }

  #stepEnd(note: Note<"stepEnd">): void {
    if (note.step !== null) this.#salvage(note.step);
    this.#silence(note.finish === "interrupted" ? "cancelled" : note.finish === "error" ? "failed" : "succeeded");
    if (note.usage !== null && !this.#usageInStep) this.#push({ type: "usage.updated", usage: note.usage, at: this.#at });
    this.#usageInStep = false;
  }

  #spoken(note: Note<"spoken">): void {
    if (note.step !== null && this.#salvage(note.step) && this.#said.has(note.part.text)) return;
    this.#speak(note.id, note.part);
  }

  /** Everything that a broken step said, once. True when the step is such a one. */
  #salvage(step: string): boolean {
    const parts = this.#survey.salvaged.get(step);
    if (parts === undefined) return false;
    if (!this.#salvagedSteps.has(step)) {
      this.#salvagedSteps.add(step);
      for (const part of parts) this.#speak(null, part);
    }
    return true;
  }

  #speak(id: string | null, part: SpokenPart): void {
    this.#silence();
    const itemId = id !== null && !this.#itemIds.has(id) ? id : this.#number(part.kind);
    this.#itemIds.add(itemId);
    this.#said.add(part.text);
    this.#push({ type: "item.started", item: { kind: part.kind === "text" ? "message" : "reasoning", id: itemId, text: part.text }, at: this.#at });
    this.#speaking = itemId;
  }

  #silence(status: "succeeded" | "cancelled" | "failed" = "succeeded"): void {
    if (this.#speaking === null) return;
    this.#push({ type: "item.completed", itemId: this.#speaking, outcome: { status }, at: this.#at });
    this.#speaking = null;
  }

  #grownIfWhole(): void {
    const text = this.#growing?.text.trimEnd() ?? "";
    if (text.endsWith("}") && typeof argumentsOf(text) === "object") this.#grown();
  }

  #grown(): void {
    const { id, name, text } = this.#growing!;
    this.#growing = null;
    this.#call({ id, name, input: argumentsOf(text) });
  }

  /** A call that was announced before, by an approval, only gets its arguments. Models use ids again once they are free. */
  #call(call: KnownCall): OpenCall {
    this.#silence();
    const known = this.#open.get(call.id);
    if (known !== undefined) {
      if (JSON.stringify(known.input) !== JSON.stringify(call.input)) {
        known.input = call.input;
        this.#push({ type: "item.updated", itemId: known.itemId, update: { type: "input", input: call.input }, at: this.#at });
      }
      return known;
    }
    const itemId = freeId(this.#itemIds, call.id);
    const opened: OpenCall = { ...call, itemId, declined: false };
    this.#open.set(call.id, opened);
    this.#push({ type: "item.started", item: { kind: "tool", id: itemId, name: call.name, input: call.input }, at: this.#at });
    return opened;
  }

  #result(note: Note<"result">): void {
    this.#silence();
    const call = note.callId === null ? undefined : this.#open.get(note.callId);
    if (call === undefined) {
      if (note.callId !== null && this.#itemIds.has(note.callId)) return this.#count("result.copy", note.callId);
      this.#count("result.withoutCall", note.callId);
      const known = note.callId === null ? undefined : this.#survey.calls.get(note.callId);
      const opened = this.#call(known ?? { id: note.callId ?? this.#number("result"), name: "tool_result", input: note.callId === null ? {} : { tool_call_id: note.callId } });
      return this.#close(opened, note);
    }
    this.#close(call, note);
  }

  #close(call: OpenCall, note: Note<"result">): void {
    const { outcome, result } = resultOf(note, call.name, call.declined);
    const edits = this.#context.files.editsOf(call.name, call.input, outcome.status === "succeeded", note.diffs);
    if (edits !== null) result.edits = edits;
    if (startsAgents(call.name)) result.children = this.#children.after(call.id, outcome, note.output);
    this.#closeAsksOf(call.id);
    this.#open.delete(call.id);
    this.#push({ type: "item.completed", itemId: call.itemId, outcome, result, at: this.#at });
  }

  #approval(note: Note<"approval">): void {
    const { callId, toolName, title, display } = note;
    const known = callId === null ? undefined : (this.#open.get(callId) ?? this.#survey.calls.get(callId));
    const own = callId !== null && (known !== undefined || toolName !== null);
    // An approval for a sub-agent's call concerns no item of this turn.
    if (own && !this.#open.has(callId)) this.#call({ id: callId, name: known?.name ?? toolName ?? "tool", input: known?.input ?? inputOfDisplay(display) });
    const command = stringOf(display["command"]);
    this.#ask(note.id, callId, {
      id: note.id, kind: "approval", about: command !== null ? "command" : isEdit(toolName ?? "") ? "fileChange" : "tool", title, command,
      cwd: filledString(display["cwd"]), offers: ["accept", "acceptForSession", "decline", "cancel"],
    });
  }

  #ask(id: string, callId: string | null, interaction: InteractionRequest): void {
    if (this.#asks.get(id)?.open === true) return;
    const call = callId === null ? undefined : this.#open.get(callId);
    this.#asks.set(id, { callId, open: true });
    this.#push({ type: "interaction.opened", interaction: call === undefined ? interaction : { ...interaction, itemId: call.itemId }, at: this.#at });
  }

  #answered(note: Note<"answered">): void {
    const ask = this.#asks.get(note.id);
    const callId = ask?.callId ?? (note.id.startsWith("call:") ? note.id.slice("call:".length) : null);
    const call = callId === null ? undefined : this.#open.get(callId);
    if (note.how === "declined" && call !== undefined) call.declined = true;
    if (ask?.open !== true) return;
    ask.open = false;
    this.#push({ type: "interaction.closed", interactionId: note.id, reason: note.how === "cancelled" ? "cancelled" : "answered", at: this.#at });
  }

  /** A call that has ended is not asked about any more. */
  #closeAsksOf(callId: string): void {
    for (const [id, ask] of this.#asks) {
      if (!ask.open || ask.callId !== callId) continue;
      ask.open = false;
      this.#push({ type: "interaction.closed", interactionId: id, reason: "cancelled", at: this.#at });
    }
  }

  #compact(phase: Note<"compaction">["phase"]): void {
    this.#silence();
    if (this.#compaction === null) {
      // A second word on the same compaction, or the end of one that nobody saw begin.
      if (phase === "cancelled" || (phase === "done" && this.#itemIds.has("compaction-1"))) return;
      this.#compaction = freeId(this.#itemIds, "compaction-1");
      this.#push({ type: "item.started", item: { kind: "compaction", id: this.#compaction }, at: this.#at });
    }
    if (phase === "begin") return;
    this.#push({ type: "item.completed", itemId: this.#compaction, outcome: { status: phase === "done" ? "succeeded" : "cancelled" }, at: this.#at });
    this.#compaction = null;
  }

  #showChildren(callId: string | null): void {
    const call = callId === null ? undefined : this.#open.get(callId);
    if (call === undefined) return;
    const children: ChildAgent[] = this.#children.of(call.id);
    this.#push({ type: "item.updated", itemId: call.itemId, update: { type: "children", children }, at: this.#at });
  }

  #aside(name: string, input: unknown, output: string | null, failed: boolean): void {
    this.#silence();
    this.#whole({ kind: "tool", id: this.#number("aside"), name, input }, failed, output);
  }

  #whole(item: Extract<HarnessEvent, { type: "item.started" }>["item"], failed = false, output: string | null = null): void {
    this.#push({ type: "item.started", item, at: this.#at });
    this.#push({ type: "item.completed", itemId: item.id, outcome: { status: failed ? "failed" : "succeeded" }, ...(output === null ? {} : { result: { output } }), at: this.#at });
  }

  #number(kind: string): string {
    this.#numbers += 1;
    return `${kind}:${this.#numbers}`;
  }

  #count(code: string, sample: string | null): void {
    this.#context.diagnostics.count(code, sample);
  }
}

function isEdit(name: string): boolean {
  return name === "Edit" || name === "Write" || name === "StrReplaceFile" || name === "WriteFile";
}

/** What an approval shows of a call whose arguments are not written (yet). */
function inputOfDisplay(display: JsonRecord): JsonRecord {
  const { command, path, before, after, content } = display;
  if (typeof command === "string") return { command };
  if (typeof path !== "string") return {};
  if (typeof content === "string") return { path, content };
  return typeof before === "string" && typeof after === "string" ? { path, old_string: before, new_string: after } : { path };
}
