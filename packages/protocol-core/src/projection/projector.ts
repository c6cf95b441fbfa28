import type { DeliveryPolicy } from "../delivery/policy.ts";
import { durationOrNull, secondsOf, timeOrNull } from "../harness/index.ts";
import type { HarnessEvent, HarnessItem, ItemOutcome, ItemResult, ItemUpdate, TurnOutcome } from "../harness/index.ts";
import { isRenderable } from "../folding/index.ts";
import { interpretCall, interpretResult, ruleOf, type CallReading, type ToolMap } from "../tools/index.ts";
import type { FileChangeItem, ThreadItem, Turn, TurnStatus } from "../wire/index.ts";
import { CappedText } from "./capped-text.ts";
import { Diagnostics } from "./diagnostics.ts";
import { currentItem, isUnknown, type Entry, type IdKind } from "./entries.ts";
import { changeOfEdit } from "./file-changes.ts";
import { decidePhase, isBlank, type VisibleItem } from "./final-answer.ts";
import { buildItem, type BuildContext } from "./item-builder.ts";
import { MergedView } from "./merged-view.ts";
import { idKindOf, shapeOf } from "./shapes.ts";
import { NetChanges } from "./net-changes.ts";
import { auditOf } from "./detail.ts";
import { toTurnError, type OutputAudience, type ProjectorOutput } from "./outputs.ts";

export interface ProjectorOptions {
  turnId: string;
  threadId: string;
  /** The session's working directory, absolute. */
  cwd: string;
  /** Tool-name maps by harness id; `defaultMap` names the session's own. */
  toolMaps: Readonly<Record<string, ToolMap>>;
  defaultMap: string;
  /** The thread id of a child agent, from the harness's own id of it. */
  childThreadId(ref: string): string;
}

const SUCCEEDED: ItemOutcome = { status: "succeeded" };
const CANCELLED: ItemOutcome = { status: "cancelled" };
const HELD: OutputAudience = { messages: "held" };
const EAGER: OutputAudience = { messages: "eager" };
const EACH: OutputAudience = { edits: "each" };
const MERGED: OutputAudience = { edits: "merged" };
/** Cannot be an adapter's id: those are the harness's own words. */
const INPUT_ID = "\u0000input";

/** A class, as an object literal with a getter would cost the engine a hidden class for each turn. */
class Context implements BuildContext {
  readonly #options: ProjectorOptions;
  readonly #cwd: () => string;

  constructor(options: ProjectorOptions, cwd: () => string) {
    this.#options = options;
    this.#cwd = cwd;
  }

  get threadId(): string {
    return this.#options.threadId;
  }
  get cwd(): string {
    return this.#cwd();
  }
  childThreadId(ref: string): string {
    return this.#options.childThreadId(ref);
  }
}

/**
 * Makes Codex items of one turn from harness events: the only place where that happens, live and from history. State
 * in, event in, outputs out; the cost of an event does not depend on the turn so far. A fresh one per turn.
 */
export class TurnProjector {
  readonly #options: ProjectorOptions;
  readonly #context: BuildContext;
  readonly #entries = new Map<string, Entry>();
  /** What clients have that get one file change an edit, in their order: the canonical order of starts. */
  readonly #shown: Entry[] = [];
  /** The same for clients that merge edits. */
  readonly #merged = new MergedView();
  readonly #counts = new Map<IdKind, number>();
  /** Background id of a command or task → the item that started it. */
  readonly #background = new Map<string, string>();
  readonly #turnChanges = new NetChanges();
  readonly #diagnostics = new Diagnostics();
  /** The last shown item if it is a completed message whose phase is still open: its one completion is held back. */
  #held: Entry | null = null;
  /** What was shown last, records of unknown kinds aside. */
  #lastKnown: Entry | null = null;
  #cwd: string;
  #started = false;
  #status: TurnStatus = "inProgress";
  #error: Turn["error"] = null;
  #startedAt: number | null = null;
  #completedAt: number | null = null;
  #durationMs: number | null = null;

  constructor(options: ProjectorOptions) {
    this.#options = options;
    this.#cwd = options.cwd;
    this.#context = new Context(options, () => this.#cwd);
  }

  get status(): TurnStatus {
    return this.#status;
  }

  /** Code → how often, and a raw sample of the first case. */
  get diagnostics(): ReadonlyMap<string, { count: number; sample: string | null }> {
    return this.#diagnostics.all;
  }

  /** Outputs that the event causes, in order. Never throws. Events after the turn's end are dropped and counted. */
  apply(event: HarnessEvent): ProjectorOutput[] {
    const out: ProjectorOutput[] = [];
    this.#guard(() => this.#apply(event, out));
    return out;
  }

  /** Null when the work fails: what an adapter sends may have any form. */
  #guard<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#diagnostics.count("event.malformed", error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  /** The turn as a client of this policy has it now, all items. */
  turn(policy: DeliveryPolicy): Turn {
    const items = policy.edits === "each" ? this.#shown.map(currentItem) : this.#merged.items();
    return this.#turn(items.filter((item) => item !== null), "full");
  }

  /** Unified diff of the whole turn in git's form, up to now. */
  diff(): string {
    return this.#turnChanges.diff(this.#cwd);
  }

  /** The summary's changes so far, for clients that merge edits; to be pulled with the diff. Null without a running summary. */
  patch(): ProjectorOutput | null {
    return this.#merged.patch();
  }

  #apply(event: HarnessEvent, out: ProjectorOutput[]): void {
    if (this.#status !== "inProgress") {
      this.#diagnostics.count("order.afterEnd", event.type);
      return;
    }
    const at = timeOrNull(event.at);
    if (!this.#started && event.type !== "turn.started") {
      if (event.type === "session.state") return;
      if (event.type !== "fault") this.#diagnostics.count("order.beforeStart", event.type);
      this.#start(at, out);
    }
    switch (event.type) {
      case "turn.started":
        if (this.#started) return this.#diagnostics.count("order.startedTwice", event.turnKey);
        this.#cwd = event.cwd ?? this.#cwd;
        this.#start(at, out);
        if (event.input.length > 0) {
          const item: HarnessItem = { kind: "userMessage", id: INPUT_ID, content: event.input, clientId: event.clientId ?? null };
          this.#open(item, at, out);
        }
        return;
      case "item.started":
        return this.#open(event.item, at, out);
      case "item.updated": {
        const entry = this.#openEntry(event.itemId, "update");
        if (entry !== null) this.#update(entry, event.update, out);
        return;
      }
      case "item.completed": {
        const entry = this.#openEntry(event.itemId, "completion");
        if (entry !== null) this.#complete(entry, event.outcome, event.result ?? null, at, out);
        return;
      }
      case "plan.updated":
        out.push({ type: "plan.updated", plan: [...event.plan], explanation: event.explanation ?? null });
        return;
      case "usage.updated":
        out.push({ type: "usage.updated", usage: event.usage });
        return;
      case "interaction.opened":
        out.push({ type: "interaction.opened", interaction: event.interaction, itemId: this.#itemOfInteraction(event.interaction.itemId, out) });
        return;
      case "interaction.closed":
        out.push({ type: "interaction.closed", interactionId: event.interactionId, reason: event.reason });
        return;
      case "retry":
        out.push({ type: "error", error: toTurnError(event.error), willRetry: true });
        return;
      case "turn.completed":
        return this.#end(event.outcome, at, event.durationMs ?? null, out);
      case "fault":
        return this.#end({ status: "failed", error: event.error }, at, null, out);
      case "session.state":
        return;
      default:
        this.#diagnostics.count("event.unknown", JSON.stringify(event));
    }
  }

  #start(at: number | null, out: ProjectorOutput[]): void {
    this.#started = true;
    this.#startedAt = at;
    out.push({ type: "turn.started", turn: this.#turn([], "notLoaded") });
  }

  #openEntry(id: string, what: string): Entry | null {
    const entry = this.#entries.get(id);
    if (entry?.open === true) return entry;
    this.#diagnostics.count(entry === undefined ? "order.unknownItem" : "order.afterCompletion", `${what} of ${id}`);
    return null;
  }

  #open(source: HarnessItem, at: number | null, out: ProjectorOutput[]): void {
    if (this.#entries.has(source.id)) return this.#diagnostics.count("order.duplicateItem", source.id);
    const entry: Entry = {
      source, reading: null, resultReading: null, shape: source.kind === "tool" ? null : shapeOf(source, null, this.#cwd), item: null, open: true, outcome: null, startedAt: at, text: "", output: null,
      edits: source.kind === "fileChange" ? source.edits : [], children: source.kind === "agent" ? source.children : [],
      ownItem: false, merged: false, shownToMerging: false, result: null, waitsFor: null, truncated: false,
    };
    this.#entries.set(source.id, entry);
    switch (source.kind) {
      case "userMessage":
        if (source.content.length > 0) this.#show(entry, out);
        return this.#complete(entry, SUCCEEDED, null, at, out);
      case "message":
      case "reasoning":
        if (source.text !== undefined && source.text !== "") this.#appendText(entry, source.text, out);
        return;
      case "plan":
        entry.text = source.text;
        if (!isBlank(source.text)) this.#show(entry, out);
        return;
      case "tool":
        return this.#read(entry, source.name, source.input, source.map, out);
      case "fileChange":
        return this.#showEdits(entry, out);
      default:
        this.#show(entry, out);
    }
  }

  /** Reads (again) what a tool call is and shows it as soon as there is something to show. */
  #read(entry: Entry, name: string, input: unknown, map: string | undefined, out: ProjectorOutput[]): void {
    const tools = this.#options.toolMaps[map ?? this.#options.defaultMap] ?? {};
    const reading = interpretCall({ name, input, rule: ruleOf(tools, name), cwd: this.#cwd });
    const shape = shapeOf(entry.source, reading, this.#cwd);
    if (entry.item !== null && entry.shape !== null && idKindOf(shape) !== idKindOf(entry.shape)) {
      return this.#diagnostics.count("item.typeChanged", name);
    }
    entry.reading = reading;
    entry.shape = shape;
    if (shape.item === "wait" && shape.target !== null) entry.waitsFor = this.#background.get(shape.target) ?? null;
    if (shape.item === "edits") {
      entry.edits = shape.edits ?? [];
      return this.#showEdits(entry, out);
    }
    if (shape.item === "plan") {
      if (shape.plan !== null) out.push({ type: "plan.updated", plan: shape.plan, explanation: shape.explanation });
      return;
    }
    if (entry.item === null) this.#show(entry, out);
  }

  /** An edit without a readable change waits: its completion may bring one. */
  #showEdits(entry: Entry, out: ProjectorOutput[]): void {
    if (entry.item === null && entry.edits.length > 0) this.#show(entry, out);
  }

  #update(entry: Entry, update: ItemUpdate, out: ProjectorOutput[]): void {
    switch (update.type) {
      case "text":
        if (entry.source.kind === "message" || entry.source.kind === "reasoning") return this.#appendText(entry, update.append, out);
        break;
      case "output":
        (entry.output ??= new CappedText()).append(update.append);
        if (entry.item?.type === "commandExecution" && update.append !== "") out.push({ type: "output.delta", itemId: entry.item.id, delta: update.append });
        return;
      case "input":
        if (entry.source.kind === "tool") return this.#read(entry, entry.source.name, update.input, entry.source.map, out);
        break;
      case "edits":
        if (entry.shape?.item !== "edits") break;
        entry.edits = update.edits;
        return this.#showEdits(entry, out);
      case "children":
        entry.children = update.children;
        return;
    }
    this.#diagnostics.count("order.updateDoesNotFit", `${update.type} of ${entry.source.kind}`);
  }

  /** Text is shown from its first visible character on; blank beginnings wait. */
  #appendText(entry: Entry, append: string, out: ProjectorOutput[]): void {
    entry.text += append;
    let delta = append;
    if (entry.item === null) {
      if (isBlank(append)) return;
      delta = entry.text;
      const item = this.#show(entry, out);
      if (item.type === "reasoning") out.push({ type: "reasoning.part", itemId: item.id, index: 0 });
    }
    const itemId = entry.item!.id;
    if (entry.source.kind === "message") out.push({ type: "message.delta", itemId, delta });
    else out.push({ type: "reasoning.delta", itemId, index: 0, delta });
  }

  /** Gives the item to clients. A held message is no longer the last one then, unless nobody knows what the item is. */
  #show(entry: Entry, out: ProjectorOutput[]): ThreadItem {
    if (!isUnknown(entry.source)) {
      this.#releaseHeld(out);
      this.#lastKnown = entry;
    }
    const shape = entry.shape!;
    const item = this.#build(this.#nextId(idKindOf(shape)), entry)!;
    entry.item = item;
    this.#shown.push(entry);
    const audience = shape.item === "edits" ? EACH : undefined;
    if (audience === undefined) this.#merged.show(entry);
    out.push(this.#itemOutput("item.started", entry, entry.startedAt, audience));
    return item;
  }

  #releaseHeld(out: ProjectorOutput[]): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    out.push(this.#itemOutput("item.completed", held, held.item!.completedAtMs ?? null, HELD));
  }

  #complete(entry: Entry, outcome: ItemOutcome, result: ItemResult | null, at: number | null, out: ProjectorOutput[]): void {
    if (result?.text !== undefined) this.#replaceText(entry, result.text, out);
    entry.open = false;
    entry.result = result;
    if (result?.children !== undefined) entry.children = result.children;
    const told = entry.reading === null ? outcome : this.#readResult(entry, entry.reading, outcome, result);
    if (result?.edits !== undefined) entry.edits = result.edits;
    const shape = entry.shape;
    if (shape?.item === "edits") return this.#completeEdits(entry, told, at, out);
    entry.outcome = told;
    if (entry.item === null) {
      if (entry.source.kind === "message") this.#diagnostics.count("hidden.blankMessage", null);
      else if (entry.source.kind === "reasoning") this.#diagnostics.count("hidden.emptyReasoning", null);
      return;
    }
    const phase = entry.source.kind === "message" ? (entry.source.phase ?? null) : null;
    entry.item = this.#build(entry.item.id, entry, at)!;
    if (shape?.item !== "message" || phase !== null || this.#lastKnown !== entry) {
      out.push(this.#itemOutput("item.completed", entry, at));
      return;
    }
    this.#held = entry;
    out.push(this.#itemOutput("item.completed", entry, at, EAGER));
  }

  /** What the result tells. Gives the outcome: a transport may say that a call failed which its harness calls completed. */
  #readResult(entry: Entry, reading: CallReading, outcome: ItemOutcome, result: ItemResult | null): ItemOutcome {
    const read = interpretResult(reading, {
      outcome,
      output: result?.output ?? null,
      structured: result?.structured ?? null,
      content: result?.content ?? null,
      edits: result?.edits ?? null,
      exitCode: result?.exitCode ?? null,
      durationMs: result?.durationMs ?? null,
    });
    entry.resultReading = read;
    if (read.backgroundId !== null && entry.item !== null) this.#background.set(read.backgroundId, entry.item.id);
    if (read.edits !== null) entry.edits = read.edits;
    entry.result = {
      ...result,
      output: read.output,
      ...(read.content === null ? {} : { content: read.content }),
      exitCode: read.exitCode,
      durationMs: read.durationMs,
      ...(read.sources === null ? {} : { results: read.sources }),
    };
    return read.failed && outcome.status === "succeeded" ? { status: "failed" } : outcome;
  }

  /** The completed text is authoritative. One that nobody saw yet is streamed first, since clients draw from deltas. */
  #replaceText(entry: Entry, text: string, out: ProjectorOutput[]): void {
    if (text === entry.text) return;
    if (entry.item === null) {
      entry.text = "";
      if (!isBlank(text) && (entry.source.kind === "message" || entry.source.kind === "reasoning")) this.#appendText(entry, text, out);
      else if (!isBlank(text) && entry.source.kind === "plan") this.#show(entry, out);
    } else if (entry.text !== "") this.#diagnostics.count("text.replaced", null);
    entry.text = text;
  }

  #completeEdits(entry: Entry, outcome: ItemOutcome, at: number | null, out: ProjectorOutput[]): void {
    // The change may have become readable only with the result; if it never does, nothing is shown.
    if (entry.item === null && entry.edits.some((edit) => changeOfEdit(edit) !== null)) this.#show(entry, out);
    entry.outcome = outcome;
    if (entry.item === null) return this.#diagnostics.count("hidden.unreadableEdit", entry.source.kind === "tool" ? entry.source.name : null);
    const item = this.#build(entry.item.id, entry, at) as FileChangeItem;
    entry.item = item;
    const changed = outcome.status === "succeeded" && item.changes.length > 0;
    if (changed) {
      for (const edit of entry.edits) this.#turnChanges.add(edit);
      out.push({ type: "diff.changed" });
    }
    if (entry.ownItem) {
      out.push(this.#itemOutput("item.completed", entry, at));
      return;
    }
    out.push(this.#itemOutput("item.completed", entry, at, EACH));
    if (changed) return this.#merged.merge(entry, at, () => this.#nextId("files"), out);
    if (outcome.status === "succeeded") return;
    this.#merged.showAlone(entry, out);
    out.push(this.#itemOutput("item.completed", entry, at, MERGED));
  }

  /** An edit that needs an approval is an item of its own for everybody, and must be there before the request. */
  #itemOfInteraction(itemId: string | undefined, out: ProjectorOutput[]): string | null {
    const entry = itemId === undefined ? undefined : this.#entries.get(itemId);
    if (entry === undefined) return null;
    // A text without anything to see stays hidden, and a plan is no item: nothing is asked about them.
    const isText = entry.source.kind === "message" || entry.source.kind === "reasoning" || entry.source.kind === "plan";
    if (entry.item === null && entry.open && !isText && entry.shape?.item !== "plan") this.#show(entry, out);
    if (entry.open && entry.item?.type === "fileChange") {
      entry.ownItem = true;
      this.#merged.showAlone(entry, out);
    }
    return entry.item?.id ?? null;
  }

  #end(outcome: TurnOutcome, at: number | null, durationMs: number | null, out: ProjectorOutput[]): void {
    for (const entry of this.#entries.values()) {
      if (!entry.open) continue;
      if (entry.item !== null) this.#diagnostics.count("order.openAtEnd", entry.source.id);
      // An item that cannot be told must not keep the turn from ending.
      this.#guard(() => this.#complete(entry, CANCELLED, null, at, out));
    }
    const decided = this.#guard(() => this.#decidePhase(outcome, out));
    this.#completedAt = at;
    this.#merged.finish(at, out);
    this.#durationMs = durationOrNull(durationMs) ?? (this.#startedAt === null || at === null ? null : Math.max(0, at - this.#startedAt));
    this.#status = outcome.status === "failed" ? "failed" : outcome.status === "cancelled" ? "interrupted" : "completed";
    if (outcome.status === "failed") {
      this.#error = toTurnError(outcome.error);
      out.push({ type: "error", error: this.#error, willRetry: false });
    }
    // The decided message comes first: a client that got its completion before learns its phase here only.
    const last = (decided ?? this.#shown.findLast((entry) => entry.item?.type === "agentMessage"))?.item ?? null;
    out.push({ type: "turn.completed", turn: last === null ? this.#turn([], "notLoaded") : this.#turn([last], "summary") });
  }

  #decidePhase(outcome: TurnOutcome, out: ProjectorOutput[]): Entry | null {
    const decision = decidePhase(this.#canonicalItems(), outcome);
    const entry = decision?.item.entry ?? null;
    if (decision !== null && entry !== null) {
      const held = this.#held === entry;
      if (held) this.#held = null;
      entry.item = { ...entry.item!, phase: decision.phase } as ThreadItem;
      out.push(this.#itemOutput("item.completed", entry, entry.item.completedAtMs ?? null, held ? undefined : EAGER));
    }
    this.#releaseHeld(out);
    return entry;
  }

  /** Visible items in canonical order: edits that merge count only at the first one, and only if a net change is left. */
  #canonicalItems(): (VisibleItem & { entry: Entry })[] {
    const items: (VisibleItem & { entry: Entry })[] = [];
    let summaryPending = this.#merged.hasNetChange;
    for (const entry of this.#shown) {
      const { item, source } = entry;
      if (entry.merged) {
        if (!summaryPending) continue;
        summaryPending = false;
      } else if (item === null || !isRenderable(item)) continue;
      const isMessage = source.kind === "message";
      items.push({ entry, isMessage, isUnknown: isUnknown(source), phase: isMessage ? (source.phase ?? null) : null, text: entry.text, outcome: entry.outcome });
    }
    return items;
  }

  #build(id: string, entry: Entry, completedAt?: number | null): ThreadItem | null {
    return buildItem(id, entry, this.#context, completedAt);
  }

  #itemOutput(type: "item.started" | "item.completed", entry: Entry, at: number | null, audience?: OutputAudience): ProjectorOutput {
    return { audience, type, item: entry.item!, at: at ?? 0, detail: auditOf(entry) };
  }

  #nextId(kind: IdKind): string {
    const n = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, n);
    return `${this.#options.turnId}:${kind}:${n}`;
  }

  #turn(items: ThreadItem[], itemsView: Turn["itemsView"]): Turn {
    return {
      id: this.#options.turnId, rootTurnId: this.#options.turnId, items, itemsView, status: this.#status, error: this.#error,
      startedAt: secondsOf(this.#startedAt), completedAt: secondsOf(this.#completedAt), durationMs: this.#durationMs,
    };
  }
}
