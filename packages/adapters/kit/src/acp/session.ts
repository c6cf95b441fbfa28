import { methods, type ContentBlock, type InitializeRequest } from "@agentclientprotocol/sdk";
import type {
  HarnessEnvironment, HarnessError, HarnessEvent, HarnessSession, InteractionAnswer, SessionOptions, SessionState, TurnInput, TurnOutcome,
} from "@foldcast/protocol-core/harness";
import { EventQueue } from "../queue.ts";
import { AcpAsks } from "./asks.ts";
import { ClientFiles } from "./client-files.ts";
import { ClientTerminals } from "./client-terminals.ts";
import { AcpChoices } from "./choices.ts";
import type { SessionConfig } from "./config.ts";
import { AcpConnection, type ConnectionOptions } from "./connection.ts";
import type { AcpDialect } from "./dialect.ts";
import { elicitationAsk } from "./elicitation.ts";
import { errorOf, messageOf } from "./errors.ts";
import { promptOf } from "./input.ts";
import { type JsonRecord, countOf, filledString, objectOf } from "../json.ts";
import { type AcpAsk, permissionAsk } from "./permissions.ts";
import { type AcpTeller, PlainTeller, type PromptAnswer, type TellerPort } from "./teller.ts";
import { AcpUpdates, outcomeOf, stateOf, usageOfAnswer } from "./updates.ts";

export interface AcpSessionSetup {
  /** For a person, as in "Kimi Code". */
  name: string;
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  environment: HarnessEnvironment;
  options: SessionOptions;
  /** Default: a new session. `fork` copies all of the session (ACP knows no point in it). */
  from?: { kind: "resume" | "fork"; sessionId: string };
  dialect?: AcpDialect;
  /** What the agent may do through this client. Default: nothing. */
  client?: { files?: boolean; terminals?: boolean; forms?: boolean };
  /** The session's own file, once its id is known. Default: none. */
  fileOf?(sessionId: string): Promise<string | null>;
  /** Made once the session is there, before anything is told. Default: a turn is a prompt and its answer. */
  teller?(port: TellerPort, session: { sessionId: string; file: string | null }): Promise<AcpTeller>;
  /** A prompt that makes the agent shorten its context. Default: it has none. */
  compactCommand?: string;
  /** Requests of this agent beside the protocol's; `ask` puts something to the person. One that is not known gets the error -32601. */
  requests?: Readonly<Record<string, (params: JsonRecord, ask: (make: (id: string) => AcpAsk) => Promise<object>) => Promise<unknown>>>;
  /** Called once, when the session is over. */
  onEnd(): void;
}

interface Prompt {
  updates: AcpUpdates;
  cancelAsked: boolean;
  ended: Promise<void>;
}

/** How long an agent may take to write down that a turn was stopped, before it is ended. */
const CLOSING_PATIENCE_MS = 1500;
/** An agent that does not stop when it is told to is ended. */
const CANCEL_PATIENCE_MS = 15_000;

/** One conversation with an agent that speaks ACP, in a process of its own. */
export class AcpSession implements HarnessSession {
  readonly #setup: AcpSessionSetup;
  readonly #dialect: AcpDialect;
  readonly #queue = new EventQueue<HarnessEvent>();
  readonly #asks: AcpAsks;
  readonly #choices: AcpChoices;
  #turnOpen = false;
  readonly #files: ClientFiles;
  readonly #terminals: ClientTerminals;
  /** Set by `#open`, before the session is handed out. */
  #opened: AcpConnection | null = null;
  #teller: AcpTeller | null = null;
  #sessionId = "";
  #file: string | null = null;
  #images = false;
  #contextWindow: number | null = null;
  #state: SessionState = {};
  #prompt: Prompt | null = null;
  /** A prompt is being made ready. */
  #preparing = false;
  #cancelEarly = false;
  /** A turn of the agent's own is being stopped. */
  #ownCancel: Promise<void> | null = null;
  #over: "closed" | "faulted" | null = null;
  #closing: Promise<void> | null = null;

  /** There only where the agent has a command for it. */
  readonly compact?: () => Promise<void>;

  private constructor(setup: AcpSessionSetup) {
    this.#setup = setup;
    const { compactCommand } = setup;
    if (compactCommand !== undefined) this.compact = () => this.#startTurn(null, () => Promise.resolve([{ type: "text", text: compactCommand }]));
    this.#dialect = setup.dialect ?? {};
    this.#asks = new AcpAsks((events) => this.#teller?.told(events), () => this.#now());
    this.#choices = new AcpChoices({
      name: setup.name,
      dialect: this.#dialect,
      request: (method, params) => this.#connection.request(method, { sessionId: this.#sessionId, ...params }),
      report: (state) => this.#report(state),
    });
    this.#files = new ClientFiles([setup.options.cwd]);
    this.#terminals = new ClientTerminals({ cwd: setup.options.cwd, env: setup.env, onOutput: (id, append) => this.#terminalOutput(id, append) });
  }

  /** Starts the agent and its session. Rejects with a readable message; nothing is left running then. */
  static async open(setup: AcpSessionSetup): Promise<AcpSession> {
    const session = new AcpSession(setup);
    try {
      await session.#open();
      return session;
    } catch (error) {
      session.#over ??= "closed";
      await session.#release();
      throw new Error(messageOf(error), { cause: error });
    }
  }

  get nativeSessionId(): string {
    return this.#sessionId;
  }

  get file(): string | null {
    return this.#file;
  }

  get isOver(): boolean {
    return this.#over !== null;
  }

  get events(): AsyncIterable<HarnessEvent> {
    return this.#queue;
  }

  /** What can be chosen in this session, as the agent says. */
  get config(): SessionConfig {
    return this.#choices.config;
  }

  startTurn(turn: TurnInput): Promise<void> {
    return this.#startTurn(turn, () => promptOf(turn.input, this.#images));
  }

  /** ACP has no way to add to a running prompt: a second one is refused, or waits for the first one's end. */
  steer(): Promise<void> {
    return Promise.reject(new Error(`${this.#setup.name} takes no input while a turn runs.`));
  }

  async cancel(): Promise<void> {
    this.#demandUsable();
    const prompt = this.#prompt;
    if (prompt === null) {
      this.#cancelEarly = this.#preparing;
      if (this.#teller?.busy === true) await (this.#ownCancel ??= this.#cancelOwn());
      return;
    }
    if (prompt.cancelAsked) return;
    this.#stop(prompt);
    await this.#connection.notify(methods.agent.session.cancel, { sessionId: this.#sessionId }).catch(() => undefined);
    void this.#demandEnd(prompt);
  }

  async answer(interactionId: string, answer: InteractionAnswer): Promise<void> {
    this.#demandUsable();
    const { itemId, declines, send } = this.#asks.take(interactionId, answer);
    if (itemId !== null && declines) this.#prompt?.updates.calls.decline(itemId);
    send();
    if (answer.kind === "approval" && answer.decision === "cancel") await this.cancel();
  }

  async select(options: Partial<Omit<SessionOptions, "cwd">>): Promise<void> {
    this.#demandUsable();
    await this.#choices.select(options);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #cancelOwn(): Promise<void> {
    try {
      await this.#teller!.cancelOwn?.();
    } finally {
      this.#ownCancel = null;
    }
  }

  async #startTurn(turn: TurnInput | null, blocks: () => Promise<ContentBlock[]>): Promise<void> {
    this.#demandUsable();
    const teller = this.#teller!;
    if (this.#prompt !== null || this.#preparing || teller.busy) throw new Error("A turn is running already; wait for its end or cancel it.");
    this.#preparing = true;
    this.#cancelEarly = false;
    try {
      const prompt = await blocks();
      // The turn may be over before the agent is ready again.
      await this.#ownCancel?.catch(() => undefined);
      this.#demandUsable();
      const updates = new AcpUpdates({
        dialect: this.#dialect,
        terminal: (id) => this.#terminals.state(id),
        count: (code, sample) => this.#setup.environment.log("info", `${this.#setup.name}: ${code}`, { sample: sample?.slice(0, 200) ?? null }),
      });
      const running: Prompt = { updates, cancelAsked: false, ended: Promise.resolve() };
      this.#prompt = running;
      teller.begin(turn);
      // No limit of time: the answer is the end of the turn.
      running.ended = this.#awaitAnswer(running, this.#connection.request(methods.agent.session.prompt, { sessionId: this.#sessionId, prompt }, null));
    } finally {
      this.#preparing = false;
    }
    await this.#cancelIfAsked();
  }

  get #connection(): AcpConnection {
    if (this.#opened === null) throw new Error(`${this.#setup.name} is not started`);
    return this.#opened;
  }

  /** A cancel that came while the prompt was being prepared. */
  async #cancelIfAsked(): Promise<void> {
    if (this.#cancelEarly) await this.cancel();
  }

  async #open(): Promise<void> {
    const setup = this.#setup;
    const forms = setup.client?.forms === true;
    const clientCapabilities: InitializeRequest["clientCapabilities"] = {
      fs: { readTextFile: setup.client?.files === true, writeTextFile: setup.client?.files === true },
      terminal: setup.client?.terminals === true,
      ...(forms ? { elicitation: { form: {} } } : {}),
    };
    this.#opened = await AcpConnection.start({
      name: setup.name, command: setup.command, cwd: setup.options.cwd, env: setup.env, clientCapabilities,
      log: (...entry) => setup.environment.log(...entry),
      onNotification: (method, params) => this.#notified(method, params),
      onRequest: this.#requests(),
      onEnd: (error) => this.#fault(error),
    });
    const capabilities = objectOf(this.#connection.about["agentCapabilities"]);
    this.#images = objectOf(capabilities["promptCapabilities"])["image"] === true;
    const answer = await this.#enter(capabilities);
    this.#file = (await setup.fileOf?.(this.#sessionId)) ?? null;
    this.#teller = await (setup.teller?.(this.#port(), { sessionId: this.#sessionId, file: this.#file }) ?? Promise.resolve(new PlainTeller(this.#port())));
    this.#report({ nativeSessionId: this.#sessionId, file: this.#file });
    this.#choices.opened(answer);
    const { model, thinking, permissionMode } = setup.options;
    await this.#choices.select({ model: this.#choices.config.model === null ? null : model, thinking, permissionMode });
  }

  /** A session to speak in: a new one, or the one that is named. */
  async #enter(capabilities: JsonRecord): Promise<JsonRecord> {
    const { from, options: { cwd }, name } = this.#setup;
    if (from === undefined) {
      const answer = objectOf(await this.#connection.request(methods.agent.session.new, { cwd, mcpServers: [] }));
      this.#sessionId = filledString(answer["sessionId"]) ?? "";
      if (this.#sessionId === "") throw new Error(`${name} made no session.`);
      return answer;
    }
    const offered = objectOf(capabilities["sessionCapabilities"]);
    const params = { sessionId: from.sessionId, cwd, mcpServers: [] };
    if (from.kind === "fork") {
      if (offered["fork"] === undefined) throw new Error(`${name} cannot copy a session.`);
      const answer = objectOf(await this.#connection.request(methods.agent.session.fork, params));
      this.#sessionId = filledString(answer["sessionId"]) ?? "";
      if (this.#sessionId === "") throw new Error(`${name} made no copy of the session.`);
      return answer;
    }
    this.#sessionId = from.sessionId;
    // `resume` says nothing of what was; `load` repeats it all, which is read from the saved session instead.
    if (offered["resume"] !== undefined) return objectOf(await this.#connection.request(methods.agent.session.resume, params));
    if (capabilities["loadSession"] !== true) throw new Error(`${name} cannot go on with a session.`);
    return objectOf(await this.#connection.request(methods.agent.session.load, params));
  }

  #port(): TellerPort {
    const { environment } = this.#setup;
    return {
      now: () => environment.now(),
      newId: () => environment.newId(),
      emit: (events) => this.#emit(events),
      contextWindow: () => this.#contextWindow,
      request: (method, params) => this.#connection.request(method, params),
    };
  }

  #requests(): ConnectionOptions["onRequest"] {
    const { files, terminals, forms } = this.#setup.client ?? {};
    const requests: Record<string, (params: JsonRecord, signal: AbortSignal) => Promise<unknown>> = {};
    for (const [method, handler] of Object.entries(this.#setup.requests ?? {})) {
      requests[method] = (params, signal) => handler(params, (make) => this.#ask(make(this.#asks.newId()), null, [], signal));
    }
    requests[methods.client.session.requestPermission] = (params, signal) => this.#permission(params, signal);
    if (forms === true) requests[methods.client.elicitation.create] = (params, signal) => this.#elicit(params, signal);
    if (files === true) {
      requests[methods.client.fs.readTextFile] = (params) => this.#files.read(params);
      requests[methods.client.fs.writeTextFile] = (params) => this.#files.write(params);
    }
    if (terminals === true) {
      const { create, output, waitForExit, kill, release } = methods.client.terminal;
      requests[create] = (params) => settled(() => this.#terminals.create(params));
      requests[output] = (params) => settled(() => this.#terminals.output(params));
      requests[waitForExit] = (params, signal) => this.#terminals.waitForExit(params, signal);
      requests[kill] = (params) => settled(() => this.#terminals.kill(params));
      requests[release] = (params) => settled(() => this.#terminals.release(params));
    }
    return requests;
  }

  #notified(method: string, params: JsonRecord): void {
    // What is repeated while a session is loaded comes before there is a teller.
    const teller = this.#teller;
    if (this.#over !== null || teller === null) return;
    if (method !== methods.client.session.update) {
      const own = this.#dialect.notification?.(method, params, this.#now());
      if (own === undefined) this.#setup.environment.log("debug", `${this.#setup.name}: a notification that is not known`, { method });
      else if (own.length > 0) teller.told(own);
      return;
    }
    if (params["sessionId"] !== this.#sessionId) return;
    const update = objectOf(params["update"]);
    const kind = filledString(update["sessionUpdate"]) ?? "";
    if (kind === "usage_update") this.#contextWindow = countOf(update["size"]) ?? this.#contextWindow;
    const state = this.#dialect.silentUpdates?.has(kind) === true ? null : stateOf(kind, update);
    if (state !== null) {
      this.#choices.told(state);
      this.#report(state);
    }
    const events = this.#prompt?.updates.take(update, this.#now()) ?? [];
    if (events.length > 0) teller.told(events);
  }

  async #permission(params: JsonRecord, signal: AbortSignal): Promise<unknown> {
    const call = objectOf(params["toolCall"]);
    const prompt = this.#prompt;
    const known = filledString(call["toolCallId"]);
    const own = prompt !== null && (this.#dialect.callsComeFirst !== true || (known !== null && prompt.updates.calls.has(known)));
    const shown = own ? prompt.updates.demand(call, this.#now()) : { events: [], itemId: null, call };
    const asked = { ...params, toolCall: shown.call };
    const id = this.#asks.newId();
    const ask = this.#dialect.permission?.(id, asked, shown.itemId) ?? permissionAsk(id, asked, shown.itemId);
    return this.#ask(ask, shown.itemId, shown.events, signal);
  }

  async #elicit(params: JsonRecord, signal: AbortSignal): Promise<unknown> {
    const known = filledString(params["toolCallId"]);
    const shown = known !== null && this.#prompt?.updates.calls.has(known) === true
      ? this.#prompt.updates.demand({ toolCallId: known }, this.#now())
      : { events: [], itemId: null };
    const ask = elicitationAsk(this.#asks.newId(), params, shown.itemId);
    return ask === null ? { action: "decline" } : this.#ask(ask, shown.itemId, shown.events, signal);
  }

  #ask(ask: AcpAsk, itemId: string | null, shown: readonly HarnessEvent[], signal: AbortSignal): Promise<object> {
    if (this.#over !== null || this.#prompt?.cancelAsked === true) return Promise.resolve(ask.withdrawn);
    return this.#asks.ask(ask, itemId, shown, this.#prompt !== null || this.#turnOpen, signal);
  }

  async #awaitAnswer(prompt: Prompt, answer: Promise<unknown>): Promise<void> {
    let outcome: TurnOutcome;
    let usage: PromptAnswer["usage"] = null;
    try {
      const told = objectOf(await answer);
      const given = outcomeOf(told, prompt.cancelAsked);
      outcome = this.#dialect.outcome?.(told, prompt.updates.said, given) ?? given;
      usage = this.#dialect.usage === undefined ? usageOfAnswer(told["usage"], this.#contextWindow) : this.#dialect.usage(told, this.#contextWindow);
    } catch (error) {
      // The end of the program is told as a fault.
      if (this.#over !== null || !this.#connection.running) return;
      outcome = prompt.cancelAsked ? { status: "cancelled" } : { status: "failed", error: errorOf(error) };
    }
    if (this.#over !== null) return;
    await this.#endPrompt(prompt, { outcome, usage, last: false });
  }

  async #endPrompt(prompt: Prompt, answer: Omit<PromptAnswer, "end">): Promise<void> {
    if (this.#prompt !== prompt) return;
    if (answer.last) this.#asks.withdraw();
    else this.#asks.turnEnds();
    await this.#teller!.answered({ ...answer, end: () => prompt.updates.end(answer.outcome.status !== "succeeded", this.#now()) });
  }

  /** From here on what was asked needs no answer, and what still ends was stopped. */
  #stop(prompt: Prompt): void {
    prompt.cancelAsked = true;
    prompt.updates.calls.stop();
    this.#asks.withdraw();
  }

  async #demandEnd(prompt: Prompt): Promise<void> {
    const patience = new AbortController();
    const late = this.#setup.environment.sleep(CANCEL_PATIENCE_MS, patience.signal).then(() => true, () => false);
    if (await Promise.race([prompt.ended.then(() => false), late])) this.#fault({ message: `${this.#setup.name} did not stop when it was told to.` });
    patience.abort();
  }

  #terminalOutput(id: string, append: string): void {
    const events = this.#prompt?.updates.calls.terminalOutput(id, append, this.#now()) ?? [];
    if (events.length > 0) this.#teller?.told(events);
  }

  /** Only what is new. */
  #report(state: SessionState): void {
    const changed = Object.fromEntries(Object.entries(state).filter(([name, value]) => this.#state[name as keyof SessionState] !== value)) as SessionState;
    if (Object.keys(changed).length === 0) return;
    this.#state = { ...this.#state, ...changed };
    this.#emit([{ type: "session.state", state: changed, at: this.#now() }]);
  }

  #emit(events: readonly HarnessEvent[]): void {
    for (const event of events) {
      // Before the event is out: its reader may start the next turn at once.
      if (event.type === "turn.completed") {
        this.#prompt = null;
        this.#turnOpen = false;
      }
      void this.#queue.push(event);
      if (event.type === "turn.started") {
        this.#turnOpen = true;
        this.#asks.turnBegan();
      }
    }
  }

  async #close(): Promise<void> {
    if (this.#over !== null) return this.#release();
    const prompt = this.#prompt;
    if (prompt !== null && this.#connection.running) {
      // So that the file says it too; the program ends whether it does or not.
      this.#stop(prompt);
      const patience = new AbortController();
      await this.#connection.notify(methods.agent.session.cancel, { sessionId: this.#sessionId }).catch(() => undefined);
      await Promise.race([prompt.ended, this.#setup.environment.sleep(CLOSING_PATIENCE_MS, patience.signal).catch(() => undefined)]);
      patience.abort();
      await this.#endPrompt(prompt, { outcome: { status: "cancelled", reason: "The session was closed." }, usage: null, last: true });
    }
    this.#asks.close();
    await this.#teller?.close();
    this.#over = "closed";
    this.#queue.end();
    await this.#release();
    this.#setup.onEnd();
  }

  #fault(error: HarnessError): void {
    if (this.#over !== null || this.#teller === null) return;
    this.#asks.close();
    this.#over = "faulted";
    void this.#endFaulted(this.#teller, error);
  }

  async #endFaulted(teller: AcpTeller, error: HarnessError): Promise<void> {
    await teller.settle?.();
    this.#prompt = null;
    // Before the fault is out: its reader may open the session again at once.
    this.#setup.onEnd();
    this.#emit([{ type: "fault", error, at: this.#now() }]);
    this.#queue.end();
    await Promise.all([teller.close(), this.#release()]);
  }

  async #release(): Promise<void> {
    await Promise.all([this.#opened?.close(), this.#terminals.close()]);
  }

  #now(): number {
    return this.#setup.environment.now();
  }

  #demandUsable(): void {
    if (this.#over === "closed" || this.#closing !== null) throw new Error("The session is closed.");
    if (this.#over === "faulted") throw new Error("The session has failed; resume it to go on.");
  }
}

/** What a call gives or throws, as a promise. */
function settled(work: () => unknown): Promise<unknown> {
  return new Promise((resolve) => resolve(work()));
}
