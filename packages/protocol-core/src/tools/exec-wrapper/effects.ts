import type { AnyNode, CallExpression, MemberExpression, NewExpression, Pattern, Program } from "acorn";
import { childNodes, isFunction, readPattern } from "./ast.ts";
import { BUILTINS, type Evaluator, type World } from "./evaluate.ts";
import { isToolish, type Reason, type Value } from "./values.ts";

/** What running the program may do to values that static reading would otherwise trust. */
export interface Effects {
  /** Tools that are replaced by the program; `null` stands for any of them. */
  readonly changedTools: ReadonlySet<string | null>;
  /** Set when nothing the program does can be trusted. */
  readonly distrust: Reason | null;
  /** A tool or `tools` goes where reading cannot follow it. */
  readonly toolsEscape: boolean;
  /** A tool or `tools` is handed to a function of the program. */
  readonly toolsHandedOver: boolean;
  /** Functions whose body calls `exit()`. */
  readonly exiting: ReadonlySet<AnyNode>;
}

/** Global functions that keep and change nothing of what they are given. */
export const HARMLESS_CALLS: ReadonlySet<string> = new Set(
  (
    "text image audio generatedImage notify store exit yield_control JSON.stringify String Number Boolean Array.isArray " +
    "Object.keys Object.getOwnPropertyNames Object.hasOwn Reflect.has Reflect.ownKeys"
  ).split(" "),
);

const WRITING_CALLS: ReadonlySet<string> = new Set(
  (
    "Object.assign Object.defineProperty Object.defineProperties Object.setPrototypeOf " +
    "Reflect.set Reflect.defineProperty Reflect.deleteProperty Reflect.setPrototypeOf"
  ).split(" "),
);

/** Array methods that give nothing of the array away, and those that give out its elements only. */
const TEXT_METHODS: ReadonlySet<string> = new Set(["join", "toString", "includes", "indexOf", "lastIndexOf"]);
const READING_METHODS: ReadonlySet<string> = new Set(
  (
    "at concat entries every filter find findIndex findLast findLastIndex flat flatMap forEach keys map reduce reduceRight " +
    "slice some toReversed toSorted toSpliced values with"
  ).split(" "),
);

/** Walks the program once and records, in `world` and in the result, what may change behind the reader's back. */
export function findEffects(program: Program, evaluator: Evaluator, world: World): Effects {
  const walk = new EffectWalk(evaluator, world);
  const open: { node: AnyNode; owner: AnyNode | null }[] = [{ node: program, owner: null }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    walk.visit(next.node, next.owner);
    const owner = isFunction(next.node) ? next.node : next.owner;
    const children = childNodes(next.node);
    for (let index = children.length - 1; index >= 0; index -= 1) open.push({ node: children[index]!, owner });
  }
  return walk.effects();
}

class EffectWalk {
  readonly #evaluator: Evaluator;
  readonly #world: World;
  readonly #changedTools = new Set<string | null>();
  readonly #exiting = new Set<AnyNode>();
  readonly #leaked = new Set<Value>();
  #distrust: Reason | null = null;
  #toolsEscape = false;
  #toolsHandedOver = false;
  #writesToUnknown = false;

  constructor(evaluator: Evaluator, world: World) {
    this.#evaluator = evaluator;
    this.#world = world;
  }

  effects(): Effects {
    // Something that may be `tools` is written to: then any tool may be another one.
    if (this.#toolsEscape && this.#writesToUnknown) this.#changedTools.add(null);
    return {
      changedTools: this.#changedTools,
      distrust: this.#distrust,
      toolsEscape: this.#toolsEscape,
      toolsHandedOver: this.#toolsHandedOver,
      exiting: this.#exiting,
    };
  }

  visit(node: AnyNode, owner: AnyNode | null): void {
    switch (node.type) {
      case "CallExpression":
        this.#call(node, owner);
        break;
      case "NewExpression":
        this.#leakArguments(node, this.#evaluator.evaluate(node.callee));
        break;
      case "VariableDeclarator":
        if (node.init === null || node.init === undefined) break;
        // In source order, so that long chains of names are not followed all at once later.
        this.#evaluator.evaluate(node.init);
        if (this.#isLoose(node.id)) this.#leak(node.init);
        break;
      case "AssignmentExpression":
        this.#writePattern(node.left);
        this.#leak(node.right);
        break;
      case "UpdateExpression":
        if (node.argument.type === "MemberExpression") this.#write(node.argument);
        break;
      case "UnaryExpression":
        if (node.operator === "delete" && node.argument.type === "MemberExpression") this.#write(node.argument);
        break;
      case "ForOfStatement":
        this.#leakItems(this.#evaluator.evaluate(node.right));
        if (node.left.type !== "VariableDeclaration") this.#writePattern(node.left);
        break;
      case "ForInStatement":
        if (node.left.type !== "VariableDeclaration") this.#writePattern(node.left);
        break;
      case "ReturnStatement":
      case "YieldExpression":
      case "ThrowStatement":
        if (node.argument !== null && node.argument !== undefined) this.#leak(node.argument);
        break;
      case "ArrowFunctionExpression":
        if (node.expression) this.#leak(node.body);
        break;
      case "ConditionalExpression":
        this.#leak(node.consequent);
        this.#leak(node.alternate);
        break;
      case "LogicalExpression":
      case "AssignmentPattern":
        this.#leak(node.left);
        this.#leak(node.right);
        break;
      case "PropertyDefinition":
        if (node.value !== null && node.value !== undefined) this.#leak(node.value);
        break;
      case "TaggedTemplateExpression": {
        const tag = this.#evaluator.evaluate(node.tag);
        if (tag.kind !== "builtin") for (const expression of node.quasi.expressions) this.#leak(expression);
        break;
      }
      default:
        break;
    }
  }

  /** Whether a declaration's value can reach a name that is assigned again, so that reading loses its track. */
  #isLoose(pattern: Pattern): boolean {
    return readPattern(pattern).targets.some(({ target }) => {
      const binding = target.type === "Identifier" ? this.#evaluator.names.declared.get(target) : undefined;
      return binding?.kind !== "value" || binding.reassigned;
    });
  }

  #call(node: CallExpression, owner: AnyNode | null): void {
    const callee = node.callee.type === "Super" ? null : this.#evaluator.evaluate(node.callee);
    if (callee?.kind === "builtin") {
      if (callee.name === "exit" && owner !== null) this.#exiting.add(owner);
      if (callee.name === "eval" || callee.name === "Function") this.#runText(node.arguments.at(-1));
      if (WRITING_CALLS.has(callee.name)) this.#writeThrough(node);
    }
    this.#leakArguments(node, callee);
    if (node.callee.type !== "MemberExpression" || callee?.kind === "tool") return;
    const receiver = this.#evaluator.evaluate(node.callee.object);
    const name = this.#evaluator.memberName(node.callee) ?? "";
    if (receiver.kind === "array" && TEXT_METHODS.has(name)) return;
    if (receiver.kind === "array" && READING_METHODS.has(name)) this.#leakItems(receiver);
    else if (receiver.kind === "array" || receiver.kind === "object") this.#leakValue(receiver);
  }

  #leakArguments(node: CallExpression | NewExpression, callee: Value | null): void {
    if (callee?.kind === "builtin" && callee.name === "Function" && node.type === "NewExpression") this.#runText(node.arguments.at(-1));
    if (callee?.kind === "tool" || (callee?.kind === "builtin" && HARMLESS_CALLS.has(callee.name))) return;
    // `tools.name.call(…)`: what a tool is given becomes JSON at once.
    if (node.callee.type === "MemberExpression" && node.callee.object.type !== "Super" && this.#evaluator.evaluate(node.callee.object).kind === "tool") return;
    for (const argument of node.arguments) {
      if (callee?.kind === "function" && isToolish(this.#evaluator.evaluate(unwrap(argument)))) this.#toolsHandedOver = true;
      this.#leak(argument);
    }
  }

  /** Program text that is made at run time: harmless only when it is known and can neither assign nor leave. */
  #runText(argument: AnyNode | undefined): void {
    const text = argument === undefined ? null : this.#evaluator.evaluate(argument);
    if (text === null || (text.kind === "primitive" && typeof text.value !== "string")) return;
    const changing = /=|\+\+|--|\b(?:delete|exit|prototype|Object|Reflect|eval|Function|constructor)\b/;
    if (text.kind !== "primitive" || changing.test(String(text.value))) this.#distrust = "eval";
  }

  /** `Object.assign(tools, …)` and its like. */
  #writeThrough(node: CallExpression): void {
    const [target, key] = node.arguments;
    if (target === undefined) return;
    const property = key === undefined ? null : this.#evaluator.evaluate(key);
    const name = property?.kind === "primitive" ? String(property.value) : null;
    this.#writeTo(this.#evaluator.evaluate(target), name);
  }

  #writePattern(pattern: Pattern): void {
    for (const { target } of readPattern(pattern).targets) {
      if (target.type === "MemberExpression") this.#write(target);
      else if (this.#evaluator.names.references.get(target)?.binding === null) this.#writeGlobal(target.name);
    }
  }

  #write(member: MemberExpression): void {
    if (member.object.type === "Super") return;
    const target = this.#evaluator.evaluate(member.object);
    if (target.kind === "unknown" && reachesPrototype(member.object)) this.#distrust = "tampered";
    this.#writeTo(target, this.#evaluator.memberName(member));
  }

  #writeTo(target: Value, name: string | null): void {
    switch (target.kind) {
      case "array":
      case "object":
        this.#world.changedSites.add(target.site);
        break;
      case "tools":
        this.#changedTools.add(name);
        break;
      case "builtin":
        if (target.name === "globalThis") {
          this.#writeGlobal(name);
          break;
        }
        this.#world.builtinsChanged = true;
        // JSON.stringify asks every object for `toJSON`.
        if (name === null || name === "toJSON") this.#distrust = "tampered";
        break;
      case "unknown":
        this.#writesToUnknown = true;
        break;
      default:
        break;
    }
  }

  #writeGlobal(name: string | null): void {
    if (name === null || name === "tools") this.#changedTools.add(null);
    if (name === null || BUILTINS.has(name)) this.#world.builtinsChanged = true;
  }

  /** The value of an expression goes where it may be changed or called. Choices are handled at their own visit. */
  #leak(expression: AnyNode): void {
    const node = unwrap(expression);
    if (node.type === "ConditionalExpression" || node.type === "LogicalExpression") return;
    const value = this.#evaluator.evaluate(node);
    // A literal written here is new: nobody else can see it, but its parts may be known elsewhere.
    if (value.kind === "array" && node.type === "ArrayExpression") for (const item of value.items) this.#leakValue(item);
    else if (value.kind === "object" && node.type === "ObjectExpression") for (const part of value.entries.values()) this.#leakValue(part);
    else this.#leakValue(value);
  }

  #leakItems(value: Value): void {
    if (value.kind === "array") for (const item of value.items) this.#leakValue(item);
    else this.#leakValue(value);
  }

  #leakValue(value: Value): void {
    const open = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (isToolish(next)) this.#toolsEscape = true;
      if ((next.kind !== "array" && next.kind !== "object") || this.#leaked.has(next)) continue;
      this.#leaked.add(next);
      this.#world.changedSites.add(next.site);
      for (const part of next.kind === "array" ? next.items : next.entries.values()) open.push(part);
      if (next.kind === "object" && next.proto !== null) open.push(next.proto);
    }
  }
}

/** The expression whose value an expression passes on. */
function unwrap(expression: AnyNode): AnyNode {
  for (let node = expression; ; ) {
    if (node.type === "SequenceExpression") node = node.expressions.at(-1)!;
    else if (node.type === "AwaitExpression" || node.type === "SpreadElement") node = node.argument;
    else if (node.type === "ChainExpression") node = node.expression;
    else return node;
  }
}

const PROTOTYPE_WAYS = new Set(["__proto__", "prototype", "constructor", "getPrototypeOf"]);

function reachesPrototype(start: AnyNode): boolean {
  for (let node = start; ; ) {
    if (node.type === "CallExpression") {
      node = node.callee;
    } else if (node.type === "MemberExpression") {
      if (node.property.type === "Identifier" && PROTOTYPE_WAYS.has(node.property.name)) return true;
      if (node.property.type === "Literal" && PROTOTYPE_WAYS.has(String(node.property.value))) return true;
      node = node.object;
    } else {
      return false;
    }
  }
}
