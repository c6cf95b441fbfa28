import type { CardStore } from "../cards/card-store.ts";
import { findElement, type MutableJson } from "../cards/card-tree.ts";
import { isJson, type Json } from "../refusal.ts";
import type { RuleBook } from "../rule-book.ts";
import { cardAction, type ClickBody } from "../socket/event-bodies.ts";
import type { LongConnection } from "../socket/long-connection.ts";
import type { App, ChatStore, Message } from "./chat-store.ts";
import { cardOf } from "./message-service.ts";

export interface Click {
  readonly messageId: string;
  /** Open id of who presses. */
  readonly by: string;
  /** The component, by its element id, its name or the text on it; the first that fits. */
  readonly elementId?: string;
  readonly name?: string;
  readonly text?: string;
  /** Instead of a component: a value of the test's own, as a forged or outdated button would send. */
  readonly value?: unknown;
  /** What the person has entered into a form, by the names of its inputs. */
  readonly form?: Json;
  readonly input?: string;
  readonly option?: string;
  readonly options?: readonly string[];
  readonly checked?: boolean;
  /** The form of the callback and of its frame; the default is what today's clients send. */
  readonly shape?: "value" | "behaviors" | "flat";
  readonly frame?: "event" | "card";
  readonly withoutOpenId?: boolean;
}

export interface ClickResult {
  /**
   * `answered`: the client answered in time. The others are what the person sees as an error: 200340 no connection,
   * 200341 no answer within three seconds, 200671 the client's handler failed, 200672 and 200673 its answer is wrong,
   * 200830 a card of the wrong schema. `pressed: false`: there is no such component, or it is disabled.
   */
  readonly outcome: "answered" | "error" | "notPressed";
  readonly code: number | null;
  readonly eventId: string | null;
  readonly toast: { readonly type: string; readonly content: string } | null;
  /** The answer held a card, and it is what the reader sees now. */
  readonly cardReplaced: boolean;
}

const toastTypes = new Set(["info", "success", "error", "warning"]);

/** A person's press on a card: the callback to its app, and what its answer does to the card. */
export class ClickService {
  readonly #store: ChatStore;
  readonly #cards: CardStore;
  readonly #rules: RuleBook;
  readonly #connection: LongConnection;

  constructor(parts: { readonly store: ChatStore; readonly cards: CardStore; readonly rules: RuleBook; readonly connection: LongConnection }) {
    this.#store = parts.store;
    this.#cards = parts.cards;
    this.#rules = parts.rules;
    this.#connection = parts.connection;
  }

  async click(click: Click): Promise<ClickResult> {
    const message = this.#store.messages.get(click.messageId);
    const app = message?.sender.kind === "app" ? this.#store.apps.get(message.sender.id) : undefined;
    const operator = this.#store.people.get(click.by);
    const card = message === undefined ? null : cardOf(message, this.#cards);
    if (message === undefined || app === undefined || operator === undefined || card === null || message.gone !== null) return notPressed;
    const body = readClick(card, click);
    if (body === null) return notPressed;
    const eventId = this.#store.newId("ev");
    const place = { messageId: message.messageId, chatId: message.chatId, operator, token: `c-${eventId}`, atMs: this.#store.clock.now(), withOpenId: click.withoutOpenId !== true };
    const event = cardAction(app, eventId, click.shape ?? "value", body, place);
    return { ...(await this.#push(app, message, click.frame ?? "event", event, eventId)), eventId };
  }

  async #push(app: App, message: Message, frame: "event" | "card", event: Json, eventId: string): Promise<Omit<ClickResult, "eventId">> {
    const entity = message.cardId === null ? undefined : this.#cards.get(message.cardId);
    const holders = entity === undefined ? [message] : [message, entity];
    for (const holder of holders) holder.openClicks += 1;
    const answer = await this.#connection.push(app.appId, frame, event);
    for (const holder of holders) holder.openClicks -= 1;
    if (answer === "noConnection") return failed(200340);
    if (answer === "late") this.#rules.note("click.late", "card.action.trigger", `${eventId} was not answered in time`);
    if (typeof answer === "string") return failed(200341);
    if (answer.code !== 200) return this.#wrong(200671, `the handler failed: ${answer.code}`);
    return this.#apply(message, answer.result);
  }

  #apply(message: Message, result: unknown): Omit<ClickResult, "eventId"> {
    const answer = result ?? {};
    if (!isJson(answer) || Object.keys(answer).some((name) => name !== "toast" && name !== "card")) return this.#wrong(200672, "the answer may hold toast and card only");
    const { toast, card } = answer;
    const shown = isJson(toast) && typeof toast["content"] === "string" ? { type: typeof toast["type"] === "string" ? toast["type"] : "info", content: toast["content"] } : null;
    if (toast !== undefined && (shown === null || !toastTypes.has(shown.type))) return this.#wrong(200672, "the toast is wrong");
    if (card === undefined) return { outcome: "answered", code: null, toast: shown, cardReplaced: false };
    const data = isJson(card) && card["type"] === "raw" ? card["data"] : undefined;
    if (!isJson(data)) return this.#wrong(200673, "the card of the answer is wrong");
    if (data["schema"] !== "2.0") return this.#wrong(200830, "a 2.0 card must be answered with a 2.0 card");
    const entity = message.cardId === null ? undefined : this.#cards.get(message.cardId);
    if (entity === undefined) {
      try {
        message.card = this.#cards.parseCard(JSON.stringify(data), "card.action.trigger");
      } catch (error) {
        return this.#wrong(200673, String(error));
      }
      return { outcome: "answered", code: null, toast: shown, cardReplaced: true };
    }
    if (this.#cards.streams(entity)) return { outcome: "answered", code: null, toast: shown, cardReplaced: false };
    const fault = this.#cards.answerClick(entity, data);
    return fault === null ? { outcome: "answered", code: null, toast: shown, cardReplaced: true } : this.#wrong(200673, fault.message);
  }

  #wrong(code: number, detail: string): Omit<ClickResult, "eventId"> {
    this.#rules.note("click.answer", "card.action.trigger", `${code} ${detail}`);
    return failed(code);
  }
}

const notPressed: ClickResult = { outcome: "notPressed", code: null, eventId: null, toast: null, cardReplaced: false };

function failed(code: number): Omit<ClickResult, "eventId"> {
  return { outcome: "error", code, toast: null, cardReplaced: false };
}

/** What the client would send for this press; null when nothing can be pressed. */
function readClick(card: MutableJson, click: Click): ClickBody | null {
  const rest = { inputValue: click.input ?? null, option: click.option ?? null, options: click.options ?? null, checked: click.checked ?? null };
  if (click.value !== undefined) return { tag: "button", name: click.name ?? null, value: click.value, formValue: click.form ?? null, ...rest };
  const found = click.elementId === undefined ? findPressable(card, click) : findElement(card, click.elementId)?.element;
  if (found === undefined || found["disabled"] === true) return null;
  const behaviors = Array.isArray(found["behaviors"]) ? (found["behaviors"] as unknown[]) : [];
  const callback = behaviors.find((behavior) => isJson(behavior) && behavior["type"] === "callback") as Json | undefined;
  const submits = found["form_action_type"] === "submit" || found["action_type"] === "form_submit";
  const name = typeof found["name"] === "string" ? found["name"] : null;
  return { tag: String(found["tag"]), name, value: callback?.["value"] ?? found["value"], formValue: submits ? (click.form ?? {}) : null, ...rest };
}

function findPressable(holder: unknown, click: Click): MutableJson | undefined {
  if (typeof holder !== "object" || holder === null) return undefined;
  if (isJson(holder) && typeof holder["tag"] === "string") {
    const text = isJson(holder["text"]) ? holder["text"]["content"] : undefined;
    if (click.name !== undefined ? holder["name"] === click.name : click.text !== undefined && holder["tag"] === "button" && text === click.text) return holder;
  }
  for (const inner of Object.values(holder)) {
    const found = findPressable(inner, click);
    if (found !== undefined) return found;
  }
  return undefined;
}
