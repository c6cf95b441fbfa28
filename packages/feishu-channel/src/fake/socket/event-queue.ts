import type { VirtualClock } from "../clock.ts";
import type { Json } from "../refusal.ts";
import type { RuleBook } from "../rule-book.ts";
import type { LongConnection } from "./long-connection.ts";

/** After a push that was not acknowledged in time: 15 s, 5 min, 1 h and 6 h after the first. */
const repeatAfterMs = [15_000, 300_000, 3_600_000, 21_600_000];

export interface EventDelivery {
  readonly eventId: string;
  readonly appId: string;
  readonly eventType: string;
  pushes: number;
  /** The client said 200 in time. */
  acknowledged: boolean;
  givenUp: boolean;
}

/** What a fault does to the first push of an event. */
export interface PushFaults {
  readonly duplicate: boolean;
  readonly lost: boolean;
  readonly lateMs: number;
}

export interface EventQueueParts {
  readonly clock: VirtualClock;
  readonly rules: RuleBook;
  readonly connection: LongConnection;
  readonly faults: (eventType: string) => PushFaults;
  readonly redeliverOnConnect: boolean;
}

/** Delivers events at least once: pushes again until the client acknowledges, five times at most. */
export class EventQueue {
  readonly #clock: VirtualClock;
  readonly #rules: RuleBook;
  readonly #connection: LongConnection;
  readonly #faults: (eventType: string) => PushFaults;
  readonly #onConnect: boolean;
  readonly #open = new Map<EventDelivery, { readonly body: Json; readonly stop: () => void }>();
  #deliveries: EventDelivery[] = [];

  constructor(parts: EventQueueParts) {
    this.#clock = parts.clock;
    this.#rules = parts.rules;
    this.#connection = parts.connection;
    this.#faults = parts.faults;
    this.#onConnect = parts.redeliverOnConnect;
  }

  get deliveries(): readonly EventDelivery[] {
    return this.#deliveries;
  }

  add(appId: string, eventId: string, eventType: string, body: Json): void {
    const delivery: EventDelivery = { eventId, appId, eventType, pushes: 0, acknowledged: false, givenUp: false };
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > 5_000) this.#deliveries = this.#deliveries.slice(-2_500);
    const repeats = repeatAfterMs.map((after) => this.#clock.after(after, () => this.#push(delivery, body)));
    const last = this.#clock.after(repeatAfterMs.at(-1)! + this.#connection.answerMs, () => (delivery.givenUp = !this.#close(delivery)));
    this.#open.set(delivery, { body, stop: () => [...repeats, last].forEach((cancel) => cancel()) });
    const faults = this.#faults(eventType);
    if (faults.duplicate) this.#clock.after(faults.lateMs, () => this.#push(delivery, body));
    if (faults.lost) return;
    if (faults.lateMs > 0 && !faults.duplicate) this.#clock.after(faults.lateMs, () => this.#push(delivery, body));
    else this.#push(delivery, body);
  }

  /** A client has connected: what it missed is pushed at once, where the fake is told to (Feishu itself waits). */
  connected(appId: string): void {
    if (!this.#onConnect) return;
    for (const [delivery, { body }] of this.#open) if (delivery.appId === appId) this.#push(delivery, body);
  }

  #push(delivery: EventDelivery, body: Json): void {
    delivery.pushes += 1;
    void this.#connection.push(delivery.appId, "event", body).then((answer) => {
      if (answer === "late") this.#rules.note("event.late", delivery.eventType, `${delivery.eventId} was not acknowledged in time`);
      if (typeof answer === "string" || answer.code !== 200) return;
      delivery.acknowledged = true;
      this.#close(delivery);
    });
  }

  /** No more pushes. Returns whether the event was acknowledged. */
  #close(delivery: EventDelivery): boolean {
    this.#open.get(delivery)?.stop();
    this.#open.delete(delivery);
    return delivery.acknowledged;
  }
}
