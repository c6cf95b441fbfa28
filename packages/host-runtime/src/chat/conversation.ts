import { randomUUID } from "node:crypto";
import type { InteractionAnswer } from "@foldcast/protocol-core/harness";
import { chooseAction, parseInteractionCommand, refusal } from "@foldcast/protocol-core/interaction";
import type { InteractionAction, InteractionAnswerResult, InteractionPayload, Locale } from "@foldcast/protocol-core/interaction";
import { applyToThread, viewOfThread } from "@foldcast/protocol-core/view";
import type { ThreadView, TurnView } from "@foldcast/protocol-core/view";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { Notification, RequestId, Thread, ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import { editDistance, nearest } from "../nearest.ts";
import { VERSION } from "../version.ts";
import { OpenRequest } from "./open-request.ts";
import { RpcClient, RpcError } from "@foldcast/protocol-core/client";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { makeSignal } from "./signal.ts";

/** What a chat shows. Called in the order in which things happen. */
export interface ChatView {
  /** Every notification and request, of any thread, as it came. */
  frame(text: string): void;
  opened(thread: Thread, model: string, turns: readonly TurnView[]): void;
  prompt(text: string, threadId: string): void;
  /** Of the chat's own thread, after the state took it in. */
  notification(notification: Notification, turn: TurnView | null): void;
  /** An input that this chat did not send: of another screen, or chosen. `first` = it began the turn. */
  heard(item: Extract<ThreadItem, { type: "userMessage" }>, first: boolean): void;
  asked(request: OpenRequest): void;
  /** What may be chosen while the thread is idle. */
  offered(offer: InteractionPayload): void;
  answered(request: OpenRequest, answer: InteractionAnswer): void;
  turnEnded(turn: TurnView): void;
  /** A word of the chat itself. */
  notice(text: string): void;
}

/** What was chosen of an offer. */
export interface Choice {
  interactionId: string;
  action: InteractionAction;
}

/** Ids of foldcast's own requests, which take more than a reply of Codex's has room for. */
const FOLDCAST_ID = /^foldcast:/;
const NOT_SUPPORTED = -32601;
/** Of inputs that were sent, the newest: their items come soon after. */
const MAX_OWN = 100;
const NO_MODEL = "no model is ready; foldcast doctor says what each harness lacks";

/** One client on one thread at a time: its state, and what can be done to it. */
export class Conversation {
  readonly #rpc: RpcClient;
  readonly #view: ChatView;
  readonly #locale: Locale;
  #thread: { state: ThreadView; cwd: string } | null = null;
  #model = "";
  /** How the last turn ended that ended before this chat's eyes. */
  lastEnd: Turn["status"] | null = null;
  /** Empty = its id is not known yet. */
  #runningTurn: string | null = null;
  #requests: OpenRequest[] = [];
  #offers: InteractionPayload[] = [];
  readonly #own = new Set<string>();
  #closed: string | null = null;
  #changed = makeSignal();

  constructor(transport: ClientTransport, view: ChatView, locale: Locale) {
    this.#view = view;
    this.#locale = locale;
    this.#rpc = new RpcClient(transport, {
      notification: ({ method, params, text }) => this.#onNotification(method, params, text),
      request: ({ id, method, params, text }) => this.#onRequest(id, method, params, text),
      closed: (reason) => {
        this.#closed = reason;
        this.#wake();
      },
    });
  }

  get threadId(): string | null {
    return this.#thread?.state.id ?? null;
  }
  get cwd(): string {
    return this.#thread?.cwd ?? "/";
  }
  /** What the thread runs on. */
  get model(): string {
    return this.#model;
  }
  get turns(): TurnView[] {
    return [...(this.#thread?.state.turns.values() ?? [])];
  }
  get running(): boolean {
    return this.#runningTurn !== null;
  }
  /** The request that is answered next: the one that waits longest. */
  get request(): OpenRequest | null {
    return this.#requests[0] ?? null;
  }
  /** Why the connection ended; null while it stands. */
  get closed(): string | null {
    return this.#closed;
  }
  /** Resolves at the next change of what can be done. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  async initialize(): Promise<void> {
    await this.#rpc.request("initialize", {
      clientInfo: { name: "foldcast-chat", title: "foldcast chat", version: VERSION },
      capabilities: { experimentalApi: true, extensions: { foldcast: { detail: true, interaction: true } } },
    });
    this.#rpc.notify("initialized");
  }

  /** Rejects when the server has no such model, as it would put another one in its place, and when it has none at all. */
  async start(model: string | null, cwd: string): Promise<void> {
    const opened = await this.#rpc.request<{ thread: Thread; model: string }>("thread/start", { cwd, ...(model === null ? {} : { model }) });
    if (model !== null && opened.model !== model) throw new Error(await this.noSuchModel(model));
    if ((await this.models()).length === 0) throw new Error(NO_MODEL);
    this.#open(opened.thread, opened.model);
  }

  /** By its id, or by the beginning of that of a recent thread. Rejects with what was probably meant. */
  async resume(given: string): Promise<void> {
    const recent = given.length >= 4 && given.length < 36 ? (await this.threads()).filter(({ id }) => id.startsWith(given.toLowerCase())) : [];
    const threadId = recent.length === 1 ? recent[0]!.id : given;
    try {
      const opened = await this.#rpc.request<{ thread: Thread; model: string }>("thread/resume", { threadId });
      this.#open(opened.thread, opened.model);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // The server says so in the real one's words, which name a program that knows no thread of ours.
      if (/is archived/.test(error.message)) throw new Error(`thread ${threadId} is archived; foldcast threads unarchive ${threadId} brings it back`, { cause: error });
      const known = (await this.threads()).map(({ id }) => id);
      const meant = recent.length > 1 ? recent.map(({ id }) => id).join(" or ") : known.find((id) => editDistance(id, given) <= 3);
      const said = given.length === 36 ? error.message : `there is no thread \`${given}\``;
      throw new Error(`${said}${meant === undefined ? "; foldcast threads list shows them" : `; did you mean ${meant}?`}`, { cause: error });
    }
  }

  /** Newest first. */
  async threads(): Promise<Thread[]> {
    return (await this.#rpc.request<{ data: Thread[] }>("thread/list", { limit: 20, modelProviders: [], sortKey: "updated_at" })).data;
  }

  async models(): Promise<{ id: string; displayName: string }[]> {
    return (await this.#rpc.request<{ data: { id: string; displayName: string }[] }>("model/list", { limit: 200 })).data;
  }

  /** What to say of a model that is not on offer. */
  async noSuchModel(id: string): Promise<string> {
    const names = (await this.models()).map((model) => model.id);
    const meant = nearest(id, names);
    const hint = names.length === 0 ? `: ${NO_MODEL}` : meant === null ? "; foldcast models lists them" : `; did you mean \`${meant}\`?`;
    return `there is no model \`${id}\`${hint}`;
  }

  async prompt(text: string, model: string | null): Promise<void> {
    const threadId = this.#requireThread();
    this.#view.prompt(text, threadId);
    const { turn } = await this.#rpc.request<{ turn: Turn }>("turn/start", { threadId, ...this.#input(text), ...(model === null ? {} : { model }) });
    if (model !== null) this.#model = model;
    // The end may have come in one piece with the answer.
    if ((this.#thread?.state.turns.get(turn.id)?.status ?? "inProgress") === "inProgress") this.#runningTurn ??= turn.id;
    this.#wake();
  }

  /** Adds to the running turn. Rejects with the server's words where none runs. */
  async steer(text: string): Promise<void> {
    await this.#rpc.request("turn/steer", { threadId: this.#requireThread(), expectedTurnId: this.#runningTurn ?? "", ...this.#input(text) });
  }

  /** What the line chooses of the newest offer: its number, label or value; null where it is another line. */
  offerFor(line: string): Choice | null {
    const offer = this.#offers.at(-1);
    const value = offer === undefined ? null : chooseAction(offer, line);
    const action = offer?.actions.find((each) => each.value === value);
    return offer === undefined || action === undefined ? null : { interactionId: offer.interactionId, action };
  }

  /** Chooses of an offer. Gives the command that is to be run then, if it is one; rejects where it was too late. */
  async choose({ interactionId, action }: Choice): Promise<{ command: string | null }> {
    return this.#answerEvent({ interactionId, actionId: action.id, actionValue: action.value });
  }

  /** `/_interaction …` of any interaction of this server; it never goes where a model could read it. As `choose`. */
  async answerTyped(line: string): Promise<string | null> {
    const { interactionId, value } = parseInteractionCommand(line) ?? { interactionId: "", value: "" };
    return (await this.#answerEvent({ interactionId, actionId: "", actionValue: value })).command;
  }

  async #answerEvent(event: { interactionId: string; actionId: string; actionValue: string; metadata?: Record<string, string> }): Promise<InteractionAnswerResult> {
    const wasIdle = this.#runningTurn === null;
    const result = await this.#rpc.request<InteractionAnswerResult>("foldcast/interaction/answer", event);
    if (result.status !== "accepted") throw new Error(result.message);
    // A chosen reply has begun a turn, whose start is on its way: the next line is not for now.
    if (wasIdle && result.command === null && this.#offers.some(({ interactionId }) => interactionId === event.interactionId)) this.#runningTurn ??= "";
    this.#dropOffer(event.interactionId);
    this.#wake();
    return result;
  }

  async answer(request: OpenRequest, answer: InteractionAnswer): Promise<void> {
    this.#drop(request.id);
    this.#view.answered(request, answer);
    const words = answer.kind === "approval" ? answer.text : undefined;
    // A reply has no place for words to the agent; the typed form has.
    if (words !== undefined && FOLDCAST_ID.test(String(request.id))) {
      try {
        await this.#answerEvent({ interactionId: String(request.id), actionId: "deny", actionValue: "deny", metadata: { text: words } });
        return;
      } catch {
        // Somebody was faster, or the turn ended: then the reply below is as harmless as any late one.
      }
    }
    this.#rpc.respond(request.id, request.reply(answer));
  }

  /** Says no where nobody is left who could say yes. */
  decline(request: OpenRequest): Promise<void> {
    return this.answer(request, refusal(request.request));
  }

  async interrupt(): Promise<void> {
    const turnId = this.#runningTurn;
    if (turnId !== null && turnId !== "") await this.#rpc.request("turn/interrupt", { threadId: this.#requireThread(), turnId });
  }

  close(): void {
    this.#rpc.close();
  }

  #requireThread(): string {
    if (this.#thread === null) throw new Error("no thread is open");
    return this.#thread.state.id;
  }

  #input(text: string): object {
    const clientUserMessageId = randomUUID();
    this.#own.add(clientUserMessageId);
    const [oldest] = this.#own;
    if (this.#own.size > MAX_OWN && oldest !== undefined) this.#own.delete(oldest);
    return { clientUserMessageId, input: [{ type: "text", text, text_elements: [] }] };
  }

  #open(thread: Thread, model: string): void {
    const state = viewOfThread(thread, thread.turns);
    this.#model = model;
    this.#offers = [];
    this.#thread = { state, cwd: thread.cwd };
    this.#requests = this.#requests.filter(({ threadId }) => threadId === thread.id);
    this.#runningTurn = thread.turns.findLast((turn) => turn.status === "inProgress")?.id ?? null;
    this.#view.opened(thread, model, [...state.turns.values()]);
    this.#wake();
  }

  #onNotification(method: string, params: unknown, text: string): void {
    this.#view.frame(text);
    if (this.#thread === null || !isJsonObject(params) || params["threadId"] !== this.#thread.state.id) return;
    // Of a method that the view does not know, it changes nothing.
    const notification = { method, params } as unknown as Notification;
    applyToThread(this.#thread.state, notification);
    const turnId = typeof params["turnId"] === "string" ? params["turnId"] : isJsonObject(params["turn"]) ? String(params["turn"]["id"]) : null;
    const turn = turnId === null ? null : (this.#thread.state.turns.get(turnId) ?? null);
    if (notification.method === "item/completed" && notification.params.item.type === "userMessage") this.#heard(notification.params.item, turn);
    this.#view.notification(notification, turn);
    if (method === "serverRequest/resolved") this.#drop(params["requestId"]);
    else if (method === "turn/started") this.#runningTurn = turnId;
    else if (method === "foldcast/interaction/opened") this.#offered(params["interaction"] as InteractionPayload);
    else if (method === "foldcast/interaction/resolved") this.#dropOffer(params["requestId"]);
    else if (method === "turn/completed" && turn !== null) {
      if (this.#runningTurn === turnId) this.#runningTurn = null;
      this.lastEnd = turn.status;
      this.#view.turnEnded(turn);
    }
    this.#wake();
  }

  #onRequest(id: RequestId, method: string, params: unknown, text: string): void {
    this.#view.frame(text);
    const itemId = isJsonObject(params) && typeof params["itemId"] === "string" ? params["itemId"] : "";
    const item = this.turns.map((turn) => turn.items.get(itemId)?.item).find((found) => found !== undefined) ?? null;
    const request = OpenRequest.of(id, method, params, item, this.#locale);
    if (request === null) return this.#rpc.refuse(id, NOT_SUPPORTED, `a chat cannot answer ${method}`);
    this.#requests.push(request);
    this.#view.asked(request);
    this.#wake();
  }

  #heard(item: Extract<ThreadItem, { type: "userMessage" }>, turn: TurnView | null): void {
    if (item.clientId === null || !this.#own.delete(item.clientId)) this.#view.heard(item, turn?.items.size === 1);
  }

  #offered(offer: InteractionPayload): void {
    this.#offers.push(offer);
    this.#view.offered(offer);
  }

  #dropOffer(id: unknown): void {
    this.#offers = this.#offers.filter(({ interactionId }) => interactionId !== id);
  }

  #drop(id: unknown): void {
    this.#requests = this.#requests.filter((request) => request.id !== id);
  }

  #wake(): void {
    const { resolve } = this.#changed;
    this.#changed = makeSignal();
    resolve();
  }
}
