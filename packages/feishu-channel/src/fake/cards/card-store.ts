import type { VirtualClock } from "../clock.ts";
import { isJson, parseJson, parseObject, Refused, type Json } from "../refusal.ts";
import type { Rule, RuleBook } from "../rule-book.ts";
import { CardFault, checkCard, elementIds, type CardLimits } from "./card-rules.ts";
import { findElement, mergeSettings, type MutableJson } from "./card-tree.ts";

const day = 86_400_000;
const streamingMs = 600_000;
const maxUuids = 10_000;

export interface CardEntity {
  readonly cardId: string;
  readonly appId: string;
  readonly createdAtMs: number;
  card: MutableJson;
  lastSequence: number;
  /** When streaming was last opened; null while it is closed. */
  streamingSinceMs: number | null;
  /** Set once a content call has been told that streaming ran out; later ones get the other code. */
  toldTimedOut: boolean;
  messageId: string | null;
  readonly uuids: Set<string>;
  /** Clicks on this card that wait for their answer. */
  openClicks: number;
  writes: number;
}

/** The CardKit entities: their content, sequence, streaming and the rules of both. Every method throws `Refused` or is done. */
export class CardStore {
  readonly #cards = new Map<string, CardEntity>();
  readonly #clock: VirtualClock;
  readonly #rules: RuleBook;
  readonly #limits: CardLimits;
  readonly #knownImage: (key: string) => boolean;
  #count = 0;

  constructor(parts: { readonly clock: VirtualClock; readonly rules: RuleBook; readonly limits: CardLimits; readonly knownImage: (key: string) => boolean }) {
    this.#clock = parts.clock;
    this.#rules = parts.rules;
    this.#limits = parts.limits;
    this.#knownImage = parts.knownImage;
  }

  get(cardId: string): CardEntity | undefined {
    return this.#cards.get(cardId);
  }

  get all(): readonly CardEntity[] {
    return [...this.#cards.values()];
  }

  /** Streaming as it is now; it closes by itself ten minutes after it was last opened. */
  streams(entity: CardEntity): boolean {
    return entity.streamingSinceMs !== null && this.#clock.now() - entity.streamingSinceMs < streamingMs;
  }

  create(appId: string, body: Json): { readonly card_id: string } {
    if (body["type"] !== "card_json") throw new Refused(10002, "type must be card_json");
    const card = this.#parseCard(body["data"], "card.create");
    this.#count += 1;
    const cardId = String(7_371_713_483_664_000_000n + BigInt(this.#count));
    const entity: CardEntity = {
      cardId, appId, card, createdAtMs: this.#clock.now(), lastSequence: 0, streamingSinceMs: null, toldTimedOut: false, messageId: null, uuids: new Set(), openClicks: 0, writes: 0,
    };
    this.#noteStreaming(entity, card);
    this.#cards.set(cardId, entity);
    return { card_id: cardId };
  }

  /** Marks the entity as sent; it may be sent once, by its own app. */
  send(appId: string, cardId: string, messageId: string): CardEntity {
    const entity = this.#find(appId, cardId, "message.create");
    if (entity.messageId !== null) {
      throw this.#refuse("card.sentTwice", "message.create", 230099, "Failed to create card content, ext=ErrCode: 200740; ErrMsg: the card entity was sent before");
    }
    entity.messageId = messageId;
    return entity;
  }

  update(appId: string, cardId: string, body: Json): Json {
    return this.#write(appId, cardId, body, "card.update", (entity) => {
      const card = isJson(body["card"]) ? body["card"] : {};
      if (card["type"] !== "card_json") throw new Refused(10002, "card.type must be card_json");
      entity.card = this.#parseCard(card["data"], "card.update");
      entity.streamingSinceMs = null;
      this.#noteStreaming(entity, entity.card);
    });
  }

  settings(appId: string, cardId: string, body: Json): Json {
    return this.#write(appId, cardId, body, "card.settings", (entity) => {
      const settings = parseObject(body["settings"], () => this.#refuse("request", "card.settings", 10002, "settings must be the JSON of an object"));
      this.#changed(entity, "card.settings", (card) => this.#applySettings(entity, card, settings, "card.settings"));
    });
  }

  content(appId: string, cardId: string, elementId: string, body: Json): Json {
    const api = "card.content";
    return this.#write(appId, cardId, body, api, (entity) => {
      const content = body["content"];
      if (typeof content !== "string" || content.length < 1 || content.length > 100_000) throw this.#refuse("request", api, 10002, "content must have 1 to 100000 characters");
      if (!this.streams(entity)) {
        const ranOut = entity.streamingSinceMs !== null && !entity.toldTimedOut;
        entity.toldTimedOut = true;
        // Nobody can see the end of the ten minutes to the second; to go on after it was told is a fault.
        if (ranOut) throw new Refused(200850, "streaming update timed out");
        throw this.#refuse("card.streamingClosed", api, 300309, "streaming mode is closed");
      }
      this.#changed(entity, api, (card) => {
        const place = findElement(card, elementId);
        if (place === undefined) throw this.#refuse("card.element", api, 300313, `not find elementID ${elementId}`);
        if (place.element["tag"] !== "markdown" && place.element["tag"] !== "plain_text") throw this.#refuse("card.element", api, 300310, "the element does not support streaming update");
        place.element["content"] = content;
      });
    });
  }

  batch(appId: string, cardId: string, body: Json): Json {
    const api = "card.batchUpdate";
    return this.#write(appId, cardId, body, api, (entity) => {
      const actions = parseJson(body["actions"], () => this.#refuse("request", api, 10002, "actions must be the JSON of a list"));
      if (!Array.isArray(actions) || actions.length === 0) throw this.#refuse("request", api, 10002, "actions must be a list");
      this.#changed(entity, api, (card) => {
        for (const action of actions) this.#act(entity, card, action, api);
      });
    });
  }

  /** The single-element calls; each is one action of a batch. */
  element(appId: string, cardId: string, body: Json, action: Json): Json {
    return this.#write(appId, cardId, body, "card.element", (entity) => this.#changed(entity, "card.element", (card) => this.#act(entity, card, action, "card.element")));
  }

  /** The answer of a click; a card in it is ignored while the card streams. Returns why it was not taken, or null. */
  answerClick(entity: CardEntity, card: unknown): CardFault | null {
    if (this.streams(entity)) return null;
    try {
      checkCard(card, this.#limits, this.#knownImage);
    } catch (fault) {
      if (fault instanceof CardFault) return fault;
      throw fault;
    }
    entity.card = structuredClone(card) as MutableJson;
    this.#noteStreaming(entity, entity.card);
    return null;
  }

  /** Checks a card that is sent or patched as JSON. */
  parseCard(text: unknown, api: string): MutableJson {
    const card = parseObject(text, () => this.#refuse("message.content", api, 230001, "content is not the JSON of a card"));
    try {
      this.#check(card);
    } catch (fault) {
      if (!(fault instanceof CardFault)) throw fault;
      if (fault.rule === "card.size") throw this.#refuse("card.size", api, 230025, "the length of the message content reaches its limit");
      throw this.#refuse(fault.rule, api, 230099, `Failed to create card content, ext=ErrCode: ${fault.errCode}; ErrMsg: ${fault.message}`);
    }
    return card;
  }

  #parseCard(text: unknown, api: string): MutableJson {
    const card = parseObject(text, () => this.#refuse("card.schema", api, 200220, "failed to generate card content"));
    try {
      this.#check(card);
    } catch (fault) {
      throw fault instanceof CardFault ? this.#refuse(fault.rule, api, fault.code, fault.message) : fault;
    }
    return card;
  }

  #check(card: unknown): void {
    for (const [advice, detail] of checkCard(card, this.#limits, this.#knownImage).advice) this.#rules.advise(advice, detail);
  }

  #find(appId: string, cardId: string, api: string): CardEntity {
    const entity = this.#cards.get(cardId);
    if (entity === undefined) throw this.#refuse("card.expired", api, 200740, "the card entity does not exist");
    if (this.#clock.now() - entity.createdAtMs > 14 * day) throw this.#refuse("card.expired", api, 200750, "the card entity has expired");
    if (entity.appId !== appId) throw this.#refuse("request", api, 300311, "the current application does not have permission to use this card");
    return entity;
  }

  #write(appId: string, cardId: string, body: Json, api: string, change: (entity: CardEntity) => void): Json {
    const entity = this.#find(appId, cardId, api);
    const { sequence, uuid } = body;
    if (uuid !== undefined && (typeof uuid !== "string" || uuid.length < 1 || uuid.length > 64)) throw this.#refuse("card.uuid", api, 10002, "uuid must have 1 to 64 characters");
    if (typeof uuid === "string" && entity.uuids.has(uuid)) throw new Refused(200770, "UUID conflict");
    if (typeof sequence !== "number" || !Number.isInteger(sequence) || sequence < 1 || sequence > 2_147_483_647) {
      throw this.#refuse("card.sequence", api, 10002, "sequence must be a positive int32");
    }
    if (sequence <= entity.lastSequence) throw this.#refuse("card.sequence", api, 300317, `sequence ${sequence} is not greater than ${entity.lastSequence}`);
    if (entity.openClicks > 0) throw this.#refuse("card.busy", api, 200810, "the card is in an ongoing interaction and cannot be updated");
    change(entity);
    entity.lastSequence = sequence;
    entity.writes += 1;
    if (typeof uuid === "string" && entity.uuids.size < maxUuids) entity.uuids.add(uuid);
    return {};
  }

  /** Changes a copy, checks the whole, and only then keeps it: a refused batch has changed nothing. */
  #changed(entity: CardEntity, api: string, change: (card: MutableJson) => void): void {
    const before = { since: entity.streamingSinceMs, told: entity.toldTimedOut };
    const card = structuredClone(entity.card);
    try {
      change(card);
      this.#check(card);
    } catch (fault) {
      entity.streamingSinceMs = before.since;
      entity.toldTimedOut = before.told;
      throw fault instanceof CardFault ? this.#refuse(fault.rule, api, fault.code, fault.message) : fault;
    }
    entity.card = card;
  }

  #act(entity: CardEntity, card: MutableJson, action: unknown, api: string): void {
    const params = isJson(action) && isJson(action["params"]) ? structuredClone(action["params"]) : {};
    const name = isJson(action) ? action["action"] : undefined;
    const refuse = (code: number, msg: string): Refused => this.#refuse("card.element", api, code, msg);
    const find = (id: unknown, code: number): NonNullable<ReturnType<typeof findElement>> => {
      const place = typeof id === "string" ? findElement(card, id) : undefined;
      if (place === undefined) throw refuse(code, `not find elementID ${String(id)}`);
      return place;
    };
    if (name === "partial_update_setting") return this.#applySettings(entity, card, isJson(params["settings"]) ? params["settings"] : {}, api);
    if (name === "delete_elements") {
      for (const id of Array.isArray(params["element_ids"]) ? params["element_ids"] : []) {
        const place = find(id, 300314);
        if (place.list === null) throw refuse(300314, `element ${String(id)} cannot be deleted`);
        place.list.splice(place.index, 1);
      }
    } else if (name === "partial_update_element") {
      const place = find(params["element_id"], 300313);
      const change = isJson(params["partial_element"]) ? params["partial_element"] : {};
      if (change["tag"] !== undefined && change["tag"] !== place.element["tag"]) throw refuse(300312, "unable to update element tag");
      Object.assign(place.element, change);
    } else if (name === "update_element") {
      const place = find(params["element_id"], 300121);
      if (!isJson(params["element"])) throw refuse(300121, "failed to replace element");
      place.replace({ element_id: params["element_id"], ...params["element"] });
    } else if (name === "add_elements") this.#add(card, params, find, refuse);
    else throw this.#refuse("request", api, 10002, `unknown action ${String(name)}`);
  }

  #add(card: MutableJson, params: Json, find: (id: unknown, code: number) => NonNullable<ReturnType<typeof findElement>>, refuse: (code: number, msg: string) => Refused): void {
    const { type, target_element_id: target, elements } = params;
    if (!Array.isArray(elements) || elements.length === 0) throw refuse(300315, "failed to add element: no elements");
    const known = new Set(elementIds(card));
    for (const id of elementIds(elements)) if (known.has(id)) throw refuse(300301, `duplicate element_id ${id} in card component`);
    if (type === "append") {
      const holder = target === undefined ? (card["body"] as MutableJson | undefined) : find(target, 300315).element;
      const list = holder?.["elements"];
      if (!Array.isArray(list)) throw refuse(300315, "failed to add element: the target is no container");
      list.push(...(elements as unknown[]));
      return;
    }
    const place = find(target, 300315);
    if (place.list === null || (type !== "insert_before" && type !== "insert_after")) throw refuse(300315, `failed to add element: ${String(type)}`);
    place.list.splice(place.index + (type === "insert_after" ? 1 : 0), 0, ...(elements as unknown[]));
  }

  #applySettings(entity: CardEntity, card: MutableJson, settings: Json, api: string): void {
    const unknown = Object.keys(settings).find((name) => name !== "config" && name !== "card_link");
    if (unknown !== undefined || !isJson(settings["config"] ?? {})) throw this.#refuse("card.properties", api, 300122, `failed to update card configuration: ${unknown ?? "config"}`);
    mergeSettings(card, structuredClone(settings));
    this.#noteStreaming(entity, settings);
  }

  /** Streaming starts anew, and its ten minutes with it, each time a card or setting says `streaming_mode: true`. */
  #noteStreaming(entity: CardEntity, card: Json): void {
    const mode = isJson(card["config"]) ? card["config"]["streaming_mode"] : undefined;
    if (mode === undefined) return;
    entity.streamingSinceMs = mode === true ? this.#clock.now() : null;
    entity.toldTimedOut = false;
  }

  #refuse(rule: Rule, api: string, code: number, msg: string): Refused {
    this.#rules.note(rule, api, `${code} ${msg}`);
    return new Refused(code, msg);
  }
}
