import { EventQueue, filledString, stringOf } from "@foldcast/adapter-kit";
import type {
  HarnessEnvironment, HarnessError, HarnessEvent, HarnessSession, InteractionAnswer, InteractionClosedReason, SessionOptions, SessionState, TurnInput, TurnOutcome,
} from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";
import { type Frame, isOfSubAgent, messageIds, requestOf } from "../program/frame.ts";
import { expectedFile, findSession, isFile } from "../program/places.ts";
import { ClaudeProgram, type ProgramExit } from "../program/program.ts";
import { answerOfNobody, type Ask, askOf } from "./asks.ts";
import { joinedInput, type MessageContent, messageContent } from "./input.ts";
import { modeOf, optionArgs, optionRequests } from "./modes.ts";
import { COMPACT, isCompact } from "../history/user-content.ts";
import { openingLines } from "./opening-lines.ts";
import { LiveTurn } from "./turn.ts";

export interface SessionSetup {
  nativeSessionId: string;
  /** Of a session that is there already; null for a new one. */
  file: string | null;
  options: SessionOptions;
  environment: HarnessEnvironment;
  bin: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  projects: string;
  /** Called once, when the session is over. */
  onEnd(): void;
}

const NO_CALLS: LiveTurn["openCalls"] = new Map();
/** The file is written soon after the program goes to work (measured: under 100 ms). */
const OPENING_PATIENCE_MS = 2000;
const OPENING_POLL_MS = 25;
/** How long a program may take to write down that a turn was interrupted, before it is ended. */
const CLOSING_PATIENCE_MS = 1500;

/** One conversation with a running `claude`. */
export class ClaudeSession implements HarnessSession {
  readonly #setup: SessionSetup;
  readonly #queue = new EventQueue<HarnessEvent>();
  readonly #asks = new Map<string, Ask>();
  /** Sent while a turn ran, and not taken up by the program yet. */
  readonly #waiting = new Map<string, TurnInput>();
  /** The newest line of the conversation that the program told. */
  #lastSeen: string | null = null;
  #options: SessionOptions;
  #nativeSessionId: string;
  #file: string;
  #program: ClaudeProgram | null = null;
  #turn: LiveTurn | null = null;
  /** A turn is on its way to the program. */
  #preparing = false;
  #cancelEarly = false;
  #state: SessionState = {};
  #over: "closed" | "faulted" | null = null;
  #closing: Promise<void> | null = null;
  #onTurnEnd: () => void = () => undefined;

  private constructor(setup: SessionSetup, file: string) {
    this.#setup = setup;
    this.#options = setup.options;
    this.#nativeSessionId = setup.nativeSessionId;
    this.#file = file;
  }

  /** Starts the program. Rejects with a readable message; nothing is left running then. */
  static async open(setup: SessionSetup): Promise<ClaudeSession> {
    const { projects, options, nativeSessionId } = setup;
    const session = new ClaudeSession(setup, setup.file ?? (await expectedFile(projects, options.cwd, nativeSessionId)));
    await session.#start(setup.file === null ? ["--session-id", nativeSessionId] : ["--resume", nativeSessionId]);
    return session;
  }

  get nativeSessionId(): string {
    return this.#nativeSessionId;
  }

  get file(): string {
    return this.#file;
  }

  get isOver(): boolean {
    return this.#over !== null;
  }

  get events(): AsyncIterable<HarnessEvent> {
    return this.#queue;
  }

  startTurn(input: TurnInput): Promise<void> {
    return this.#startTurn(input, () => messageContent(input.input));
  }

  compact(): Promise<void> {
    return this.#startTurn(null, () => Promise.resolve(COMPACT));
  }

  async steer(input: TurnInput): Promise<void> {
    this.#demandUsable();
    if (this.#turn === null) throw new Error("There is no running turn to steer.");
    const content = await messageContent(input.input);
    demandSameSession(content);
    this.#demandUsable();
    if (!this.#isBusy()) throw new Error("The turn has ended.");
    const id = this.#setup.environment.newId();
    this.#waiting.set(id, input);
    await this.#send(id, content);
  }

  async cancel(): Promise<void> {
    this.#demandUsable();
    if (this.#turn === null) {
      this.#cancelEarly = this.#preparing;
      return;
    }
    this.#turn.cancelAsked = true;
    if (this.#turn.onlyAsks) return this.#refuseAll();
    // What waits was meant for this turn, and must not start another one.
    await this.#program!.request({ subtype: "interrupt", cancel_queued: true }).catch((error: unknown) => {
      this.#log("warn", "Claude Code did not take an interrupt", { error });
    });
  }

  async answer(interactionId: string, answer: InteractionAnswer): Promise<void> {
    this.#demandUsable();
    const ask = this.#asks.get(interactionId);
    if (ask === undefined) throw new Error(`The request ${interactionId} is not open.`);
    const { interaction } = ask;
    if (interaction.kind !== answer.kind) throw new Error(`The request ${interactionId} is of kind ${interaction.kind}, the answer of kind ${answer.kind}.`);
    if (interaction.kind === "approval" && answer.kind === "approval" && !interaction.offers.includes(answer.decision)) {
      throw new Error(`The request ${interactionId} does not offer ${answer.decision}; it offers ${interaction.offers.join(", ")}.`);
    }
    if (answer.kind === "approval" && answer.decision === "cancel" && this.#turn !== null) this.#turn.cancelAsked = true;
    this.#closeAsk(interactionId, "answered");
    await this.#program!.answer(interactionId, ask.reply(answer));
  }

  async select(options: Partial<Omit<SessionOptions, "cwd">>): Promise<void> {
    this.#demandUsable();
    for (const request of optionRequests(options)) {
      const answer = await this.#program!.request(request);
      if (request["subtype"] === "set_model") this.#report({ model: filledString(answer["model"]) ?? stringOf(request["model"]) });
      else if (request["subtype"] === "set_permission_mode") this.#report({ permissionMode: filledString(answer["mode"]) ?? modeOf(options.permissionMode ?? null) });
    }
    this.#options = { ...this.#options, ...options };
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#over !== null) return this.#program?.close();
    const program = this.#program;
    const turn = this.#turn;
    this.#over = "closed";
    if (turn?.onlyAsks === false && program?.running === true) {
      // So that the file says it too; the program ends whether it does or not.
      const ended = new Promise<void>((resolve) => (this.#onTurnEnd = resolve));
      turn.cancelAsked = true;
      const patience = new AbortController();
      await Promise.race([
        program.request({ subtype: "interrupt", cancel_queued: true }).then(() => ended, () => undefined),
        this.#setup.environment.sleep(CLOSING_PATIENCE_MS, patience.signal).catch(() => undefined),
      ]);
      patience.abort();
    }
    if (this.#turn !== null) this.#endTurn({ status: "cancelled", reason: "The session was closed." });
    this.#queue.end();
    await program?.close();
    this.#setup.onEnd();
  }

  #now(): number {
    return this.#setup.environment.now();
  }

  #log(level: "debug" | "warn", message: string, fields: Record<string, unknown> = {}): void {
    this.#setup.environment.log(level, message, { session: this.#nativeSessionId, ...fields });
  }

  #demandUsable(): void {
    if (this.#over === "closed") throw new Error("The session is closed.");
    if (this.#over === "faulted") throw new Error("The session has failed; resume it to go on.");
  }

  #emit(...events: readonly HarnessEvent[]): void {
    for (const event of events) void this.#queue.push(event);
  }

  async #start(which: readonly string[]): Promise<void> {
    const { bin, args, env } = this.#setup;
    this.#program = await ClaudeProgram.start({
      bin, cwd: this.#options.cwd, env,
      args: [...which, ...optionArgs(this.#options), ...args],
      log: (...entry) => this.#setup.environment.log(...entry),
      onFrame: (frame) => this.#onFrame(frame),
      onEnd: (exit) => this.#onProgramEnd(exit),
    });
    this.#report({ nativeSessionId: this.#nativeSessionId, file: this.#file, permissionMode: filledString(this.#program.about["current_permission_mode"]) });
  }

  /** `input` null: nobody's input, the program is to shorten the conversation. */
  async #startTurn(input: TurnInput | null, prepare: () => Promise<MessageContent>): Promise<void> {
    this.#demandUsable();
    if (this.#turn !== null || this.#preparing) throw new Error("A turn is running already; wait for its end or cancel it.");
    const id = this.#setup.environment.newId();
    let content: MessageContent;
    this.#preparing = true;
    this.#cancelEarly = false;
    try {
      content = await prepare();
      demandSameSession(content);
      this.#demandUsable();
      if (this.#isBusy()) throw new Error("The agent has begun a turn by itself; wait for its end or cancel it.");
      this.#begin({ key: id, messages: [id], input: input?.input ?? [], clientId: input?.clientId ?? null, ofCommand: input !== null && isCommand(content) });
    } finally {
      this.#preparing = false;
    }
    await this.#send(id, content);
    if (this.#wasCancelled()) await this.cancel();
  }

  /** While the turn was on its way. */
  #wasCancelled(): boolean {
    return this.#cancelEarly;
  }

  #isBusy(): boolean {
    return this.#turn !== null;
  }

  /** What is asked goes on in this turn, where the one before was there for it alone. */
  #begin({ key, messages, input: sent, clientId, ofCommand }: { key: string; messages: readonly string[]; input: UserInput[]; clientId: string | null; ofCommand: boolean }): LiveTurn {
    const input = isCompact(sent) ? [] : sent;
    const asks = [...this.#asks.values()];
    if (this.#turn?.onlyAsks === true) this.#endTurn({ status: "succeeded" }, undefined, "superseded");
    const at = this.#now();
    const turn = new LiveTurn({ key, messages, ofCommand, startedAt: at, sessionId: this.#nativeSessionId });
    this.#turn = turn;
    this.#emit({
      type: "turn.started", turnKey: key, at, input, clientId, origin: input.length > 0 ? "user" : "agent",
      ...(this.#state.model === undefined ? {} : { model: this.#state.model }),
    });
    for (const ask of asks) this.#openAsk(ask);
    return turn;
  }

  /** A program that is gone shows at the end of its frames. */
  async #send(id: string, content: MessageContent): Promise<void> {
    await this.#program!.send({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "", uuid: id }).catch(() => undefined);
  }

  async #onFrame(frame: Frame): Promise<void> {
    const request = requestOf(frame);
    if (request !== null) this.#onRequest(request);
    else if (frame["type"] === "control_cancel_request") this.#closeAsk(filledString(frame["request_id"]) ?? "", "cancelled");
    else if (frame["type"] === "command_lifecycle") this.#onLifecycle(frame);
    else {
      if (frame["type"] === "system") await this.#onSystem(frame);
      this.#onRecord(frame);
    }
    await this.#queue.room();
  }

  async #onSystem(frame: Frame): Promise<void> {
    switch (frame["subtype"]) {
      case "init":
        return this.#onInit(frame);
      case "status": {
        const mode = filledString(frame["permissionMode"]);
        if (mode !== null) this.#report({ permissionMode: mode });
        return;
      }
      case "background_tasks_changed":
        if (Array.isArray(frame["tasks"])) this.#report({ backgroundTasks: frame["tasks"].length });
        return;
      default:
        return;
    }
  }

  /** Once a turn: says what the turn runs with, and that the program begins one. */
  async #onInit(frame: Frame): Promise<void> {
    const id = filledString(frame["session_id"]) ?? this.#nativeSessionId;
    const moved = id !== this.#nativeSessionId;
    this.#nativeSessionId = id;
    if (moved) this.#file = await expectedFile(this.#setup.projects, this.#options.cwd, id);
    this.#report({ model: filledString(frame["model"]), permissionMode: filledString(frame["permissionMode"]), ...(moved ? { nativeSessionId: id, file: this.#file } : {}) });
    const ids = messageIds(frame);
    if (this.#turn === null || this.#turn.onlyAsks) await this.#beginUnasked(ids);
    else if (ids.some((message) => this.#turn?.answers(message))) this.#turn.begun = true;
  }

  /** A turn that nobody waits for: of messages that came too late for the turn before, or the agent's own. */
  async #beginUnasked(ids: readonly string[]): Promise<void> {
    const known = ids.filter((id) => this.#waiting.has(id));
    const last = known.at(-1);
    if (last !== undefined) {
      const inputs = known.map((id) => this.#waiting.get(id)!);
      for (const id of known) this.#waiting.delete(id);
      const input = joinedInput(inputs.map((each) => each.input));
      // The file knows messages that were joined by the last one's id.
      this.#begin({ key: last, messages: known, input, clientId: inputs.at(-1)!.clientId, ofCommand: input[0]?.type === "text" && isCommand(input[0].text) }).begun = true;
      return;
    }
    const lines = await this.#openingLines();
    const key = filledString(lines[0]?.["uuid"]) ?? this.#setup.environment.newId();
    if (this.#over !== null) return;
    const turn = this.#begin({ key, messages: [], input: [], clientId: null, ofCommand: false });
    for (const line of lines) this.#emit(...turn.opening(line, this.#now()));
  }

  async #openingLines(): Promise<Awaited<ReturnType<typeof openingLines>>> {
    for (let waited = 0; waited < OPENING_PATIENCE_MS && this.#over === null; waited += OPENING_POLL_MS) {
      const lines = await openingLines(await this.#locate(), this.#lastSeen);
      if (lines.length > 0) return lines;
      await this.#setup.environment.sleep(OPENING_POLL_MS);
    }
    this.#log("warn", "What set the agent to work is not in its file");
    return [];
  }

  #onRecord(frame: Frame): void {
    const turn = this.#turn;
    const id = filledString(frame["uuid"]);
    if (id !== null && !isOfSubAgent(frame) && (frame["type"] === "user" || frame["type"] === "assistant")) this.#lastSeen = id;
    const isEcho = frame["type"] === "user" && frame["isReplay"] === true && !isOfSubAgent(frame) && id !== null;
    if (turn === null) return;
    const late = isEcho ? this.#waiting.get(id) : undefined;
    if (isEcho && turn.answers(id)) turn.begun = true;
    if (late !== undefined && turn.begun) {
      this.#waiting.delete(id!);
      return this.#emit(...turn.joining(id!, late, this.#now()));
    }
    const { events, outcome } = turn.step(frame, this.#now());
    this.#emit(...events);
    if (outcome === null) return;
    this.#endTurn(outcome, frame["duration_ms"]);
    void this.#locate();
  }

  /** What became of a message of ours. One that was dropped before the program came to it gets no `result`. */
  #onLifecycle(frame: Frame): void {
    const id = filledString(frame["command_uuid"]) ?? "";
    const turn = this.#turn?.answers(id) === true ? this.#turn : null;
    if (frame["state"] === "started" && turn !== null) turn.begun = true;
    if (frame["state"] === "queued" && turn !== null) turn.queued = true;
    if (frame["state"] !== "cancelled") return;
    this.#waiting.delete(id);
    if (turn !== null && !turn.begun) this.#endTurn(turn.cancelAsked ? { status: "cancelled" } : { status: "failed", error: { message: "Claude Code dropped the message." } });
  }

  #onRequest(request: NonNullable<ReturnType<typeof requestOf>>): void {
    const ask = askOf(request, this.#turn?.openCalls ?? NO_CALLS);
    if (ask === null) {
      this.#log("debug", "A question of Claude Code that nobody can answer", { subtype: request.subtype });
      const answer = answerOfNobody(request.subtype);
      return void (answer === null ? this.#program!.refuse(request.id, `${request.subtype} is not supported here`) : this.#program!.answer(request.id, answer));
    }
    // A sub-agent in the background asks whether a turn runs or not; a person is asked in a turn.
    if (this.#turn === null) this.#begin({ key: request.id, messages: [], input: [], clientId: null, ofCommand: false }).onlyAsks = true;
    this.#openAsk(ask);
  }

  #openAsk(ask: Ask): void {
    this.#asks.set(ask.interaction.id, ask);
    this.#emit({ type: "interaction.opened", interaction: ask.interaction, at: this.#now() });
  }

  #closeAsk(id: string, reason: InteractionClosedReason): void {
    if (!this.#asks.delete(id)) return;
    this.#emit({ type: "interaction.closed", interactionId: id, reason, at: this.#now() });
    if (this.#turn?.onlyAsks === true && this.#asks.size === 0) this.#endTurn(this.#turn.cancelAsked ? { status: "cancelled" } : { status: "succeeded" });
  }

  async #refuseAll(): Promise<void> {
    for (const [id, { interaction }] of [...this.#asks]) {
      this.#closeAsk(id, "cancelled");
      await this.#program!.answer(id, answerOfNobody(interaction.kind === "elicitation" ? "elicitation" : "can_use_tool")!);
    }
  }

  #endTurn(outcome: TurnOutcome, durationMs?: unknown, asks: InteractionClosedReason = "cancelled"): void {
    const turn = this.#turn;
    if (turn === null) return;
    // Before the events are out: their reader may start the next turn at once.
    this.#turn = null;
    for (const id of [...this.#asks.keys()]) this.#closeAsk(id, asks);
    const at = this.#now();
    this.#emit({ type: "turn.completed", outcome, at, durationMs: typeof durationMs === "number" ? durationMs : at - turn.startedAt });
    const { diagnostics } = turn;
    if (diagnostics.length > 0) this.#log("debug", "Peculiarities of a turn", { diagnostics });
    this.#onTurnEnd();
  }

  /** Gives the session's file, and tells where it is if that is not where it was to be. */
  async #locate(): Promise<string> {
    if (!(await isFile(this.#file))) {
      const found = await findSession(this.#setup.projects, this.#nativeSessionId);
      if (found !== null && found !== this.#file) {
        this.#file = found;
        this.#report({ file: found });
      }
    }
    return this.#file;
  }

  /** Tells what is new of it. */
  #report(state: { [Name in keyof SessionState]?: SessionState[Name] | null | undefined }): void {
    const news = Object.fromEntries(Object.entries(state).filter(([name, value]) => value !== null && value !== undefined && this.#state[name as keyof SessionState] !== value)) as SessionState;
    if (Object.keys(news).length === 0) return;
    this.#state = { ...this.#state, ...news };
    this.#emit({ type: "session.state", state: news, at: this.#now() });
  }

  #onProgramEnd({ message, details }: ProgramExit): void {
    if (this.#over !== null) return;
    this.#over = "faulted";
    const error: HarnessError = { message, details };
    this.#turn = null;
    for (const id of [...this.#asks.keys()]) this.#closeAsk(id, "cancelled");
    this.#emit({ type: "fault", error, at: this.#now() });
    this.#queue.end();
    this.#setup.onEnd();
  }
}

/** A command of the program that answers by itself; `/compact` shows as what it does. */
function isCommand(content: MessageContent): boolean {
  return typeof content === "string" && /^\/(?!compact\b)[a-z]/i.test(content);
}

/** The program would go on in a new session, and this one's turns would be lost to who follows it. */
function demandSameSession(content: MessageContent): void {
  if (typeof content === "string" && /^\/(?:clear|reset|new)\b/.test(content)) throw new Error("Claude Code would begin another session for this; start a new thread instead.");
}
