import type { Advice, Rule } from "../rule-book.ts";
import { isJson, type Json } from "../refusal.ts";
import { readMarkdown } from "./markdown-rules.ts";
import { containers, elements, interactive, objects, oldTags, type Kind, type Shape } from "./shapes.ts";

export interface CardLimits {
  /** UTF-8 bytes of the request body that would carry the whole card. */
  readonly bytes: number;
  readonly elements: number;
  readonly tables: number;
  readonly depth: number;
}

/** Feishu's 30 KB, 200 elements and five levels; of tables three, since some apps are refused from the fourth. */
export const strictCardLimits: CardLimits = { bytes: 30 * 1024, elements: 200, tables: 3, depth: 5 };

export interface CardFacts {
  readonly bytes: number;
  readonly elements: number;
  readonly tables: number;
  readonly depth: number;
  readonly images: readonly string[];
  readonly advice: readonly (readonly [Advice, string])[];
}

/** Why a card is not taken: CardKit's code, and the `ErrCode` that a message with this card would be refused with. */
export class CardFault extends Error {
  readonly rule: Rule;
  readonly code: number;
  readonly errCode: number;

  constructor(rule: Rule, code: number, msg: string, errCode = code) {
    super(msg);
    this.rule = rule;
    this.code = code;
    this.errCode = errCode;
  }
}

/** What the server cannot parse, with its own words in front. */
function malformed(rule: Rule, what: string): CardFault {
  return new CardFault(rule, 200621, `parse card json err: ${what}`);
}

const idForm = /^[A-Za-z][A-Za-z0-9_]{0,19}$/;

/** Checks a whole card as the server would; throws the first `CardFault`. `knownImage` tells whether a key was uploaded. */
export function checkCard(card: unknown, limits: CardLimits, knownImage: (key: string) => boolean): CardFacts {
  if (!isJson(card) || Object.keys(card).length === 0) throw new CardFault("card.schema", 300307, "the card DSL is empty");
  if (card["schema"] !== "2.0") throw new CardFault("card.schema", 300303, "only schema 2.0 is supported");
  if (isJson(card["config"]) && card["config"]["update_multi"] === false) throw new CardFault("card.properties", 300302, "update_multi property is false");
  const walk = new Walk(limits);
  walk.object(card, objects.card, "card", 0);
  const bytes = cardBytes(card);
  if (bytes > limits.bytes) throw new CardFault("card.size", 200860, `card content exceeds limit: ${bytes} bytes`);
  if (walk.elements > limits.elements) throw new CardFault("card.count", 300305, `the number of card components exceeds ${limits.elements}: ${walk.elements}`, 11310);
  if (walk.tables > limits.tables) throw new CardFault("card.tables", 230099, `ErrCode: 11310; ErrMsg: card table number over limit: ${walk.tables}`, 11310);
  for (const key of walk.images) if (!/^img_/.test(key) || !knownImage(key)) throw new CardFault("card.image", 200570, `ErrMsg: image key ${key.slice(0, 60)} is invalid`);
  return { bytes, elements: walk.elements, tables: walk.tables, depth: walk.depth, images: walk.images, advice: walk.advice };
}

/** The size that counts: the card as JSON inside the JSON of the request. */
export function cardBytes(card: unknown): number {
  return Buffer.byteLength(JSON.stringify({ type: "card_json", data: JSON.stringify(card) }));
}

/** Every id of the elements, in order; the walk of the rules without the rules. */
export function elementIds(card: unknown): string[] {
  if (Array.isArray(card)) return card.flatMap(elementIds);
  if (!isJson(card)) return [];
  const own = typeof card["tag"] === "string" && typeof card["element_id"] === "string" ? [card["element_id"]] : [];
  return [...own, ...Object.values(card).flatMap(elementIds)];
}

class Walk {
  elements = 0;
  tables = 0;
  depth = 0;
  readonly images: string[] = [];
  readonly advice: (readonly [Advice, string])[] = [];
  readonly #ids = new Set<string>();
  readonly #names = new Set<string>();
  readonly #limits: CardLimits;
  #form: { submits: number } | null = null;

  constructor(limits: CardLimits) {
    this.#limits = limits;
  }

  object(value: unknown, shape: Shape, path: string, depth: number): void {
    if (!isJson(value)) throw malformed("card.properties", `${path} must be an object`);
    for (const [name, inner] of Object.entries(value)) {
      const kind = Object.hasOwn(shape, name) ? shape[name] : undefined;
      if (kind === undefined) throw malformed("card.properties", `unknown property ${name} of ${path}`);
      if (inner !== null && inner !== undefined) this.#value(inner, kind, `${path}.${name}`, depth);
    }
  }

  #value(value: unknown, kind: Kind, path: string, depth: number): void {
    if (kind === "value") return;
    if (kind === "element") return this.#element(value, path, depth);
    if (kind !== "elements" && "object" in kind) return this.object(value, objects[kind.object], path, depth);
    if (!Array.isArray(value)) throw malformed("card.properties", `${path} must be a list`);
    for (const [index, item] of value.entries()) {
      if (kind === "elements") this.#element(item, `${path}[${index}]`, depth);
      else this.object(item, objects[kind.list], `${path}[${index}]`, depth);
    }
  }

  #element(value: unknown, path: string, depth: number): void {
    const tag = isJson(value) ? value["tag"] : undefined;
    if (!isJson(value) || typeof tag !== "string") throw malformed("card.properties", `${path} has no tag`);
    if (oldTags.has(tag)) throw new CardFault("card.properties", 200861, `tag ${tag} is not supported in schema 2.0`);
    const shape = Object.hasOwn(elements, tag) ? elements[tag] : undefined;
    if (shape === undefined) throw malformed("card.properties", `unknown tag ${tag} of ${path}`);
    this.elements += 1;
    this.#id(value["element_id"]);
    const inside = containers.has(tag) ? depth + 1 : depth;
    this.depth = Math.max(this.depth, inside);
    if (inside > this.#limits.depth) throw malformed("card.nesting", `components are nested deeper than ${this.#limits.depth} at ${path}`);
    const atRoot = /^card\.body\.elements\[\d+\]$/.test(path);
    if ((tag === "form" || tag === "table") && !atRoot) throw malformed("card.nesting", `${tag} is only allowed at the root, not at ${path}`);
    this.#special(tag, value, path);
    if (tag !== "form") return this.object(value, shape, path, inside);
    this.#form = { submits: 0 };
    this.object(value, shape, path, inside);
    if (this.#form.submits === 0) throw malformed("card.form", `the form at ${path} has no submit button`);
    this.#form = null;
  }

  #id(id: unknown): void {
    if (id === undefined) return;
    if (typeof id !== "string" || !idForm.test(id)) throw malformed("card.ids", `element_id ${JSON.stringify(id)} is invalid`);
    if (this.#ids.has(id)) throw new CardFault("card.ids", 300301, `duplicate element_id ${id} in card component`);
    this.#ids.add(id);
  }

  #special(tag: string, value: Json, path: string): void {
    if (tag === "markdown" || tag === "lark_md") this.#markdown(value);
    if (tag === "table") this.tables += 1;
    if (tag === "img" || tag === "custom_icon") this.images.push(typeof value["img_key"] === "string" ? value["img_key"] : "");
    const isText = tag === "plain_text" || tag === "markdown" || tag === "lark_md";
    if (isText && typeof value["content"] !== "string" && value["i18n_content"] === undefined) throw malformed("card.properties", `${path} has no content`);
    const options = value["options"];
    if (tag.endsWith("select_static") && (!Array.isArray(options) || options.length === 0)) throw malformed("card.form", `${path} has no options`);
    if (tag === "button") this.#button(value, path);
    for (const behavior of Array.isArray(value["behaviors"]) ? value["behaviors"] : []) {
      const calls = isJson(behavior) && behavior["type"] === "callback";
      if (calls && !isJson(behavior["value"])) throw malformed("card.properties", `the callback value of ${path} must be an object`);
    }
    const name = value["name"];
    if (this.#form !== null && interactive.has(tag) && (typeof name !== "string" || name === "")) throw new CardFault("card.form", 200530, `the name of ${path} in the form is empty`);
    if (typeof name === "string" && (interactive.has(tag) || tag === "form")) {
      if (this.#names.has(name)) throw malformed("card.form", `duplicate name ${name}`);
      this.#names.add(name);
    }
  }

  #markdown(value: Json): void {
    const facts = readMarkdown(typeof value["content"] === "string" ? value["content"] : "");
    this.tables += facts.tables;
    this.images.push(...facts.images);
    this.advice.push(...facts.advice);
    if (facts.pingsEveryone) throw new CardFault("card.pingsEveryone", 230099, "ErrCode: 11247; ErrMsg: at all is not permitted in this chat", 11247);
  }

  #button(value: Json, path: string): void {
    const text = isJson(value["text"]) ? value["text"]["content"] : undefined;
    if (typeof text === "string" && Array.from(text).length > 100) throw malformed("card.properties", `the text of ${path} is longer than 100 characters`);
    const submits = value["form_action_type"] === "submit" || value["action_type"] === "form_submit";
    if (this.#form !== null && submits) this.#form.submits += 1;
    if (value["confirm"] !== undefined && !submits) this.advice.push(["confirm.unused", path]);
    const does = ["behaviors", "value", "url"].some((name) => value[name] !== undefined);
    if (!does && value["disabled"] !== true && this.#form === null) this.advice.push(["button.noBehavior", path]);
  }
}
