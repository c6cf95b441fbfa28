import type { Thread, Turn } from "@foldcast/protocol-core/wire";
import type { InteractionDesk } from "../approvals/desk.ts";
import { WRITER_TIMES, type WriterClock } from "../card/writer.ts";
import type { HostClient } from "../client/host-client.ts";
import type { TurnRecord } from "../delivery/record.ts";
import type { DeliveryDeps } from "../delivery/turn-delivery.ts";
import type { Table } from "../ledger/documents.ts";
import type { FeishuPort } from "../platform/port.ts";
import type { Beginning, Binding } from "./binding.ts";
import type { FeishuSettings } from "./config.ts";
import { isArchived, isUnknownThread, wordsOf } from "./errors.ts";
import { Follower } from "./follower.ts";

/** Of a thread that is joined: the running one, and what may have ended while nobody was connected. */
const TURNS_AT_ONCE = 5;
/** Requests that wait are asked again by the server when a thread is joined; after this pause none is missing. */
const REPLAY_MS = 1_500;

interface ResumedThread {
  readonly thread: Thread;
  readonly model: string | null;
  readonly initialTurnsPage?: { readonly data: Turn[] } | null;
}

interface FollowersDeps {
  readonly port: FeishuPort;
  readonly clock: WriterClock;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly settings: FeishuSettings;
  readonly desk: Pick<InteractionDesk, "openOf" | "expireAllBut">;
  readonly request: HostClient["request"];
  readonly turns: Table<TurnRecord>;
  readonly bindings: Table<Binding>;
  readonly beginnings: Table<Beginning>;
}

/** The threads that chats follow, and how each is taken up: by a message, after a new connection, after a restart. */
export class Followers {
  readonly #deps: FollowersDeps;
  readonly #followers = new Map<string, Follower>();
  /** Followed threads that are archived or no more: what ran there is brought to its end, and nothing new begins. */
  readonly #putAway = new Set<string>();
  readonly #joining = new Map<string, Promise<Follower>>();
  #closed = false;

  constructor(deps: FollowersDeps) {
    this.#deps = deps;
  }

  get(threadId: string): Follower | undefined {
    return this.#followers.get(threadId);
  }

  /** Some turn is over and its answer has not arrived yet. */
  get owe(): boolean {
    return [...this.#followers.values()].some((follower) => follower.owes);
  }

  tick(): void {
    for (const follower of this.#followers.values()) follower.tick();
  }

  /** Notes anew what was begun and is not delivered, which is not old then. */
  renew(): void {
    for (const follower of this.#followers.values()) follower.renew();
  }

  close(): void {
    this.#closed = true;
    for (const follower of this.#followers.values()) follower.close();
  }

  /** What the server tells of a thread's place. */
  hear(method: string, threadId: string): void {
    if (method === "thread/unarchived") this.#putAway.delete(threadId);
    if ((method === "thread/archived" || method === "thread/deleted") && this.#followers.has(threadId)) this.#putAway.add(threadId);
  }

  /** After a new connection: all that may have gone on meanwhile. */
  async rejoin(): Promise<void> {
    const wanted = new Map<string, TurnRecord[]>();
    for (const [, record] of this.#deps.turns.all()) if (record.state === "running" || record.state === "ended") wanted.set(record.threadId, [...(wanted.get(record.threadId) ?? []), record]);
    for (const threadId of this.#followers.keys()) if (!wanted.has(threadId)) wanted.set(threadId, []);
    // Messages that wait for their turn: it may have run meanwhile.
    for (const [, { threadId }] of this.#deps.beginnings.all()) if (!wanted.has(threadId)) wanted.set(threadId, []);
    for (const [, row] of this.#deps.bindings.all()) if (row.threadId !== null && this.#deps.desk.openOf(row.threadId) > 0 && !wanted.has(row.threadId)) wanted.set(row.threadId, []);
    for (const [threadId, records] of wanted) {
      try {
        const follower = await this.join(threadId, true);
        for (const record of records) await this.#takeUp(follower, record);
      } catch (error) {
        this.#deps.log("a thread could not be taken up", { threadId, reason: wordsOf(error) });
        // Only where the server says that there is no such thread. Anything else may be over at the next connection.
        if (!isUnknownThread(error) && !isArchived(error)) continue;
        this.#putAway.add(threadId);
        // Nothing runs there that could still be asking.
        this.#deps.desk.expireAllBut(threadId, new Set());
        if (isUnknownThread(error)) for (const record of records) this.#abandon(record);
        else await this.#bringToEnd(threadId, records).catch((why: unknown) => this.#deps.log("an archived thread could not be read", { threadId, reason: wordsOf(why) }));
      }
    }
  }

  /** What ran in a thread that was archived meanwhile has its answer in there. */
  async #bringToEnd(threadId: string, records: readonly TurnRecord[]): Promise<void> {
    if (records.length === 0) return;
    const { thread } = await this.#deps.request<{ thread: Thread }>("thread/read", { threadId, includeTurns: false });
    const turns = (await this.#turnsOf(threadId)).filter(({ id }) => records.some(({ turnId }) => turnId === id));
    const known = this.#followers.get(threadId);
    known?.refresh({ ...thread, turns });
    const follower = known ?? this.follow({ ...thread, turns }, null, this.#homeFromTurns(threadId));
    for (const record of records) await this.#takeUp(follower, record);
  }

  /** The newest ones. */
  async #turnsOf(threadId: string): Promise<Turn[]> {
    return (await this.#deps.request<{ data: Turn[] }>("thread/turns/list", { threadId, limit: 50, sortDirection: "desc", itemsView: "full" })).data;
  }

  /** A turn of an earlier process: followed where it still runs, else brought to its end. */
  async #takeUp(follower: Follower, record: TurnRecord): Promise<void> {
    if (!follower.view.turns.has(record.turnId)) {
      const turn = (await this.#turnsOf(record.threadId)).find(({ id }) => id === record.turnId);
      if (turn === undefined) return this.#abandon(record);
      follower.know(turn);
    }
    follower.adopt(record);
  }

  /** Its thread is no more: the card must not look as if it were running. */
  #abandon(record: TurnRecord): void {
    const turn: Turn = { id: record.turnId, rootTurnId: record.turnId, items: [], itemsView: "full", status: "interrupted", error: null, startedAt: null, completedAt: null, durationMs: null };
    const known = this.#followers.get(record.threadId);
    const gone = { id: record.threadId, name: known?.view.name ?? record.title, status: { type: "notLoaded" }, cwd: this.#deps.settings.cwd, preview: record.title, turns: [turn] } as unknown as Thread;
    // Two that draw one card would undo each other's work.
    known?.refresh(gone);
    const follower = known ?? new Follower(this.#followerDeps(), gone, null, { chatId: record.chatId, anchor: record.replyTo, inThread: record.inThread });
    follower.adopt(record);
  }

  /** Follows a thread; `again` also where it is followed already, for the state after a new connection. */
  async join(threadId: string, again = false, session?: Binding): Promise<Follower> {
    const known = this.#followers.get(threadId);
    if (known !== undefined && !again && !this.#putAway.has(threadId)) return known;
    const running = this.#joining.get(threadId);
    if (running !== undefined) return running;
    const joining = this.#resume(threadId, session).finally(() => this.#joining.delete(threadId));
    this.#joining.set(threadId, joining);
    return joining;
  }

  /** The thread of a session; null where it is gone or was put away, so that the session's next one begins. */
  joinBound(threadId: string, session: Binding): Promise<Follower | null> {
    return this.join(threadId, false, session).catch((error: unknown) => {
      if (!isUnknownThread(error) && !isArchived(error)) throw error;
      this.#deps.log("the session's thread is gone", { threadId, reason: wordsOf(error) });
      return null;
    });
  }

  async #resume(threadId: string, session?: Binding): Promise<Follower> {
    const known = this.#followers.get(threadId);
    known?.asked.clear();
    const home = session ?? this.#deps.bindings.all().find(([, row]) => row.threadId === threadId)?.[1] ?? this.#homeFromTurns(threadId);
    // Before the request, and its answer at once: what the server tells of the thread may come in one piece with that.
    const params = { threadId, excludeTurns: true, initialTurnsPage: { limit: TURNS_AT_ONCE, sortDirection: "desc", itemsView: "full" } };
    const follower = await this.#deps.request("thread/resume", params, (opened: ResumedThread) => {
      // Only what runs is followed from here; what is over was shown, or is nobody's here.
      const turns = (opened.initialTurnsPage?.data ?? opened.thread.turns).filter((turn) => turn.status === "inProgress" || this.#isOpen(turn.id) || this.#isAwaited(turn, threadId));
      const thread = { ...opened.thread, turns };
      this.#putAway.delete(threadId);
      if (known === undefined) return this.follow(thread, opened.model, home);
      known.refresh(thread);
      return known;
    });
    setTimeout(() => {
      if (!this.#closed) this.#deps.desk.expireAllBut(threadId, follower.asked);
    }, REPLAY_MS).unref();
    return follower;
  }

  #isOpen(turnId: string): boolean {
    const record = this.#deps.turns.get(turnId);
    return record !== null && (record.state === "running" || record.state === "ended");
  }

  /** It answers a message of a chat, and no card of it was begun. */
  #isAwaited({ items }: Turn, threadId: string): boolean {
    const prompt = items.find((item) => item.type === "userMessage");
    return prompt?.clientId != null && this.#deps.beginnings.get(prompt.clientId)?.threadId === threadId;
  }

  #homeFromTurns(threadId: string): Pick<Binding, "chatId" | "anchor" | "inThread"> {
    const record = this.#deps.turns.all().findLast(([, row]) => row.threadId === threadId)?.[1];
    if (record === undefined) throw new Error("no chat is bound to this thread");
    return { chatId: record.chatId, anchor: record.replyTo, inThread: record.inThread };
  }

  follow(thread: Thread, model: string | null, home: Pick<Binding, "chatId" | "anchor" | "inThread">): Follower {
    const follower = new Follower(this.#followerDeps(), thread, model, { chatId: home.chatId, anchor: home.anchor, inThread: home.inThread });
    this.#followers.set(thread.id, follower);
    follower.drawAll();
    return follower;
  }

  #followerDeps(): ConstructorParameters<typeof Follower>[0] {
    const { port, clock, log, settings } = this.#deps;
    const delivery: DeliveryDeps = { port, clock, log, table: this.#deps.turns, pingAfterMs: settings.pingAfterMs, writerTimes: { ...WRITER_TIMES, intervalMs: settings.writeIntervalMs, reopenMs: settings.reopenMs } };
    return { delivery, beginnings: this.#deps.beginnings, locale: settings.locale, retryMs: settings.retryMs, openRequests: (threadId) => this.#deps.desk.openOf(threadId) };
  }
}
