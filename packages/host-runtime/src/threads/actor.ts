import type { HarnessAdapter, HarnessError, HarnessEvent, HarnessSession, InteractionRequest, OpenRequest, SessionOptions, TurnInput, TurnOutcome } from "@foldcast/protocol-core/harness";
import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { Thread, ThreadItem, ThreadStatus, Turn } from "@foldcast/protocol-core/wire";
import type { InteractionPolicy } from "../interactions/policy.ts";
import type { HarnessCatalogue } from "../harness/catalogue.ts";
import type { Logger } from "../log/logger.ts";
import type { ThreadRecord, ThreadStore, TurnFact } from "../store/store.ts";
import { Feed } from "./feed.ts";
import { InputQueue } from "./input-queue.ts";
import { projectorOptions } from "./projector-options.ts";
import { ReadState } from "./read-state.ts";
import { SessionHolder } from "./session.ts";
import { toWireSettings } from "./settings.ts";
import type { ThreadSettings } from "./settings.ts";
import { TurnRun } from "./turn-run.ts";
import { UsageTotals } from "./usage.ts";
import { previewOf, toWireThread } from "./wire-thread.ts";

/** What every thread needs of the host. */
export interface ThreadServices {
  now: () => number;
  newId: () => string;
  log: Logger;
  store: ThreadStore;
  catalogue: HarnessCatalogue;
  interactions: InteractionPolicy;
  /** To every initialized connection. */
  broadcast(method: string, params: object): void;
}

/** Ended turns that are kept in memory: all there is of a harness that saves nothing. */
const MAX_KEPT_RUNS = 50;
/** How long a harness may take to end a cancelled turn before its session is dropped. */
const CANCEL_PATIENCE_MS = 10_000;

/**
 * One loaded thread: its harness session, its running turn, who watches it, what waits. Everything in it happens in one
 * order, and whatever throws in it fails its own turn only.
 */
export class ThreadActor {
  readonly feed: Feed;
  readonly readState: ReadState;
  readonly queue: InputQueue;
  readonly usage = new UsageTotals();
  /** The turn that `usage` belongs to. */
  usageTurnId: string | null = null;
  settings: ThreadSettings;
  readonly #services: ThreadServices;
  readonly #session: SessionHolder;
  #record: ThreadRecord;
  #adapter: HarnessAdapter | null = null;
  #status: ThreadStatus = { type: "idle" };
  #run: TurnRun | null = null;
  #kept: TurnRun[] = [];
  /** The running turn that came out of the queue, until the harness has it. */
  #sending: { run: TurnRun; queuedId: string } | null = null;
  #selected: SessionOptions | null = null;
  #closed = false;
  /** Goes up whenever a turn begins or ends: what was read of the history before may be out of date then. */
  #version = 0;

  constructor(record: ThreadRecord, settings: ThreadSettings, services: ThreadServices) {
    this.#record = record;
    this.settings = settings;
    this.#services = services;
    this.feed = new Feed(record.id, services.now);
    this.readState = new ReadState(record.id, services.newId);
    this.queue = new InputQueue({
      threadId: record.id,
      store: record.ephemeral ? null : services.store,
      onChanged: () => this.feed.notify("thread/queue/changed", { threadId: record.id }),
    });
    this.#session = new SessionHolder({ event: (event) => this.#onEvent(event), ended: (error) => this.#onSessionEnded(error) }, services.log);
  }

  get id(): string {
    return this.#record.id;
  }
  get record(): Readonly<ThreadRecord> {
    return this.#record;
  }
  get status(): ThreadStatus {
    return this.#status;
  }
  /** The running turn, or null. */
  get run(): TurnRun | null {
    return this.#run;
  }
  /** Ended turns of this process, oldest first; bounded. */
  get keptRuns(): readonly TurnRun[] {
    return this.#kept;
  }
  /** True while the harness holds this conversation open. */
  get hasSession(): boolean {
    return this.#session.current !== null;
  }
  get version(): number {
    return this.#version;
  }
  /** True once a first turn was accepted: before, the thread is nowhere listed and has no history. */
  get materialized(): boolean {
    return this.#record.harness !== null;
  }

  toWire(turns: Turn[] = []): Thread {
    return toWireThread({ ...this.#record, model: this.#record.model ?? this.settings.model, effort: this.settings.effort }, this.#status, turns);
  }

  /** Changes what is kept of the thread. */
  update(change: Partial<ThreadRecord>): void {
    this.#record = { ...this.#record, ...change };
    if (!this.#record.ephemeral) this.#services.store.saveThread(this.#record);
  }

  /** Takes new settings and tells who watches. `model` is what the thread really runs on. */
  applySettings(settings: ThreadSettings, model: string): void {
    this.settings = settings;
    this.feed.notify("thread/settings/updated", { threadId: this.id, threadSettings: toWireSettings(settings, model) });
  }

  /** Binds the thread to its harness; idempotent. Rejects when that harness is not here. */
  async bind(harness: string): Promise<HarnessAdapter> {
    this.#adapter ??= await this.#services.catalogue.adapter(harness);
    return this.#adapter;
  }

  /**
   * Accepts an input on an idle thread and gives the turn; `begin` starts it, after the response is out. The thread
   * must be bound.
   */
  accept(input: TurnInput): { turnId: string; begin: () => void } {
    const run = this.#newRun(input);
    this.#run = run;
    this.#version += 1;
    const now = this.#services.now();
    this.update({
      harness: this.#adapter!.manifest.id,
      model: this.settings.model,
      effort: this.settings.effort,
      cwd: this.settings.cwd,
      preview: this.#record.preview === "" ? previewOf(input.input) : this.#record.preview,
      updatedAt: now,
      recencyAt: now,
    });
    return {
      turnId: run.id,
      begin: () => {
        if (this.#run !== run) return;
        this.#setStatus({ type: "active", activeFlags: [] });
        void this.#drive(run);
      },
    };
  }

  /**
   * Accepts an input that the host answers itself with one message. No harness is started, and the thread stays as it
   * was. For the helper turns that clients open on their own account.
   */
  acceptHostTurn(input: TurnInput, answer: string): { turnId: string; begin: () => void } {
    const run = this.#newRun(input);
    this.#run = run;
    this.#version += 1;
    const begin = (): void => {
      const at = this.#services.now();
      this.#setStatus({ type: "active", activeFlags: [] });
      run.apply({ type: "turn.started", turnKey: `host:${run.id}`, at, input: input.input, clientId: input.clientId });
      run.apply({ type: "item.started", item: { kind: "message", id: "answer", phase: "final_answer" }, at });
      run.apply({ type: "item.updated", itemId: "answer", update: { type: "text", append: answer }, at });
      run.apply({ type: "item.completed", itemId: "answer", outcome: { status: "succeeded" }, at });
      this.#endRun(run, { status: "succeeded" });
    };
    return { turnId: run.id, begin };
  }

  /** Adds input to the running turn, or keeps it for the next one where the harness cannot take it now. */
  async add(input: TurnInput): Promise<void> {
    const run = this.#run;
    const mayBeSteered = run !== null && !run.cancelRequested && this.#adapter?.manifest.capabilities.steer === true;
    if (mayBeSteered && run.turnKey !== null && (await this.#steer(input))) return;
    const id = this.#services.newId();
    this.queue.add({ id, ...input, metadata: null });
    // The harness does not know of the turn yet: the input goes in as soon as it does, and is kept until then.
    if (mayBeSteered && run.turnKey === null) run.early.push(id);
    if (this.#run === null) this.startQueued()?.begin();
  }

  /** False when the harness did not take it. The turn ended in between, as a rule. */
  async #steer(input: TurnInput): Promise<boolean> {
    const session = this.#session.current;
    if (session === null) return false;
    try {
      await session.steer(input);
      return true;
    } catch (error) {
      this.#services.log.debug("steering failed, the input waits", { threadId: this.id, error });
      return false;
    }
  }

  /** Hands over what came while the turn was on its way to the harness; what it does not take is the next turn. */
  async #steerEarly(run: TurnRun): Promise<void> {
    for (const id of run.early.splice(0)) {
      if (this.#run !== run || run.cancelRequested) return;
      const queued = this.queue.entries.find((entry) => entry.id === id);
      if (queued !== undefined && (await this.#steer({ input: queued.input, clientId: queued.clientId }))) this.queue.delete(id);
    }
  }

  /**
   * Accepts an input that waits, the first one if none is named, as `accept` does. Null when a turn runs, or it does
   * not wait, or the thread's harness is not there to run it.
   */
  startQueued(id: string | null = null): { turnId: string; begin: () => void } | null {
    if (this.#run !== null || this.#closed || this.#adapter === null) return null;
    const queued = this.queue.take(id);
    if (queued === null) return null;
    const accepted = this.accept({ input: queued.input, clientId: queued.clientId });
    this.#sending = { run: this.#run!, queuedId: queued.id };
    return accepted;
  }

  /** Ends the running turn. Its end reaches clients as `turn/completed`; never waits for it. */
  interrupt(): void {
    const run = this.#run;
    if (run === null || run.cancelRequested) return;
    run.cancelRequested = true;
    // At once: an approval that comes in while the turn is on its way out must not reach the harness.
    this.#services.interactions.turnOver(run.id);
    const session = this.#session.current;
    // Nothing runs in the harness yet: the turn ends here, and what still opens is ready for the next one.
    if (session === null || !run.handedOver) return this.#endRun(run, { status: "cancelled" });
    this.#guard(session.cancel());
    const patience = setTimeout(() => {
      if (this.#run !== run) return;
      this.#services.log.warn("the harness did not end a cancelled turn; dropping its session", { threadId: this.id });
      void this.#session.discard();
      this.#endRun(run, { status: "cancelled" });
    }, CANCEL_PATIENCE_MS);
    patience.unref();
  }

  /**
   * Goes on in a copy of a saved session, which ends with the given turn; with none, in a new session of its own. For
   * forks and reverts. `kept` are the turns that the thread still has. Rejects, with nothing changed, while a turn runs
   * and when the harness cannot make the copy. The thread must be bound.
   */
  async continueFrom(source: { nativeSessionId: string; throughTurnKey: string } | null, kept: ReadonlySet<string>): Promise<void> {
    await this.#session.settled();
    const options = this.#sessionOptions();
    const copy = source === null ? null : await this.#adapter!.open({ kind: "fork", ...source, options });
    if (this.#run !== null || this.#closed) {
      await copy?.close();
      throw invalidRequest("a turn is in progress");
    }
    this.#selected = options;
    if (copy === null) this.#guard(this.#session.discard());
    else this.#session.adopt(copy);
    this.dropKept(kept);
    this.update({ nativeSessionId: copy?.nativeSessionId ?? null, file: copy?.file ?? null });
  }

  /** Forgets ended turns that no saved session has. */
  dropKept(kept: ReadonlySet<string>): void {
    this.#kept = this.#kept.filter((run) => kept.has(run.id));
    this.#version += 1;
  }

  /** Lets go of the harness; a running turn ends as interrupted. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#run !== null) this.#services.interactions.turnOver(this.#run.id);
    await this.#session.close();
    if (this.#run !== null) this.#endRun(this.#run, { status: "cancelled" });
  }

  #newRun(input: TurnInput): TurnRun {
    const harness = this.#adapter?.manifest.id ?? this.#record.harness ?? "";
    const run = new TurnRun({
      input,
      feed: this.feed,
      now: this.#services.now,
      projector: { ...projectorOptions({ id: this.id, harness, cwd: this.settings.cwd }, this.#services.catalogue.toolMaps), turnId: this.#services.newId() },
      onUsage: (report) => {
        this.usageTurnId = run.id;
        this.feed.notify("thread/tokenUsage/updated", { threadId: this.id, turnId: run.id, tokenUsage: this.usage.add(report) });
      },
      onInteraction: (request, item) => this.#onInteraction(run, request, item),
      onInteractionClosed: (requestId) => this.#services.interactions.closed(run.id, requestId),
      onClosing: (turn) => this.#onClosing(run, turn),
    });
    return run;
  }

  async #drive(run: TurnRun): Promise<void> {
    try {
      const adapter = this.#adapter!;
      const known = this.#session.current;
      const session = await this.#session.open(adapter, () => this.#openRequest(adapter));
      this.update({ nativeSessionId: session.nativeSessionId, file: session.file });
      if (session === known) await this.#select(session, adapter);
      if (run.ended) return;
      run.handedOver = true;
      await session.startTurn(run.input);
    } catch (error) {
      if (run.ended) return;
      if (run.cancelRequested) this.#endRun(run, { status: "cancelled" });
      else this.#failRun(run, { message: messageOf(error) });
    }
  }

  #sessionOptions(): SessionOptions {
    const { cwd, model, effort, permissions } = this.settings;
    return { cwd, model: model === null ? null : model.slice(model.indexOf("/") + 1), thinking: effort, permissionMode: permissions };
  }

  /** Tells an open session what changed since its last turn. */
  async #select(session: HarnessSession, adapter: HarnessAdapter): Promise<void> {
    const options = this.#sessionOptions();
    const change: Partial<Omit<SessionOptions, "cwd">> = {};
    if (adapter.manifest.capabilities.selectModel && options.model !== this.#selected?.model) change.model = options.model;
    if (options.thinking !== this.#selected?.thinking) change.thinking = options.thinking;
    if (options.permissionMode !== this.#selected?.permissionMode) change.permissionMode = options.permissionMode;
    if (Object.keys(change).length === 0) return;
    await session.select(change);
    this.#selected = options;
  }

  #openRequest(adapter: HarnessAdapter): OpenRequest {
    const { nativeSessionId } = this.#record;
    const options = this.#sessionOptions();
    this.#selected = options;
    if (nativeSessionId === null) return { kind: "create", options };
    if (!adapter.manifest.capabilities.resume) throw new Error(`${adapter.manifest.displayName} cannot continue a session that has ended`);
    return { kind: "resume", nativeSessionId, options };
  }

  #onEvent(event: HarnessEvent): void {
    if (event.type === "session.state") return this.#onSessionState(event.state);
    let run = this.#run;
    if (event.type === "turn.started") {
      // Nobody asked for it, or what was asked for is over already: the agent started by itself.
      if (run === null || run.turnKey !== null) run = this.#adopt(event);
      this.#sent(run);
      this.#saveFact({ turnId: run.id, turnKey: event.turnKey, outcome: null, startedAt: event.at, completedAt: null });
    }
    if (run === null) return this.#services.log.debug("an event outside of a turn", { threadId: this.id, type: event.type });
    try {
      run.apply(event);
      // A cancel that came before the harness knew of the turn may have been lost.
      if (event.type === "turn.started" && run.cancelRequested) this.#cancelAgain();
      else if (event.type === "turn.started" && run.early.length > 0) this.#guard(this.#steerEarly(run));
      if (event.type === "turn.completed") this.#finish(run, event.outcome, event.at);
    } catch (error) {
      this.#services.log.error("a turn failed in the host", { threadId: this.id, turnId: run.id, error });
      this.#failRun(run, { message: `internal error: ${messageOf(error)}` });
    }
  }

  #cancelAgain(): void {
    const session = this.#session.current;
    if (session !== null) this.#guard(session.cancel());
  }

  #adopt(event: Extract<HarnessEvent, { type: "turn.started" }>): TurnRun {
    if (this.#run !== null) this.#endRun(this.#run, { status: "cancelled", reason: "superseded" });
    this.#run = this.#newRun({ input: event.input, clientId: event.clientId ?? null });
    this.#version += 1;
    this.#setStatus({ type: "active", activeFlags: [] });
    return this.#run;
  }

  #onSessionState(state: Extract<HarnessEvent, { type: "session.state" }>["state"]): void {
    const change: Partial<ThreadRecord> = {};
    if (state.nativeSessionId !== undefined) change.nativeSessionId = state.nativeSessionId;
    if (state.file !== undefined) change.file = state.file;
    if (Object.keys(change).length > 0) this.update(change);
    if (state.title != null && state.title !== "" && this.#record.name === null) this.rename(state.title);
  }

  /** Sets the name and tells everybody. */
  rename(name: string): void {
    this.update({ name });
    this.#services.broadcast("thread/name/updated", { threadId: this.id, threadName: name });
  }

  #onInteraction(run: TurnRun, request: InteractionRequest, item: ThreadItem | null): void {
    const session = this.#session.current;
    // A turn that was told to end gets no answer any more: its end closes what is open.
    if (session === null || run.cancelRequested || this.#closed) return;
    this.#services.interactions.opened(request, {
      threadId: this.id,
      turnId: run.id,
      cwd: this.settings.cwd,
      item,
      screens: this.feed,
      answer: (given) => this.#guard(session.answer(request.id, given)),
      interrupt: () => {
        if (this.#run === run) this.interrupt();
      },
      waiting: (flags) => {
        if (this.#run === run) this.#setStatus({ type: "active", activeFlags: [...flags] });
      },
    });
  }

  #onClosing(run: TurnRun, turn: Turn): void {
    this.#services.interactions.turnOver(run.id);
    this.readState.turnEnded(run.id);
    this.#services.broadcast("thread/readState/changed", { threadId: this.id, readState: this.readState.toWire() });
    this.#setStatus(turn.status === "failed" ? { type: "systemError" } : { type: "idle" });
  }

  #onSessionEnded(error: HarnessError | null): void {
    if (this.#run === null) return;
    if (error === null) this.#endRun(this.#run, { status: "cancelled" });
    else this.#failRun(this.#run, error);
  }

  #failRun(run: TurnRun, error: HarnessError): void {
    this.#endRun(run, { status: "failed", error });
  }

  /** Ends a turn from our side, with the frames that every end has. */
  #endRun(run: TurnRun, outcome: TurnOutcome): void {
    const at = this.#services.now();
    try {
      if (run.turnKey === null) run.apply({ type: "turn.started", turnKey: `host:${run.id}`, at, input: run.input.input, clientId: run.input.clientId });
      if (!run.ended) run.apply({ type: "turn.completed", outcome, at });
    } catch (error) {
      this.#services.log.error("ending a turn failed", { threadId: this.id, turnId: run.id, error });
      this.#setStatus({ type: "systemError" });
    }
    this.#finish(run, outcome, at);
  }

  #finish(run: TurnRun, outcome: TurnOutcome, at: number | null): void {
    // Again, for an end that could not be delivered.
    this.#services.interactions.turnOver(run.id);
    if (this.#run !== run) return;
    this.#run = null;
    this.#version += 1;
    this.#kept.push(run);
    if (this.#kept.length > MAX_KEPT_RUNS) this.#kept.shift();
    const fact = run.turnKey === null ? null : this.#services.store.turnByKey(this.id, run.turnKey);
    this.#saveFact({ turnId: run.id, turnKey: run.turnKey, outcome, startedAt: fact?.startedAt ?? null, completedAt: at });
    this.update({ updatedAt: this.#services.now() });
    if (run.diagnostics.size > 0) this.#services.log.info("diagnostics of a turn", { threadId: this.id, turnId: run.id, diagnostics: Object.fromEntries(run.diagnostics) });
    // What was told to a harness, or failed before a person's eyes, waits no more; what a shutdown cut off does.
    if (!this.#closed || run.handedOver) this.#sent(run);
    this.startQueued()?.begin();
  }

  #saveFact(fact: TurnFact): void {
    if (!this.#record.ephemeral) this.#services.store.saveTurn(this.id, fact);
  }

  #sent(run: TurnRun): void {
    if (this.#sending?.run !== run) return;
    this.queue.sent(this.#sending.queuedId);
    this.#sending = null;
  }

  #setStatus(status: ThreadStatus): void {
    this.#status = status;
    this.#services.broadcast("thread/status/changed", { threadId: this.id, status });
  }

  #guard(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#services.log.warn("the harness refused", { threadId: this.id, error }));
  }

}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
