import type { AnyNode, CallExpression, ClassBody, MemberExpression, Program, TryStatement } from "acorn";
import { childNodes, isFunction } from "./ast.ts";
import { type Effects, HARMLESS_CALLS } from "./effects.ts";
import type { Evaluator } from "./evaluate.ts";
import { primitive, type Reason, unknown, type Value } from "./values.ts";

export type ResolvedCall = {
  readonly name: string;
  readonly status: "resolved";
  /** The JSON value given to the tool; absent when it gets none. */
  readonly args?: unknown;
};

export type UnresolvedCall = {
  /** `null` when the tool's name itself is not static. */
  readonly name: string | null;
  readonly status: "unresolved";
  readonly reason: Reason;
  /** The argument's keys that are static, or the whole argument when it is static and no object. */
  readonly known?: unknown;
};

export type ExecCall = ResolvedCall | UnresolvedCall;

/** Where an expression stands: `reason` says why it may not run exactly once. */
interface Place {
  readonly reason: Reason | null;
  readonly inFunction: boolean;
  /** Inside a function that a name stands for: it runs where that name is called. */
  readonly named: boolean;
}

type Task = { readonly node: AnyNode; readonly place: Place } | (() => void);

/**
 * Lists the tool calls of a program in the order they run when it runs straight through. Iterative, so
 * that long chains of operators or calls cannot exhaust the stack.
 */
export function collectCalls(program: Program, evaluator: Evaluator, effects: Effects): ExecCall[] {
  const walk = new CallWalk(evaluator, effects);
  walk.run(program);
  return walk.calls;
}

class CallWalk {
  readonly calls: ExecCall[] = [];
  readonly #evaluator: Evaluator;
  readonly #effects: Effects;
  readonly #tasks: Task[] = [];
  /** Parts of optional chains that run only when something before them is there. */
  readonly #optional = new Set<AnyNode>();
  readonly #awaited = new Set<AnyNode>();
  readonly #namedFunctions = new Set<AnyNode>();
  /** The program may have ended, thrown, or left the enclosing inline function or labelled block before here. */
  #exited = false;
  #threw = false;
  #left = false;

  constructor(evaluator: Evaluator, effects: Effects) {
    this.#evaluator = evaluator;
    this.#effects = effects;
  }

  run(program: Program): void {
    this.#tasks.push({ node: program, place: { reason: null, inFunction: false, named: false } });
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) {
      if (typeof task === "function") task();
      else this.#visit(task.node, task.place);
    }
  }

  /** Schedules parts to be done next, first one first. */
  #then(place: Place, ...parts: readonly (AnyNode | null | undefined | (() => void))[]): void {
    for (let index = parts.length - 1; index >= 0; index -= 1) {
      const part = parts[index];
      if (typeof part === "function") this.#tasks.push(part);
      else if (part !== null && part !== undefined) this.#tasks.push({ node: part, place });
    }
  }

  /** The same for lists of any length. */
  #thenAll(place: Place, nodes: readonly AnyNode[], after?: () => void): void {
    if (after !== undefined) this.#tasks.push(after);
    for (let index = nodes.length - 1; index >= 0; index -= 1) this.#tasks.push({ node: nodes[index]!, place });
  }

  #visit(node: AnyNode, place: Place): void {
    switch (node.type) {
      case "CallExpression":
        this.#visitCall(node, place);
        return;
      case "MemberExpression":
        this.#visitMember(node, place);
        return;
      case "NewExpression":
        this.#thenAll(place, [node.callee, ...node.arguments], () => {
          const callee = this.#evaluator.evaluate(node.callee);
          if (callee.kind === "tool") this.#add(callee.name, node.arguments[0], place, "indirect");
          this.#addPassedTools(node.arguments, callee, place);
        });
        return;
      case "TaggedTemplateExpression":
        this.#thenAll(place, [node.tag, ...node.quasi.expressions], () => {
          const tag = this.#evaluator.evaluate(node.tag);
          const strings = node.quasi.quasis.map((quasi) => primitive(quasi.value.cooked ?? undefined));
          if (tag.kind === "tool") this.#addValue(tag.name, { kind: "array", site: node, items: strings }, place, null);
        });
        return;
      case "AwaitExpression":
        this.#awaited.add(node.argument);
        break;
      case "IfStatement":
      case "ConditionalExpression":
        this.#then(place, node.test, () => this.#then(perhaps(place, "conditional"), node.consequent, node.alternate));
        return;
      case "LogicalExpression":
        this.#then(place, node.left, () => this.#then(perhaps(place, "conditional"), node.right));
        return;
      case "AssignmentPattern":
        this.#then(place, node.left, () => this.#then(perhaps(place, "conditional"), node.right));
        return;
      case "AssignmentExpression":
        if (isFunction(node.right)) this.#namedFunctions.add(node.right);
        if (["&&=", "||=", "??="].includes(node.operator)) this.#then(place, node.left, () => this.#then(perhaps(place, "conditional"), node.right));
        else this.#then(place, node.left, node.right);
        return;
      case "SwitchStatement":
        this.#then(place, node.discriminant, () => this.#thenAll(perhaps(place, "conditional"), node.cases));
        return;
      case "ForStatement":
        this.#then(place, node.init, () => this.#then(perhaps(place, "loop"), node.test, node.update, node.body));
        return;
      case "ForInStatement":
      case "ForOfStatement":
        this.#then(place, node.right, () => this.#then(perhaps(place, "loop"), node.left, node.body));
        return;
      case "WhileStatement":
        this.#then(perhaps(place, "loop"), node.test, node.body);
        return;
      case "DoWhileStatement":
        this.#then(perhaps(place, "loop"), node.body, node.test);
        return;
      case "TryStatement":
        this.#visitTry(node, place);
        return;
      case "LabeledStatement": {
        const left = this.#left;
        this.#then(place, node.body, () => (this.#left = left));
        return;
      }
      case "BreakStatement":
        if (node.label !== null && node.label !== undefined) this.#left = true;
        return;
      case "ReturnStatement":
        this.#then(place, node.argument, () => {
          if (!place.inFunction) this.#left = true;
        });
        return;
      case "ThrowStatement":
        this.#then(place, node.argument, () => {
          if (!place.inFunction) this.#threw = true;
        });
        return;
      case "VariableDeclarator":
        if (node.init === null || node.init === undefined) break;
        if (isFunction(node.init)) this.#namedFunctions.add(node.init);
        this.#evaluator.evaluate(node.init);
        break;
      case "Property":
        if (isFunction(node.value)) this.#namedFunctions.add(node.value);
        break;
      case "FunctionDeclaration":
        this.#namedFunctions.add(node);
        break;
      case "ClassBody":
        this.#visitClass(node, place);
        return;
      default:
        break;
    }
    if (isFunction(node)) {
      const inside: Place = { ...perhaps(place, "callback"), inFunction: true, named: place.named || this.#namedFunctions.has(node) };
      this.#thenAll(inside, childNodes(node));
    } else {
      this.#thenAll(place, childNodes(node));
    }
  }

  #visitClass(node: ClassBody, place: Place): void {
    const later: Place = { ...perhaps(place, "callback"), inFunction: true, named: true };
    for (const member of node.body.toReversed()) {
      if (member.type === "StaticBlock") this.#thenAll(place, member.body);
      else this.#then(place, member.computed ? member.key : null, () => {
        this.#then(member.type === "PropertyDefinition" && member.static ? place : later, member.value);
      });
    }
  }

  /** What a `catch` may catch does not end the program; a `finally` runs in any case. */
  #visitTry(node: TryStatement, place: Place): void {
    const threw = this.#threw;
    const left = this.#left;
    const unlikely = perhaps(place, "conditional");
    this.#then(place, node.block, () => {
      if (node.handler !== null && node.handler !== undefined) {
        this.#threw = threw;
        this.#then(unlikely, node.handler, () => (this.#threw = threw));
      }
    }, () => {
      if (node.finalizer === null || node.finalizer === undefined) return;
      const after = { threw: this.#threw, left: this.#left };
      this.#threw = threw;
      this.#left = left;
      this.#then(place, node.finalizer, () => {
        this.#threw ||= after.threw;
        this.#left ||= after.left;
      });
    });
  }

  #visitMember(node: MemberExpression, place: Place): void {
    this.#then(place, node.object, () => {
      const skipped = node.optional && node.object.type !== "Super" && !isPresent(this.#evaluator.evaluate(node.object));
      if (skipped || this.#optional.has(node.object)) this.#optional.add(node);
      if (node.computed) this.#then(this.#within(node, place), node.property);
    });
  }

  #visitCall(node: CallExpression, place: Place): void {
    const inline = this.#isInline(node) ? node.callee : null;
    this.#then(place, inline === null ? node.callee : null, () => {
      if (node.optional || this.#optional.has(node.callee)) this.#optional.add(node);
      const inside = this.#within(node, place);
      this.#thenAll(inside, node.arguments, () => {
        if (inline === null) {
          this.#addCall(node, inside);
          return;
        }
        const left = this.#left;
        this.#thenAll(inside, childNodes(inline), () => (this.#left = left));
      });
    });
  }

  #within(node: AnyNode, place: Place): Place {
    return this.#optional.has(node) ? perhaps(place, "conditional") : place;
  }

  /** A function that is called where it stands, and waited for, is part of the straight run. */
  #isInline(node: CallExpression): boolean {
    const { callee } = node;
    if (callee.type !== "ArrowFunctionExpression" && callee.type !== "FunctionExpression") return false;
    return !callee.generator && !node.optional && (!callee.async || this.#awaited.has(node));
  }

  #addCall(node: CallExpression, place: Place): void {
    if (node.callee.type === "Super") return;
    const callee = this.#evaluator.evaluate(node.callee);
    const [first, second] = node.arguments;
    if (callee.kind === "tool") {
      this.#addValue(callee.name, this.#firstArgument(node.arguments), place, null);
      return;
    }
    if (callee.kind === "builtin" && callee.name === "exit") {
      if (!place.named) this.#exited = true;
      return;
    }
    if (callee.kind === "function" && this.#effects.exiting.has(callee.node) && !place.named) this.#exited = true;
    if (node.callee.type === "MemberExpression") {
      if (node.callee.object.type === "Super") return;
      const receiver = this.#evaluator.evaluate(node.callee.object);
      const name = this.#evaluator.memberName(node.callee);
      if (receiver.kind === "tool") {
        const spread = first?.type === "SpreadElement";
        if (name === "call") this.#addValue(receiver.name, spread ? unknown() : this.#firstArgument(node.arguments.slice(1)), place, null);
        if (name === "apply") this.#addValue(receiver.name, spread ? unknown() : this.#firstOf(second), place, null);
        return;
      }
      if (receiver.kind === "tools" && name === null) this.#add(null, first, place, "dynamic-name");
      else if (receiver.kind === "unknown") this.#addThroughUnknown(receiver, name, node, place);
    } else if (callee.kind === "unknown" && (callee.maybeTool || this.#isHandedOver(node.callee))) {
      this.#add(null, first, place, "dynamic-name");
    }
    this.#addPassedTools(node.arguments, callee, place);
  }

  /** A call on something that tools may have flowed into. */
  #addThroughUnknown(receiver: Extract<Value, { kind: "unknown" }>, name: string | null, node: CallExpression, place: Place): void {
    const [first] = node.arguments;
    if (receiver.maybeTool && name === null) this.#add(null, first, place, "dynamic-name");
    else if (receiver.maybeTool && (name === "call" || name === "apply")) this.#add(null, undefined, place, "indirect");
    else if (receiver.maybeTool && name !== null && !ORDINARY_METHODS.has(name)) this.#add(name, first, place, "indirect");
    else if (this.#effects.toolsEscape && name !== null && looksLikeTool(name)) this.#add(name, first, place, "indirect");
  }

  /** A parameter that is called, in a program that hands tools to its own functions. */
  #isHandedOver(callee: AnyNode): boolean {
    if (callee.type !== "Identifier" || !this.#effects.toolsHandedOver) return false;
    return this.#evaluator.names.references.get(callee)?.binding?.kind === "opaque";
  }

  /** A tool given to `map`, `then` and the like is called from there. */
  #addPassedTools(args: readonly AnyNode[], callee: Value, place: Place): void {
    if (callee.kind === "function" || (callee.kind === "builtin" && HARMLESS_CALLS.has(callee.name))) return;
    for (const argument of args) {
      const value = argument.type === "SpreadElement" ? unknown() : this.#evaluator.evaluate(argument);
      if (value.kind === "tool") this.#add(value.name, undefined, place, "indirect");
    }
  }

  /** `undefined` value: no argument at all. */
  #firstArgument(args: readonly AnyNode[]): Value | null {
    const [first] = args;
    if (first === undefined) return null;
    if (first.type !== "SpreadElement") return this.#evaluator.evaluate(first);
    const list = this.#evaluator.arguments(args);
    return list === null ? unknown() : (list[0] ?? null);
  }

  #firstOf(list: AnyNode | undefined): Value | null {
    if (list === undefined) return null;
    const value = list.type === "SpreadElement" ? unknown() : this.#evaluator.evaluate(list);
    if (value.kind === "array") return value.items[0] ?? null;
    return value.kind === "primitive" ? null : unknown();
  }

  #add(name: string | null, argument: AnyNode | undefined, place: Place, reason: Reason): void {
    const spread = argument?.type === "SpreadElement";
    this.#addValue(name, argument === undefined || spread ? null : this.#evaluator.evaluate(argument), place, reason);
  }

  #addValue(name: string | null, argument: Value | null, place: Place, reason: Reason | null): void {
    const uncertain = place.reason ?? (this.#exited || this.#threw || this.#left ? "after-exit" : null) ?? reason ?? this.#distrusted(name);
    const { writer } = this.#evaluator;
    if (uncertain === null && name !== null) {
      const written = argument === null ? { ok: true as const, json: undefined } : writer.write(argument);
      if (written.ok) {
        this.calls.push({ name, status: "resolved", ...(written.json === undefined ? {} : { args: written.json }) });
        return;
      }
      this.#addUnresolved(name, argument, written.reason);
      return;
    }
    this.#addUnresolved(name, argument, uncertain ?? "dynamic-name");
  }

  #addUnresolved(name: string | null, argument: Value | null, reason: Reason): void {
    const known = argument === null ? undefined : this.#evaluator.writer.known(argument);
    this.calls.push({ name, status: "unresolved", reason, ...(known === undefined ? {} : { known }) });
  }

  #distrusted(name: string | null): Reason | null {
    const { distrust, changedTools } = this.#effects;
    return distrust ?? (changedTools.has(null) || changedTools.has(name) ? "tampered" : null);
  }
}

/** A part that may not run exactly once; the outermost reason counts. */
function perhaps(place: Place, reason: Reason): Place {
  return place.reason === null ? { ...place, reason } : place;
}

function isPresent(value: Value): boolean {
  if (value.kind === "unknown") return false;
  return value.kind !== "primitive" || (value.value !== null && value.value !== undefined);
}

/** Methods of arrays, promises and text: on an unknown value they are no tool calls. */
const ORDINARY_METHODS: ReadonlySet<string> = new Set(
  (
    "at bind catch concat endsWith entries every filter finally find findIndex flat flatMap forEach get has includes indexOf " +
    "join keys map match next pop push reduce replace replaceAll shift slice some sort split startsWith test then toString trim values"
  ).split(" "),
);

const COMMON_TOOLS: ReadonlySet<string> = new Set(["exec_command", "write_stdin", "apply_patch", "view_image", "update_plan", "web_search"]);

function looksLikeTool(name: string): boolean {
  return COMMON_TOOLS.has(name) || name.startsWith("mcp__");
}
