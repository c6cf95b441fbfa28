import type { VirtualClock } from "./clock.ts";

export type Rule =
  | "rate.api" | "rate.chat" | "rate.message" | "rate.card" | "rate.ignoredReset"
  | "card.sequence" | "card.streamingClosed" | "card.busy" | "card.size" | "card.count" | "card.tables" | "card.nesting" | "card.properties" | "card.ids"
  | "card.form" | "card.image" | "card.sentTwice" | "card.uuid" | "card.element" | "card.expired" | "card.schema" | "card.pingsEveryone"
  | "message.size" | "message.content" | "message.gone" | "message.uuid" | "message.notThere" | "message.audit" | "message.thread"
  | "click.late" | "click.answer" | "event.late" | "token" | "request";

/** Looks wrong to a reader, though the server takes it. */
export type Advice = "fence.indented" | "fence.glued" | "fence.template" | "link.glued" | "link.scheme" | "stars" | "vanishing.tag" | "confirm.unused" | "button.noBehavior" | "table.tooMany";

export interface Broken {
  readonly rule: Rule;
  readonly api: string;
  readonly detail: string;
  readonly atMs: number;
}

export interface AdviceNote {
  readonly advice: Advice;
  readonly detail: string;
  readonly atMs: number;
}

const keep = 2_000;

/** Notes each rule that a client broke by itself. Refusals that the test ordered are no such thing and never noted. */
export class RuleBook {
  readonly #clock: VirtualClock;
  #broken: Broken[] = [];
  #advice: AdviceNote[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  note(rule: Rule, api: string, detail: string): void {
    if (this.#broken.length < keep) this.#broken.push({ rule, api, detail: detail.slice(0, 300), atMs: this.#clock.now() });
  }

  advise(advice: Advice, detail: string): void {
    if (this.#advice.length < keep) this.#advice.push({ advice, detail: detail.slice(0, 200), atMs: this.#clock.now() });
  }

  get broken(): readonly Broken[] {
    return this.#broken;
  }

  get advice(): readonly AdviceNote[] {
    return this.#advice;
  }

  clear(): void {
    this.#broken = [];
    this.#advice = [];
  }
}
