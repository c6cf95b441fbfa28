import type { HarnessAdapter, HarnessError, HarnessEvent, HarnessSession, InteractionRequest, TurnOutcome } from "@foldcast/protocol-core/harness";
import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { Thread, ThreadItem, ThreadStatus, Turn } from "@foldcast/protocol-core/wire";
import type { InteractionHome } from "../interactions/policy.ts";
import type { QueuedInput, ThreadRecord } from "../store/store.ts";
import { Background } from "./background.ts";
import { EndedRuns } from "./ended-runs.ts";
import type { EndedRun } from "./ended-runs.ts";
import { Feed } from "./feed.ts";
import { InputQueue } from "./input-queue.ts";
import { interactionHome } from "./interaction-home.ts";
import { KeptRecord } from "./kept-record.ts";
import { projectorOptions } from "./projector-options.ts";
import { ReadState } from "./read-state.ts";
import type { ThreadServices } from "./services.ts";
import { SessionHolder } from "./session.ts";
import { sessionOptions } from "./session-options.ts";
import { toWireSettings } from "./settings.ts";
import type { ThreadSettings } from "./settings.ts";
import { Steering } from "./steering.ts";
import { textInput } from "./thread-input.ts";
import type { ThreadInput } from "./thread-input.ts";
import { TurnRun } from "./turn-run.ts";
import { UsageTotals } from "./usage.ts";
import { previewOf, toWireThread } from "./wire-thread.ts";

/** A turn that was accepted; `begin` starts it, after the response is out. */
export interface AcceptedTurn {
  turnId: string;
  begin: () => void;
}

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
  readonly #steering: Steering;
  readonly #background = new Background();
  readonly #kept: KeptRecord;
  #adapter: HarnessAdapter | null = null;
  #status: ThreadStatus = { type: "idle" };
  #run: TurnRun | null = null;
  readonly #ended = new EndedRuns();
  /** The running turn whose input is kept in the store, until the harness has it. */
  #sending: { run: TurnRun; queuedId: string } | null = null;
  /** A compaction waits for the end of the running turn, before everything else that waits. */
  #compactNext = false;
  /** Nothing new begins any more. */
  #closed = false;
  /** Wait for the end of the running turn. */
  readonly #onTurnOver: (() => void)[] = [];
  /** Goes up whenever a turn begins or ends: what was read of the history before may be out of date then. */
  #version = 0;

  constructor(record: ThreadRecord, settings: ThreadSettings, services: ThreadServices) {
    this.#kept = new KeptRecord(record, services.store);
    this.settings = settings;
    this.#services = services;
    this.feed = new Feed(record.id, services.now);
    this.readState = new ReadState(record.id, services.newId);
    this.queue = new InputQueue({
      threadId: record.id,
      store: record.ephemeral ? null : services.store,
      onChanged: () => this.feed.notify("thread/queue/changed", { threadId: record.id }),
    });
    this.#session = new SessionHolder({
      event: (event) => this.#onEvent(event),
      ended: (error) => this.#onSessionEnded(error),
      released: () => this.#ended.sessionOver(this.#savesTurns),
      mayRelease: () => this.#run === null && !this.#background.active && this.record.nativeSessionId !== null && this.#adapter?.manifest.capabilities.resume === true,
      idleMs: services.idleSessionMs,
      now: services.now,
      schedule: services.schedule,
      log: services.log,
    });
    this.#steering = new Steering(this.queue, () => this.#session.current, services.log);
  }

  get id(): string {
    return this.#kept.current.id;
  }
  get record(): Readonly<ThreadRecord> {
    return this.#kept.current;
  }
  get status(): ThreadStatus {
    return this.#status;
  }
  /** The running turn, or null. */
  get run(): TurnRun | null {
    return this.#run;
  }
  /** Ended turns of this process, oldest first; bounded. */
  get endedRuns(): readonly EndedRun[] {
    return this.#ended.list;
  }
  /** True while the harness holds this conversation open. */
  get hasSession(): boolean {
    return this.#session.current !== null;
  }
  /** The harness writes its turns where they can be read again. */
  get #savesTurns(): boolean {
    return this.record.file !== null && this.#adapter?.history != null;
  }
  /** True once nothing new begins on it. */
  get closed(): boolean {
    return this.#closed;
  }
  get version(): number {
    return this.#version;
  }
  /** True once a first turn was accepted: before, the thread is nowhere listed and has no history. */
  get materialized(): boolean {
    return this.record.harness !== null;
  }

  /**
   * Since when nobody watches and nothing goes on, in Unix milliseconds; null where there is something that would be lost
   * with the loaded thread.
   */
  get unusedSince(): number | null {
    const { emptySince } = this.feed;
    if (emptySince === null || this.#run !== null || this.hasSession || (this.#ended.list.length > 0 && !this.#savesTurns)) return null;
    return Math.max(emptySince, this.record.updatedAt);
  }

  toWire(): Thread {
    return toWireThread({ ...this.record, model: this.record.model ?? this.settings.model, effort: this.settings.effort }, this.#status);
  }

  /** Changes what is kept of the thread, as a client asked for it. Throws, with nothing changed, where it cannot be saved. */
  update(change: Partial<ThreadRecord>): void {
    this.#kept.update(change);
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
  accept(input: ThreadInput): AcceptedTurn {
    // Until the harness has the input it is kept as one that waits: a server that dies in between does not lose it.
    const queued: QueuedInput = { id: this.#services.newId(), ...input, metadata: null };
    const accepted = this.#begin(input, (session) => session.startTurn({ input: input.input, clientId: input.clientId }));
    if (this.queue.hold(queued)) this.#sending = { run: this.#run!, queuedId: queued.id };
    return accepted;
  }

  /**
   * Shortens the context, in a turn of its own. As with Codex 0.171 a running turn is interrupted for it. The thread must
   * be bound to a harness that can.
   */
  compact(): void {
    if (this.#run === null) return this.#acceptCompaction().begin();
    this.#compactNext = true;
    this.interrupt();
  }

  #acceptCompaction(): AcceptedTurn {
    this.#compactNext = false;
    const accepted = this.#begin({ input: [], clientId: null }, (session) => session.compact!());
    this.#run!.takesInput = false;
    return accepted;
  }

  #begin(input: ThreadInput, start: (session: HarnessSession) => Promise<void>): AcceptedTurn {
    this.#services.interactions.turnBegins(this.id);
    const run = this.#newRun(input);
    this.#run = run;
    this.#version += 1;
    const now = this.#services.now();
    this.#kept.note({
      harness: this.#adapter!.manifest.id,
      model: this.settings.model,
      effort: this.settings.effort,
      cwd: this.settings.cwd,
      preview: this.record.preview === "" ? previewOf(input.input) : this.record.preview,
      updatedAt: now,
      recencyAt: now,
    });
    return {
      turnId: run.id,
      begin: () => {
        if (this.#run !== run) return;
        this.#setStatus({ type: "active", activeFlags: [] });
        void this.#drive(run, start);
      },
    };
  }

  /**
   * Accepts an input that the host answers itself with one message. No harness is started, and the thread stays as it
   * was. For the helper turns that clients open on their own account.
   */
  acceptHostTurn(input: ThreadInput, answer: string): AcceptedTurn {
    const run = this.#newRun(input);
    this.#run = run;
    this.#version += 1;
    const begin = (): void => {
      const at = this.#services.now();
      this.#setStatus({ type: "active", activeFlags: [] });
      run.begin(at);
      run.say(answer, at);
      this.#endRun(run, { status: "succeeded" });
    };
    return { turnId: run.id, begin };
  }

  /** Adds input to the running turn, or keeps it for the next one where the harness cannot take it now. */
  async add(input: ThreadInput): Promise<void> {
    const run = this.#run;
    run?.noteOrigin(input);
    const mayBeSteered = run !== null && !run.cancelRequested && run.takesInput && this.#adapter?.manifest.capabilities.steer === true;
    if (mayBeSteered && run.turnKey !== null && (await this.#steering.hand(input))) return;
    const id = this.#services.newId();
    this.queue.add({ id, ...input, metadata: null });
    // The harness does not know of the turn yet: the input goes in as soon as it does, and is kept until then.
    if (mayBeSteered && run.turnKey === null) run.early.push(id);
    if (this.#run === null) this.#startMeant()?.begin();
  }

  /**
   * Accepts an input that waits, the first one if none is named, as `accept` does. Null when a turn runs, or it does
   * not wait, or the thread's harness is not there to run it.
   */
  startQueued(id: string | null = null): AcceptedTurn | null {
    if (this.#run !== null || this.#closed || this.#adapter === null) return null;
    const queued = this.queue.take(id);
    if (queued === null) return null;
    const input: ThreadInput = { input: queued.input, clientId: queued.clientId, ...(queued.origin === undefined ? {} : { origin: queued.origin }) };
    const accepted = this.#begin(input, (session) => session.startTurn({ input: input.input, clientId: input.clientId }));
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
    this.#services.schedule(CANCEL_PATIENCE_MS, () => {
      if (this.#run !== run) return;
      this.#services.log.warn("the harness did not end a cancelled turn; dropping its session", { threadId: this.id });
      void this.#session.discard();
      this.#background.clear();
      this.#endRun(run, { status: "cancelled" });
    });
  }

  /** Ends the running turn, and begins nothing that waits in its place. Resolves when it is over. */
  async interruptAlone(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    run.endsAlone = true;
    const over = new Promise<void>((resolve) => this.#onTurnOver.push(resolve));
    this.interrupt();
    await over;
  }

  /**
   * Goes on in a copy of a saved session, which ends with the given turn; with none, in a new session of its own. For
   * forks and reverts. `kept` are the turns that the thread still has. Rejects, with nothing changed, while a turn runs
   * and when the harness cannot make the copy. The thread must be bound.
   */
  async continueFrom(source: { nativeSessionId: string; throughTurnKey: string } | null, kept: ReadonlySet<string>): Promise<void> {
    await this.#session.settled();
    const options = sessionOptions(this.settings);
    const copy = source === null ? null : await this.#services.starts.run(() => this.#adapter!.open({ kind: "fork", ...source, options }));
    if (this.#run !== null || this.#closed) {
      await copy?.close();
      throw invalidRequest("a turn is in progress");
    }
    try {
      this.update({ nativeSessionId: copy?.nativeSessionId ?? null, file: copy?.file ?? null });
    } catch (error) {
      // What cannot be kept must not be true until the next start only.
      await copy?.close();
      throw error;
    }
    this.#background.clear();
    if (copy === null) this.#guard(this.#session.discard());
    else this.#session.adopt(copy, options);
    this.dropKept(kept);
  }

  /** Forgets ended turns that no saved session has. */
  dropKept(kept: ReadonlySet<string>): void {
    this.#ended.keep(kept);
    this.#version += 1;
  }

  /** Interrupts the running turn and starts no other; what waits stays kept. Resolves when no turn runs. */
  async drain(): Promise<void> {
    this.#closed = true;
    await this.interruptAlone();
  }

  /** Lets go of the harness; a running turn ends as interrupted. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#services.interactions.threadOver(this.id);
    await this.#session.close();
    if (this.#run !== null) this.#endRun(this.#run, { status: "cancelled" });
  }

  #newRun(input: ThreadInput): TurnRun {
    const harness = this.#adapter?.manifest.id ?? this.record.harness ?? "";
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
      onItem: (item) => this.#background.sawItem(item),
      onClosing: (turn) => this.#onClosing(run, turn),
    });
    return run;
  }

  async #drive(run: TurnRun, start: (session: HarnessSession) => Promise<void>): Promise<void> {
    try {
      const open = this.#session.current;
      if (open !== null) {
        // What changed since its last turn.
        await this.#session.select(this.#adapter!, sessionOptions(this.settings));
        await this.#handOver(run, open, start);
      } else {
        await this.#services.starts.run(async () => {
          // The turn may be over before its harness was allowed to start.
          if (!run.ended) await this.#handOver(run, await this.#openSession(), start);
        });
      }
    } catch (error) {
      if (run.ended) return;
      if (run.cancelRequested) this.#endRun(run, { status: "cancelled" });
      else this.#failRun(run, { message: messageOf(error) });
    }
  }

  async #openSession(): Promise<HarnessSession> {
    const session = await this.#session.open(this.#adapter!, () => ({ nativeSessionId: this.record.nativeSessionId, options: sessionOptions(this.settings) }));
    this.#kept.note({ nativeSessionId: session.nativeSessionId, file: session.file });
    return session;
  }

  async #handOver(run: TurnRun, session: HarnessSession, start: (session: HarnessSession) => Promise<void>): Promise<void> {
    if (run.ended) return;
    run.handedOver = true;
    await start(session);
  }

  #onEvent(event: HarnessEvent): void {
    if (event.type === "session.state") return this.#onSessionState(event.state);
    let run = this.#run;
    if (event.type === "turn.started") {
      // Nobody asked for it, or what was asked for is over already: the agent started by itself.
      if (run === null || run.turnKey !== null) run = this.#adopt(event);
      this.#sent(run);
      this.#kept.fact({ turnId: run.id, turnKey: event.turnKey, outcome: null, startedAt: event.at, completedAt: null, ...run.originFact });
    }
    if (run === null) return this.#services.log.debug("an event outside of a turn", { threadId: this.id, type: event.type });
    try {
      run.apply(event);
      // A cancel that came before the harness knew of the turn may have been lost.
      if (event.type === "turn.started" && run.cancelRequested) this.#cancelAgain();
      else if (event.type === "turn.started" && run.early.length > 0) this.#guard(this.#steering.handEarly(run, () => this.#run === run && !run.cancelRequested));
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
    if (this.#run !== null) {
      this.#run.endsAlone = true;
      this.#endRun(this.#run, { status: "cancelled", reason: "superseded" });
    }
    this.#services.interactions.turnBegins(this.id);
    this.#run = this.#newRun({ input: event.input, clientId: event.clientId ?? null });
    this.#run.handedOver = true;
    this.#version += 1;
    this.#setStatus({ type: "active", activeFlags: [] });
    return this.#run;
  }

  #onSessionState(state: Extract<HarnessEvent, { type: "session.state" }>["state"]): void {
    const change: Partial<ThreadRecord> = {};
    if (state.nativeSessionId !== undefined) change.nativeSessionId = state.nativeSessionId;
    if (state.file !== undefined) change.file = state.file;
    this.#background.sawState(state);
    if (Object.keys(change).length > 0) this.#kept.note(change);
    if (state.title != null && state.title !== "" && this.record.name === null) this.#rename(state.title);
  }

  /** Takes the name that the harness gave, and tells everybody. */
  #rename(name: string): void {
    this.#kept.note({ name });
    this.#services.broadcast("thread/name/updated", { threadId: this.id, threadName: name });
  }

  #onInteraction(run: TurnRun, request: InteractionRequest, item: ThreadItem | null): void {
    const session = this.#session.current;
    // A turn that was told to end gets no answer any more: its end closes what is open.
    if (session === null || run.cancelRequested || this.#closed) return;
    this.#services.interactions.opened(request, {
      ...this.interactionHome(run, item),
      answer: (given, words) => this.#guard(session.answer(request.id, given).finally(() => (words === null ? undefined : this.add(textInput(words))))),
      interrupt: () => {
        if (this.#run === run) this.interrupt();
      },
      waiting: (flags) => {
        if (this.#run === run) this.#setStatus({ type: "active", activeFlags: [...flags] });
      },
    });
  }

  /** What an interaction needs of this thread; as it stands, for one that nothing in it waits for. */
  interactionHome(run = this.#run ?? this.#ended.last, item: ThreadItem | null = null): InteractionHome {
    return interactionHome({
      threadId: this.id,
      cwd: this.settings.cwd,
      screens: this.feed,
      takesDenyText: this.#adapter?.manifest.capabilities.denyText !== false,
      run,
      item,
      input: (text, origin) => this.#guard(this.add(textInput(text, origin))),
    });
  }

  #onClosing(run: TurnRun, turn: Turn): void {
    this.#services.interactions.turnOver(run.id);
    // Measured: a turn that only shortens the context leaves nothing to read.
    if (run.takesInput) {
      this.readState.turnEnded(run.id);
      this.#services.broadcast("thread/readState/changed", { threadId: this.id, readState: this.readState.toWire() });
    }
    this.#setStatus(turn.status === "failed" ? { type: "systemError" } : { type: "idle" });
  }

  #onSessionEnded(error: HarnessError | null): void {
    this.#background.clear();
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
      run.end(outcome, at);
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
    this.#ended.add(run, this.#savesTurns);
    this.#kept.fact({ turnId: run.id, turnKey: run.turnKey, outcome, startedAt: this.#kept.startOf(run.turnKey), completedAt: at, ...run.originFact });
    this.#kept.note({ updatedAt: this.#services.now() });
    if (run.diagnostics.size > 0) this.#services.log.info("diagnostics of a turn", { threadId: this.id, turnId: run.id, diagnostics: Object.fromEntries(run.diagnostics) });
    // What was told to a harness, or failed before a person's eyes, waits no more; what a shutdown cut off does.
    if (!this.#closed || run.handedOver) this.#sent(run);
    if (!run.endsAlone) this.#nextOf(run)?.begin();
    for (const resolve of this.#onTurnOver.splice(0)) resolve();
  }

  /**
   * What begins by itself after this turn. As with Codex 0.171 nothing of a client's own queue does after an interrupt: it
   * waits for the end of a later turn. What was meant for the turn that was interrupted goes on.
   */
  #nextOf(run: TurnRun): AcceptedTurn | null {
    if (this.#compactNext && !this.#closed) return this.#acceptCompaction();
    if (!run.cancelRequested) return this.startQueued();
    return this.#startMeant();
  }

  /** The first of what waits that no client put there by itself. */
  #startMeant(): AcceptedTurn | null {
    const meant = this.queue.entries.find(({ byClient }) => byClient !== true);
    return meant === undefined ? null : this.startQueued(meant.id);
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
