import type { AnyNode, BinaryExpression, CallExpression, Identifier, MemberExpression, ObjectExpression, TemplateLiteral } from "acorn";
import type { Step } from "./ast.ts";
import { JsonWriter } from "./json.ts";
import { callMethod, toText } from "./methods.ts";
import { foldBinary, foldUnary, isTruthy } from "./operators.ts";
import type { ExecLimits } from "./parse.ts";
import type { Binding, Names } from "./scope.ts";
import { isToolish, OBJECT_MEMBERS, type ObjectValue, primitive, TOOLS, UNDEFINED, unknown, type Value } from "./values.ts";

/** A little less than the parser's own depth on an ordinary stack. */
const MAX_DEPTH = 600;
const DEFAULT_MAX_STRING = 4_000_000;

/** Global names the reader knows; all others are unknown values. */
export const BUILTINS: ReadonlySet<string> = new Set(
  (
    "ALL_TOOLS text image audio generatedImage store load notify yield_control setTimeout clearTimeout exit globalThis eval " +
    "JSON String Number Boolean Array Object Promise Reflect Proxy Function Math RegExp Date Symbol Map Set WeakMap WeakSet Error TypeError"
  ).split(" "),
);

/** What the program changes about its own world; filled before values are relied on. */
export interface World {
  /** Array and object expressions whose value may be changed after it was made. */
  readonly changedSites: Set<AnyNode>;
  /** Built-in objects or prototypes are written to: no built-in method can be trusted. */
  builtinsChanged: boolean;
}

/**
 * Reads expressions statically. Flow-insensitive: a name counts only when it is initialised once and never
 * assigned, an object only when nothing may change it. Each expression is read once; work is bounded.
 */
export class Evaluator {
  readonly names: Names;
  readonly #world: World;
  readonly #maxString: number;
  readonly writer: JsonWriter;
  readonly #known = new Map<AnyNode, Value>();
  readonly #bindings = new Map<Binding, Value>();
  #steps: number;
  #depth = 0;

  constructor(names: Names, world: World, sourceLength: number, limits: ExecLimits) {
    this.names = names;
    this.writer = new JsonWriter(sourceLength);
    this.#world = world;
    this.#steps = limits.maxSteps ?? 200_000 + 8 * sourceLength;
    this.#maxString = limits.maxStringLength ?? DEFAULT_MAX_STRING;
  }

  evaluate(node: AnyNode): Value {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    if (this.#depth >= MAX_DEPTH) return unknown("limit");
    this.#depth += 1;
    // A value that needs itself is not static; this also ends circular initialisers.
    this.#known.set(node, unknown());
    const value = this.#evaluate(node);
    this.#depth -= 1;
    this.#known.set(node, value);
    return value;
  }

  /** Each expression is read once, so only work on whole values (copies, joins) needs a budget. */
  #spend(steps: number): boolean {
    this.#steps -= steps;
    return this.#steps >= 0;
  }

  #evaluate(node: AnyNode): Value {
    switch (node.type) {
      case "Literal":
        return node.regex === undefined ? primitive(node.value as string | number | boolean | bigint | null) : unknown();
      case "TemplateLiteral":
        return this.#template(node);
      case "Identifier":
        return this.#identifier(node);
      case "ArrayExpression":
        return this.#unlessChanged(node, this.#array(node.elements, node));
      case "ObjectExpression":
        return this.#unlessChanged(node, this.#object(node));
      case "MemberExpression":
        return this.#member(node);
      case "CallExpression":
        return this.#call(node);
      case "UnaryExpression":
        return node.operator === "delete" ? unknown() : foldUnary(node.operator, this.evaluate(node.argument));
      case "BinaryExpression":
        return this.#binary(node);
      case "LogicalExpression": {
        const left = this.evaluate(node.left);
        const truthy = isTruthy(left);
        if (truthy === null) return unknown("dynamic-args", this.#mayHoldTool(left) || this.#mayHoldTool(this.evaluate(node.right)));
        const nullish = left.kind === "primitive" && (left.value === null || left.value === undefined);
        const takesRight = node.operator === "&&" ? truthy : node.operator === "||" ? !truthy : nullish;
        return takesRight ? this.evaluate(node.right) : left;
      }
      case "ConditionalExpression": {
        const truthy = isTruthy(this.evaluate(node.test));
        if (truthy !== null) return this.evaluate(truthy ? node.consequent : node.alternate);
        return unknown("dynamic-args", this.#mayHoldTool(this.evaluate(node.consequent)) || this.#mayHoldTool(this.evaluate(node.alternate)));
      }
      case "SequenceExpression":
        return this.evaluate(node.expressions.at(-1)!);
      case "AwaitExpression":
        return this.evaluate(node.argument);
      case "ChainExpression":
      case "ParenthesizedExpression":
        return this.evaluate(node.expression);
      case "AssignmentExpression":
        return node.operator === "=" ? this.evaluate(node.right) : unknown();
      case "TaggedTemplateExpression": {
        const tag = this.evaluate(node.tag);
        const raw = tag.kind === "builtin" && tag.name === "String.raw" && !this.#world.builtinsChanged;
        return raw ? this.#concatenate(node.quasi, (index) => node.quasi.quasis[index]!.value.raw) : unknown();
      }
      case "ArrowFunctionExpression":
      case "FunctionExpression":
      case "ClassExpression":
        return { kind: "function", node };
      default:
        return unknown();
    }
  }

  /** A tool may be reached through this value: it is one, or holds one at any depth. */
  #mayHoldTool(value: Value): boolean {
    if (value.kind !== "array" && value.kind !== "object") return isToolish(value);
    const open: Value[] = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (isToolish(next) || !this.#spend(1)) return true;
      if (next.kind === "array") open.push(...next.items);
      if (next.kind !== "object") continue;
      if (next.rest === "tools" || next.rest === "maybe-tools") return true;
      open.push(...next.entries.values());
      if (next.proto !== null) open.push(next.proto);
    }
    return false;
  }

  #identifier(node: Identifier): Value {
    const reference = this.names.references.get(node);
    if (reference === undefined) return unknown();
    const { binding, owner } = reference;
    if (binding === null) return globalValue(node.name);
    if (binding.kind === "function" && !binding.reassigned) return { kind: "function", node: binding.node };
    if (binding.kind !== "value" || binding.reassigned) {
      return unknown("dynamic-args", binding.assigned.some((value) => this.#mayHoldTool(this.evaluate(value))));
    }
    if (owner === binding.owner && node.start < binding.readyAt) return unknown();
    return this.#binding(binding);
  }

  #binding(binding: Binding): Value {
    const known = this.#bindings.get(binding);
    if (known !== undefined) return known;
    this.#bindings.set(binding, unknown());
    let value = binding.init === null ? UNDEFINED : this.evaluate(binding.init);
    for (const step of binding.steps) value = this.#step(value, step);
    this.#bindings.set(binding, value);
    return value;
  }

  #step(value: Value, step: Step): Value {
    switch (step.kind) {
      case "key": {
        const key = this.#keyOf(step.key, step.computed);
        return key === null ? unknown("dynamic-args", this.#mayHoldTool(value)) : this.#read(value, key);
      }
      case "index":
        if (value.kind !== "array" || this.#world.builtinsChanged) return unknown("dynamic-args", this.#mayHoldTool(value));
        return value.items[step.index] ?? UNDEFINED;
      case "rest-array":
        if (value.kind !== "array" || this.#world.builtinsChanged) return unknown("dynamic-args", this.#mayHoldTool(value));
        return { ...value, items: value.items.slice(step.from) };
      case "rest-object": {
        if (value.kind === "tools") return value;
        if (value.kind !== "object") return unknown("dynamic-args", this.#mayHoldTool(value));
        const entries = new Map(value.entries);
        for (const { key, computed } of step.taken) {
          const name = this.#keyOf(key, computed);
          if (name === null) return unknown("dynamic-args", this.#mayHoldTool(value));
          entries.delete(name);
        }
        return { ...value, entries, proto: null };
      }
      case "default":
        if (value.kind === "primitive" && value.value === undefined) return this.evaluate(step.value);
        return value;
    }
  }

  /** A property name as text, `null` when it is not static. */
  #keyOf(key: AnyNode, computed: boolean): string | null {
    if (!computed && key.type === "Identifier") return key.name;
    const value = this.evaluate(key);
    return value.kind === "primitive" && key.type !== "PrivateIdentifier" ? String(value.value) : null;
  }

  /** The static name of a member expression's property. */
  memberName(node: MemberExpression): string | null {
    return this.#keyOf(node.property, node.computed);
  }

  #member(node: MemberExpression): Value {
    const object = this.evaluate(node.object);
    const key = this.memberName(node);
    if (key === null) return unknown(object.kind === "tools" ? "dynamic-name" : "dynamic-args", this.#mayHoldTool(object));
    return this.#read(object, key);
  }

  #read(object: Value, key: string): Value {
    switch (object.kind) {
      case "tools":
        return OBJECT_MEMBERS.has(key) ? unknown() : { kind: "tool", name: key };
      case "builtin":
        return object.name === "globalThis" ? globalValue(key) : { kind: "builtin", name: `${object.name}.${key}` };
      case "primitive":
        if (typeof object.value !== "string") return unknown();
        if (key === "length") return primitive(object.value.length);
        return isIndex(key) && Number(key) < object.value.length ? primitive(object.value[Number(key)]) : unknown();
      case "array":
        if (key === "length") return primitive(object.items.length);
        return isIndex(key) ? (object.items[Number(key)] ?? this.#absent()) : unknown();
      case "object":
        return this.#readObject(object, key);
      case "function":
      case "tool":
        return unknown();
      case "unknown":
        return unknown(object.reason, object.maybeTool);
    }
  }

  #readObject(object: ObjectValue, key: string): Value {
    let holder: Value | null = object;
    for (let hops = 0; holder !== null && hops < MAX_DEPTH; hops += 1) {
      if (holder.kind === "primitive") break;
      if (holder.kind !== "object") return unknown();
      const own = holder.entries.get(key);
      if (own !== undefined) return own;
      if (holder.rest === "tools" && !OBJECT_MEMBERS.has(key)) return { kind: "tool", name: key };
      if (holder.rest !== "nothing") return unknown("dynamic-args", holder.rest !== "anything");
      holder = holder.proto;
    }
    return OBJECT_MEMBERS.has(key) ? unknown() : this.#absent();
  }

  /** A property nobody wrote is `undefined`, unless a prototype was given one. */
  #absent(): Value {
    return this.#world.builtinsChanged ? unknown("tampered") : UNDEFINED;
  }

  #template(node: TemplateLiteral): Value {
    return this.#concatenate(node, (index) => node.quasis[index]!.value.cooked ?? "");
  }

  #concatenate(node: TemplateLiteral, quasi: (index: number) => string): Value {
    let text = quasi(0);
    for (let index = 0; index < node.expressions.length; index += 1) {
      const part = this.#textOf(this.evaluate(node.expressions[index]!));
      if (typeof part !== "string") return part;
      text += part + quasi(index + 1);
      if (text.length > this.#maxString) return unknown("limit");
    }
    return primitive(text);
  }

  #textOf(value: Value): string | Value {
    if (value.kind === "array" && this.#world.builtinsChanged) return unknown("tampered");
    if (value.kind === "array" && !this.#spend(value.items.length)) return unknown("limit");
    const text = toText(value, this.#maxString);
    if (text === "limit") return unknown("limit");
    return text?.text ?? (value.kind === "unknown" ? unknown(value.reason) : unknown());
  }

  /** Long `a + b + c …` chains lean left; they are folded in a loop. */
  #binary(node: BinaryExpression): Value {
    const chain: BinaryExpression[] = [];
    let first: AnyNode = node;
    while (first.type === "BinaryExpression") {
      chain.push(first);
      first = first.left;
    }
    let value = this.evaluate(first);
    for (let link = chain.pop(); link !== undefined; link = chain.pop()) {
      const right = this.evaluate(link.right);
      if (link.operator === "+" && (value.kind === "array" || right.kind === "array")) {
        value = this.#addAsText(value, right);
      } else {
        value = foldBinary(link.operator, value, right);
      }
      if (value.kind === "primitive" && typeof value.value === "string" && value.value.length > this.#maxString) {
        value = unknown("limit");
      }
    }
    return value;
  }

  #addAsText(left: Value, right: Value): Value {
    const before = this.#textOf(left);
    if (typeof before !== "string") return before;
    const after = this.#textOf(right);
    return typeof after === "string" ? primitive(before + after) : after;
  }

  /** Of a list or object that may be changed after it was made, only that tools may be in it is still known. */
  #unlessChanged(site: AnyNode, value: Value): Value {
    return this.#world.changedSites.has(site) ? unknown("dynamic-args", this.#mayHoldTool(value)) : value;
  }

  #array(elements: readonly (AnyNode | null)[], site: AnyNode): Value {
    const items: Value[] = [];
    for (const element of elements) {
      if (element?.type !== "SpreadElement") {
        items.push(element === null ? UNDEFINED : this.evaluate(element));
        continue;
      }
      const spread = this.evaluate(element.argument);
      if (spread.kind !== "array" || this.#world.builtinsChanged) {
        return unknown(spread.kind === "unknown" ? spread.reason : "dynamic-args", this.#mayHoldTool(spread));
      }
      if (!this.#spend(spread.items.length)) return unknown("limit");
      for (const item of spread.items) items.push(item);
    }
    return { kind: "array", site, items };
  }

  /** The arguments of a call, with static spreads spread; `null` from the first one that is not static. */
  arguments(nodes: readonly AnyNode[]): readonly Value[] | null {
    const list = this.#array(nodes, nodes[0] ?? NO_SITE);
    return list.kind === "array" ? list.items : null;
  }

  #object(node: ObjectExpression): Value {
    const entries = new Map<string, Value>();
    let proto: Value | null = null;
    let rest: ObjectValue["rest"] = "nothing";
    for (const property of node.properties) {
      if (property.type === "SpreadElement") {
        const spread = this.evaluate(property.argument);
        if (spread.kind === "primitive" && typeof spread.value !== "string") continue;
        const spelledOut = spread.kind === "object" && !hasGetter(spread);
        if (!spelledOut || spread.rest !== "nothing") {
          const tools = spread.kind === "tools" || (spelledOut && spread.rest === "tools");
          const perhapsTools = this.#mayHoldTool(spread);
          // What was written before the spread may be overwritten by it.
          if (!this.#spend(entries.size)) return unknown("limit");
          for (const written of entries.keys()) entries.set(written, unknown("dynamic-args", perhapsTools));
          rest = tools && rest === "nothing" ? "tools" : unclear(rest, perhapsTools);
        }
        if (!spelledOut) continue;
        if (!this.#spend(spread.entries.size)) return unknown("limit");
        for (const [key, value] of spread.entries) entries.set(key, value);
        continue;
      }
      const key = this.#keyOf(property.key, property.computed);
      if (key === null) {
        if (!this.#spend(entries.size)) return unknown("limit");
        const perhapsTools = property.kind !== "init" || this.#mayHoldTool(this.evaluate(property.value));
        for (const written of entries.keys()) entries.set(written, unknown("dynamic-args", perhapsTools));
        rest = unclear(rest, perhapsTools);
        continue;
      }
      const value = property.kind === "init" ? this.evaluate(property.value) : unknown("getter");
      if (key === "__proto__" && !property.computed && !property.method && !property.shorthand && property.kind === "init") proto = value;
      else entries.set(key, value);
    }
    return { kind: "object", site: node, entries, proto, rest };
  }

  #call(node: CallExpression): Value {
    const args = this.arguments(node.arguments);
    const callee = node.callee.type === "Super" ? unknown() : this.evaluate(node.callee);
    if (callee.kind === "builtin" && args !== null && !this.#world.builtinsChanged) {
      const result = this.#callBuiltin(callee.name, args);
      if (result !== null) return result;
    }
    const member = node.callee.type === "MemberExpression" ? node.callee : null;
    const receiver = member === null ? UNDEFINED : this.evaluate(member.object);
    const name = member === null ? null : this.memberName(member);
    if (receiver.kind === "tool" && name === "bind") return args !== null && args.length <= 1 ? receiver : unknown("indirect", true);
    if (callee.kind === "tool") return unknown();
    if (name !== null && args !== null && (receiver.kind === "primitive" || receiver.kind === "array")) {
      if (this.#world.builtinsChanged) return unknown("tampered");
      if (!this.#spend(receiver.kind === "array" ? receiver.items.length : 1)) return unknown("limit");
      const result = callMethod(receiver, name, args, this.#maxString, node);
      if (result !== null) return this.#unlessChanged(node, result);
    }
    const reason = [receiver, ...(args ?? [])].find((value) => value.kind === "unknown" && value.reason === "limit");
    return unknown(reason === undefined ? "dynamic-args" : "limit", this.#mayHoldTool(receiver) || (args?.some((value) => this.#mayHoldTool(value)) ?? false));
  }

  #callBuiltin(name: string, args: readonly Value[]): Value | null {
    const [first = UNDEFINED, second = UNDEFINED, third = UNDEFINED] = args;
    switch (name) {
      case "JSON.stringify": {
        if (second.kind !== "primitive" || third.kind !== "primitive" || typeof third.value === "bigint") return null;
        const written = this.writer.write(first);
        if (!written.ok) return unknown(written.reason);
        const indent = typeof third.value === "string" || typeof third.value === "number" ? third.value : undefined;
        const text = JSON.stringify(written.json, null, indent) as string | undefined;
        return text !== undefined && text.length > this.#maxString ? unknown("limit") : primitive(text);
      }
      case "String": {
        if (args.length === 0) return primitive("");
        const text = this.#textOf(first);
        return typeof text === "string" ? primitive(text) : text;
      }
      case "Number":
        return first.kind === "primitive" && typeof first.value !== "bigint" ? primitive(args.length === 0 ? 0 : Number(first.value)) : null;
      default:
        return null;
    }
  }
}

const NO_SITE: AnyNode = { type: "EmptyStatement", start: 0, end: 0 };

function globalValue(name: string): Value {
  switch (name) {
    case "tools":
      return TOOLS;
    case "undefined":
      return UNDEFINED;
    case "NaN":
      return primitive(Number.NaN);
    case "Infinity":
      return primitive(Number.POSITIVE_INFINITY);
    default:
      return BUILTINS.has(name) ? { kind: "builtin", name } : unknown();
  }
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,8})$/.test(key);
}

function hasGetter(object: ObjectValue): boolean {
  for (const value of object.entries.values()) if (value.kind === "unknown" && value.reason === "getter") return true;
  return false;
}

/** What an object may hold after a part was added that is not spelled out. */
function unclear(rest: ObjectValue["rest"], perhapsTools: boolean): ObjectValue["rest"] {
  return perhapsTools || rest === "tools" || rest === "maybe-tools" ? "maybe-tools" : "anything";
}
