import { randomBytes } from "node:crypto";
import { applyToThread, type ThreadView, type TurnView, viewOfThread } from "@foldcast/protocol-core/view";
import type { Locale } from "@foldcast/protocol-core/tools";
import type { Notification, RequestId, Thread } from "@foldcast/protocol-core/wire";
import type { Place } from "../delivery/sender.ts";
import { newTurnRecord, type TurnRecord } from "../delivery/record.ts";
import { type DeliveryDeps, TurnDelivery, type TurnState } from "../delivery/turn-delivery.ts";

/** Where the turns of a thread go that nobody in the chat has started. */
export interface Home {
  readonly chatId: string;
  /** A message of the topic that is the session; null = the chat. */
  readonly anchor: string | null;
  readonly inThread: boolean;
}

/** A message that is about to begin a turn: its turn answers it. */
export interface Beginning {
  readonly place: Place;
  readonly startedBy: string;
  readonly title: string;
}

export interface FollowerDeps {
  readonly delivery: DeliveryDeps;
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
  readonly #beginnings: Beginning[] = [];
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

  /** Before the request is sent: the turn's first notification may come in one piece with its answer. */
  expect(beginning: Beginning): () => void {
    this.#beginnings.push(beginning);
    return () => {
      const at = this.#beginnings.indexOf(beginning);
      if (at !== -1) this.#beginnings.splice(at, 1);
    };
  }

  /** The turn that a message began, as its request or the thread says: noted now, whatever has told of it so far. */
  begin(turnId: string, beginning: Beginning): void {
    if (this.preview === "") this.preview = beginning.title;
    const at = this.#beginnings.indexOf(beginning);
    if (at !== -1) this.#beginnings.splice(at, 1);
    if (this.#deliveries.has(turnId) || this.#deps.delivery.table.get(turnId) !== null) return;
    this.#beginnings.unshift(beginning);
    this.#deliveryOf(turnId);
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
    if (typeof turnId === "string") this.draw(turnId);
  }

  /** Draws a turn as it is now; one that has ended is brought to its end. */
  draw(turnId: string): void {
    const turn = this.view.turns.get(turnId);
    if (turn === undefined || this.#closed) return;
    const delivery = this.#deliveryOf(turnId);
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
    for (const id of this.#deliveries.keys()) this.draw(id);
  }

  /** For what a running card shows that no notification tells: time that goes by, requests that wait. */
  tick(): void {
    const running = this.runningTurn;
    if (running !== null) this.draw(running.id);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const delivery of this.#deliveries.values()) delivery.close();
  }

  #deliveryOf(turnId: string): TurnDelivery | null {
    const existing = this.#deliveries.get(turnId);
    if (existing !== undefined) return existing;
    const kept = this.#deps.delivery.table.get(turnId);
    if (kept?.state === "delivered" || kept?.state === "undeliverable") return null;
    const beginning = this.#beginnings.shift();
    const place = beginning?.place ?? { chatId: this.home.chatId, replyTo: this.home.anchor, inThread: this.home.inThread };
    const record = kept ?? newTurnRecord({
      turnId, threadId: this.view.id, mark: randomBytes(4).toString("hex"), ...place, startedBy: beginning?.startedBy ?? null,
      createdAt: this.#deps.delivery.clock.now(), title: beginning?.title ?? this.view.name ?? "",
    });
    this.#deps.delivery.table.put(turnId, record);
    const delivery = new TurnDelivery(this.#deps.delivery, record);
    this.#deliveries.set(turnId, delivery);
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
