import { randomBytes } from "node:crypto";
import { applyToThread, type ThreadView, type TurnView, viewOfThread, viewOfTurn } from "@foldcast/protocol-core/view";
import type { Locale } from "@foldcast/protocol-core/tools";
import type { Notification, RequestId, Thread, ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import type { Place } from "../delivery/sender.ts";
import { newTurnRecord, type TurnRecord } from "../delivery/record.ts";
import { type DeliveryDeps, TurnDelivery, type TurnState } from "../delivery/turn-delivery.ts";
import type { Table } from "../ledger/documents.ts";
import type { Beginning } from "./binding.ts";

/** Where the turns of a thread go that nobody in the chat has started. */
export interface Home {
  readonly chatId: string;
  /** A message of the topic that is the session; null = the chat. */
  readonly anchor: string | null;
  readonly inThread: boolean;
}

export interface FollowerDeps {
  readonly delivery: DeliveryDeps;
  /** By the id that a message has for the server. */
  readonly beginnings: Table<Beginning>;
  readonly locale: Locale;
  readonly openRequests: (threadId: string) => number;
  readonly retryMs: number;
}

/** One thread as a chat follows it: its state, and a delivery for each turn that is not done. */
export class Follower {
  readonly home: Home;
  readonly view: ThreadView;
  cwd: string;
  model: string | null;
  /** The beginning of its first prompt; empty before that. */
  preview: string;
  /** Ids of requests that came since the last connection. */
  readonly asked = new Set<RequestId>();
  readonly #deps: FollowerDeps;
  /** Requests to begin a turn that the server has not answered: until then a turn that nobody is named for may be theirs. */
  #asking = 0;
  readonly #deliveries = new Map<string, TurnDelivery>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(deps: FollowerDeps, thread: Thread, model: string | null, home: Home) {
    this.#deps = deps;
    this.home = home;
    this.view = viewOfThread(thread, thread.turns);
    this.cwd = thread.cwd;
    this.preview = thread.preview;
    this.model = model;
  }

  get runningTurn(): TurnView | null {
    return [...this.view.turns.values()].findLast((turn) => turn.status === "inProgress") ?? null;
  }

  /** A turn is over and its answer has not arrived yet. */
  get owes(): boolean {
    return [...this.#deliveries.keys()].some((id) => this.view.turns.get(id)?.status !== "inProgress");
  }

  /** Before a turn is asked for: its first notification may come in one piece with the answer. Call what it gives after that. */
  expect(): () => void {
    this.#asking += 1;
    return () => {
      this.#asking -= 1;
      this.drawAll();
    };
  }

  /** The turn that a message began, as the answer to its request or the thread says: noted now, whatever has told of it so far. */
  begin(turnId: string, clientId: string): void {
    const beginning = this.#take(clientId);
    if (!this.#deliveries.has(turnId) && this.#deps.delivery.table.get(turnId) === null) this.#add(this.#newRecord(turnId, beginning));
    this.draw(turnId);
  }

  startedBy(turnId: string): string | null {
    return this.#deliveries.get(turnId)?.record.startedBy ?? null;
  }

  /** The place to answer a turn in. */
  placeOf(turnId: string): Place {
    const record = this.#deliveries.get(turnId)?.record;
    return record ?? { chatId: this.home.chatId, replyTo: this.home.anchor, inThread: this.home.inThread };
  }

  notify(notification: Notification): void {
    if (!applyToThread(this.view, notification)) return;
    const { params } = notification;
    const turnId = "turnId" in params ? params.turnId : "turn" in params ? params.turn.id : null;
    if (notification.method === "item/started" || notification.method === "item/completed") this.#noteAdded(notification.params.turnId, notification.params.item);
    if (typeof turnId === "string") this.draw(turnId);
  }

  /** Draws a turn as it is now; one that has ended is brought to its end. `mayWait`: for its first item, which names whose it is. */
  draw(turnId: string, mayWait = true): void {
    const turn = this.view.turns.get(turnId);
    if (turn === undefined || this.#closed) return;
    const delivery = this.#deliveryOf(turn, mayWait);
    if (delivery === null) return;
    if (turn.status === "inProgress") delivery.show(this.#stateOf(turn, delivery.record));
    else this.#finish(turn, delivery);
  }

  /** Turns that an earlier process has begun to show. */
  adopt(record: TurnRecord): void {
    if (!this.#deliveries.has(record.turnId)) this.#deliveries.set(record.turnId, new TurnDelivery(this.#deps.delivery, record));
    this.draw(record.turnId);
  }

  /** The state after a new connection. Turns that ended meanwhile are brought to their end. */
  refresh(thread: Thread): void {
    const fresh = viewOfThread(thread, thread.turns);
    this.view.name = fresh.name;
    this.view.status = fresh.status;
    for (const [id, turn] of fresh.turns) this.view.turns.set(id, turn);
    this.drawAll();
  }

  /** Turns that are done and shown have left the view. */
  drawAll(): void {
    for (const id of [...this.view.turns.keys()]) this.draw(id);
  }

  /** A turn that the thread holds and nobody has told of. */
  know(turn: Turn): void {
    if (!this.view.turns.has(turn.id)) this.view.turns.set(turn.id, viewOfTurn(turn));
  }

  /** For what a running card shows that no notification tells: time that goes by, requests that wait. */
  tick(): void {
    const running = this.runningTurn;
    if (running !== null) this.draw(running.id, false);
  }

  /** For the ledger, which forgets what was noted long ago. */
  renew(): void {
    for (const { record } of this.#deliveries.values()) this.#deps.delivery.table.put(record.turnId, record);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const delivery of this.#deliveries.values()) delivery.close();
  }

  /** Null: it was delivered, or it cannot be known yet whose it is. */
  #deliveryOf(turn: TurnView, mayWait: boolean): TurnDelivery | null {
    const existing = this.#deliveries.get(turn.id);
    if (existing !== undefined) return existing;
    const kept = this.#deps.delivery.table.get(turn.id);
    if (kept !== null) return kept.state === "delivered" || kept.state === "undeliverable" ? null : this.#add(kept);
    const prompt = promptOf(turn);
    const beginning = prompt?.clientId == null ? null : this.#take(prompt.clientId);
    if (beginning === null && (this.#asking > 0 || (mayWait && turn.items.size === 0 && turn.status === "inProgress"))) return null;
    return this.#add(this.#newRecord(turn.id, beginning));
  }

  /** What is known of the message, which has begun its turn now. */
  #take(clientId: string): Beginning | null {
    const { beginnings } = this.#deps;
    const beginning = beginnings.get(clientId);
    if (beginning === null || beginning.threadId !== this.view.id) return null;
    beginnings.delete(clientId);
    if (this.preview === "") this.preview = beginning.title;
    return beginning;
  }

  /** A message that was added to a turn begins none. */
  #noteAdded(turnId: string, item: ThreadItem): void {
    const turn = this.view.turns.get(turnId);
    if (item.type === "userMessage" && item.clientId !== null && turn !== undefined && promptOf(turn)?.id !== item.id) this.#deps.beginnings.delete(item.clientId);
  }

  #newRecord(turnId: string, beginning: Beginning | null): TurnRecord {
    const place = beginning?.place ?? { chatId: this.home.chatId, replyTo: this.home.anchor, inThread: this.home.inThread };
    return newTurnRecord({
      turnId, threadId: this.view.id, mark: randomBytes(4).toString("hex"), ...place, startedBy: beginning?.startedBy ?? null,
      createdAt: this.#deps.delivery.clock.now(), title: beginning?.title ?? this.view.name ?? "",
    });
  }

  #add(record: TurnRecord): TurnDelivery {
    this.#deps.delivery.table.put(record.turnId, record);
    const delivery = new TurnDelivery(this.#deps.delivery, record);
    this.#deliveries.set(record.turnId, delivery);
    return delivery;
  }

  #finish(turn: TurnView, delivery: TurnDelivery): void {
    delivery.finish(this.#stateOf(turn, delivery.record)).then(
      (result) => {
        if (result === "later") this.#later(() => this.#finish(turn, delivery));
        else {
          this.#deliveries.delete(turn.id);
          this.view.turns.delete(turn.id);
        }
      },
      (error: unknown) => {
        this.#deps.delivery.log("an answer could not be delivered yet", { reason: error instanceof Error ? error.message : String(error) });
        this.#later(() => this.#finish(turn, delivery));
      },
    );
  }

  #later(work: () => void): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, this.#deps.retryMs);
    this.#timers.add(timer);
  }

  #stateOf(turn: TurnView, record: TurnRecord): TurnState {
    const { locale, openRequests, delivery } = this.#deps;
    return {
      turn, locale, cwd: this.cwd, title: this.view.name ?? record.title, subtitle: this.model, usage: this.view.usage,
      elapsedMs: turn.startedAt === null ? null : Math.max(0, delivery.clock.now() - turn.startedAt * 1_000),
      openRequests: turn.status === "inProgress" ? openRequests(this.view.id) : 0,
    };
  }
}

function promptOf(turn: TurnView): Extract<ThreadItem, { type: "userMessage" }> | undefined {
  for (const { item } of turn.items.values()) if (item.type === "userMessage") return item;
  return undefined;
}
