import type { HarnessEvent, HarnessItem, ItemOutcome, ItemResult } from "@foldcast/protocol-core/harness";
import { contentOf, terminalsOf } from "./content.ts";
import type { AcpDialect, CallView } from "./dialect.ts";
import { editsOf } from "./edits.ts";
import { freeId } from "../history/free-id.ts";
import { type JsonRecord, filledString, objectOf } from "../json.ts";

interface Call {
  itemId: string;
  all: Record<string, unknown>;
  firstTitle: string | null;
  shown: HarnessItem | null;
  /** Output that was given as updates. */
  streamed: string;
  declined: boolean;
  ended: boolean;
}

/** A call that something is asked about. `itemId` null = it is no item of the turn. */
export interface Demanded {
  events: HarnessEvent[];
  itemId: string | null;
  call: JsonRecord;
}

/** The end of a terminal's command, as this client's own terminals know it. */
export interface TerminalState {
  output: string;
  exitCode: number | null;
}

/**
 * Tool calls of one turn. `tool_call`, `tool_call_update` and the call in a permission request are one thing: an update
 * by id, in any order; a call may begin with any of them.
 */
export class AcpCalls {
  readonly #dialect: AcpDialect;
  readonly #terminal: (id: string) => TerminalState | null;
  readonly #calls = new Map<string, Call>();
  readonly #itemIds = new Set<string>();
  #stopped = false;

  constructor(dialect: AcpDialect, terminal: (id: string) => TerminalState | null) {
    this.#dialect = dialect;
    this.#terminal = terminal;
  }

  /** Takes an update; the call is shown as soon as it is known what it is. */
  update(update: JsonRecord, at: number): HarnessEvent[] {
    const id = filledString(update["toolCallId"]);
    if (id === null) return [];
    const call = this.#merge(id, update);
    // What comes behind the end has no place any more.
    if (call.ended) return [];
    const view = viewOf(id, call);
    const { status } = view;
    const over = status === "completed" || status === "failed";
    const events = over || this.#isKnown(view) ? this.#show(id, call, at) : [];
    if (call.shown !== null) events.push(...this.#grow(call, viewOf(id, call), over, at));
    if (over) events.push(...this.#end(id, call, status === "completed" ? "succeeded" : "failed", at));
    return events;
  }

  /** Shows a call that something is asked about, whatever is known of it; `call` is that with what was known before. */
  demand(update: JsonRecord, at: number): Demanded {
    const id = filledString(update["toolCallId"]);
    if (id === null) return { events: [], itemId: null, call: update };
    const call = this.#merge(id, update);
    const events = this.#show(id, call, at);
    const rawInput = call.shown?.kind === "tool" ? call.shown.input : call.all["rawInput"];
    return { events, itemId: call.ended ? null : call.itemId, call: { ...call.all, rawInput } };
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  /** The person refused it: the failure that follows is no failure of the tool. */
  decline(itemId: string): void {
    for (const call of this.#calls.values()) if (call.itemId === itemId) call.declined = true;
  }

  /** The turn was stopped. Agents report what they stopped as completed (OpenCode, Gemini): from here on that says nothing. */
  stop(): void {
    this.#stopped = true;
  }

  /** Something else is shown next: what waits for its input takes its place before it. */
  flush(at: number): HarnessEvent[] {
    return [...this.#calls].flatMap(([id, call]) => (call.shown === null && !call.ended ? this.#show(id, call, at) : []));
  }

  /** Calls without an end when their turn ends. */
  close(at: number): HarnessEvent[] {
    return [...this.#calls].flatMap(([id, call]) => (call.ended ? [] : [...this.#show(id, call, at), ...this.#end(id, call, "cancelled", at)]));
  }

  /** Output of a terminal of ours that a call shows. */
  terminalOutput(terminalId: string, append: string, at: number): HarnessEvent[] {
    for (const call of this.#calls.values()) {
      if (call.ended || call.shown === null || !terminalsOf(call.all["content"]).includes(terminalId)) continue;
      call.streamed += append;
      return [{ type: "item.updated", itemId: call.itemId, update: { type: "output", append }, at }];
    }
    return [];
  }

  #merge(id: string, update: JsonRecord): Call {
    let call = this.#calls.get(id);
    // Models use ids again; what begins behind the end of a call is another one.
    if (call === undefined || (call.ended && update["sessionUpdate"] === "tool_call")) {
      call = { itemId: freeId(this.#itemIds, this.#dialect.callId?.(id) ?? id), all: {}, firstTitle: null, shown: null, streamed: "", declined: false, ended: false };
      this.#calls.set(id, call);
    }
    call.firstTitle ??= filledString(update["title"]);
    const meta = { ...objectOf(call.all["_meta"]), ...objectOf(update["_meta"]) };
    for (const [name, value] of Object.entries(update)) if (value !== undefined && value !== null) call.all[name] = value;
    call.all["_meta"] = meta;
    return call;
  }

  #isKnown(view: CallView): boolean {
    if (this.#input(view) !== undefined || editsOf(view.content).length > 0) return true;
    return view.status === "in_progress" && this.#dialect.streamsInput !== true;
  }

  #input(view: CallView): unknown {
    if (this.#dialect.toolInput !== undefined) return this.#dialect.toolInput(view);
    const { rawInput } = view;
    return typeof rawInput === "object" && rawInput !== null && Object.keys(rawInput).length > 0 ? rawInput : undefined;
  }

  #show(id: string, call: Call, at: number): HarnessEvent[] {
    if (call.shown !== null || call.ended) return [];
    const view = viewOf(id, call);
    const input = this.#input(view);
    const edits = editsOf(view.content);
    const name = this.#dialect.toolName?.(view) ?? view.name ?? view.kind ?? "tool";
    call.shown = input === undefined && edits.length > 0
      ? { kind: "fileChange", id: call.itemId, edits }
      : { kind: "tool", id: call.itemId, name, input: input ?? (view.title === null ? {} : { title: view.title }) };
    return [{ type: "item.started", item: call.shown, at }];
  }

  /** What came behind the beginning: other input, changes, more output. */
  #grow(call: Call, view: CallView, over: boolean, at: number): HarnessEvent[] {
    const { shown } = call;
    if (shown?.kind === "tool") {
      const input = this.#input(view);
      if (input !== undefined && JSON.stringify(input) !== JSON.stringify(shown.input)) {
        call.shown = { ...shown, input };
        return [{ type: "item.updated", itemId: call.itemId, update: { type: "input", input }, at }];
      }
    } else if (shown?.kind === "fileChange") {
      const edits = editsOf(view.content);
      if (edits.length > 0 && JSON.stringify(edits) !== JSON.stringify(shown.edits)) {
        call.shown = { ...shown, edits };
        return [{ type: "item.updated", itemId: call.itemId, update: { type: "edits", edits }, at }];
      }
    }
    // Content is the whole output so far; what does not go on from what was shown comes with the end.
    const text = over || this.#dialect.streamsInput === true ? null : (contentOf(view.content)?.text ?? null);
    if (text === null || text.length <= call.streamed.length || !text.startsWith(call.streamed)) return [];
    const append = text.slice(call.streamed.length);
    call.streamed = text;
    return [{ type: "item.updated", itemId: call.itemId, update: { type: "output", append }, at }];
  }

  #end(id: string, call: Call, status: "succeeded" | "failed" | "cancelled", at: number): HarnessEvent[] {
    if (call.ended) return [];
    call.ended = true;
    const view = viewOf(id, call);
    const outcome: ItemOutcome = { status: status === "failed" && call.declined ? "declined" : status === "succeeded" && this.#stopped ? "cancelled" : status };
    const given = { outcome, result: this.#resultOf(view) };
    const { outcome: told, result } = this.#dialect.result?.(view, given) ?? given;
    return [{ type: "item.completed", itemId: call.itemId, outcome: told, result, at }];
  }

  #resultOf(view: CallView): ItemResult {
    const content = contentOf(view.content);
    const edits = editsOf(view.content);
    const [terminalId] = terminalsOf(view.content);
    const terminal = terminalId === undefined ? null : this.#terminal(terminalId);
    const output = terminal?.output ?? content?.text ?? (typeof view.rawOutput === "string" ? view.rawOutput : null);
    return {
      ...(output === null ? {} : { output }),
      ...(content?.parts == null ? {} : { content: content.parts }),
      ...(typeof view.rawOutput === "object" && view.rawOutput !== null ? { structured: view.rawOutput } : {}),
      ...(terminal?.exitCode == null ? {} : { exitCode: terminal.exitCode }),
      ...(edits.length === 0 ? {} : { edits }),
    };
  }
}

function viewOf(id: string, { all, firstTitle }: Call): CallView {
  return {
    id, firstTitle, all,
    title: filledString(all["title"]),
    name: filledString(all["name"]),
    kind: filledString(all["kind"]),
    status: filledString(all["status"]),
    rawInput: all["rawInput"],
    rawOutput: all["rawOutput"],
    content: all["content"],
    meta: objectOf(all["_meta"]),
  };
}
