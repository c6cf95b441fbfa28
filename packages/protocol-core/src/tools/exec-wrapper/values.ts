import type { AnyNode } from "acorn";

export type Primitive = string | number | boolean | bigint | null | undefined;

/** Why a value or a call could not be determined. */
export type Reason =
  | "loop"
  | "conditional"
  | "callback"
  | "dynamic-args"
  | "dynamic-name"
  | "indirect"
  | "getter"
  | "tampered"
  | "limit"
  | "after-exit"
  | "eval";

export interface ArrayValue {
  readonly kind: "array";
  /** The expression that creates the array; a mutation anywhere counts against all arrays it creates. */
  readonly site: AnyNode;
  readonly items: readonly Value[];
}

export interface ObjectValue {
  readonly kind: "object";
  readonly site: AnyNode;
  readonly entries: ReadonlyMap<string, Value>;
  /** Set by `__proto__: …`; `null` for the ordinary prototype. */
  readonly proto: Value | null;
  /** What parts not spelled out here may have added: nothing, anything but tools, perhaps tools, or all tools. */
  readonly rest: "nothing" | "anything" | "maybe-tools" | "tools";
}

/** What static reading knows of an expression. No value ever comes from running the program. */
export type Value =
  | { readonly kind: "primitive"; readonly value: Primitive }
  | ArrayValue
  | ObjectValue
  | { readonly kind: "function"; readonly node: AnyNode }
  | { readonly kind: "tools" }
  | { readonly kind: "tool"; readonly name: string }
  | { readonly kind: "builtin"; readonly name: string }
  /** `maybeTool`: a tool, or the object of all tools, may have flowed into it. */
  | { readonly kind: "unknown"; readonly reason: Reason; readonly maybeTool: boolean };

export const UNDEFINED: Value = { kind: "primitive", value: undefined };
export const TOOLS: Value = { kind: "tools" };

export function primitive(value: Primitive): Value {
  return { kind: "primitive", value };
}

export function unknown(reason: Reason = "dynamic-args", maybeTool = false): Value {
  return { kind: "unknown", reason, maybeTool };
}

export function isToolish(value: Value): boolean {
  return value.kind === "tools" || value.kind === "tool" || (value.kind === "unknown" && value.maybeTool);
}

/** Members that `tools` inherits from Object.prototype: they are never tools. */
export const OBJECT_MEMBERS: ReadonlySet<string> = new Set([
  "constructor",
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toLocaleString",
  "toString",
  "valueOf",
  "__proto__",
  "__defineGetter__",
  "__defineSetter__",
  "__lookupGetter__",
  "__lookupSetter__",
]);
