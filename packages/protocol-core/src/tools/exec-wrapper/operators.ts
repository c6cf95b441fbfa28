import type { BinaryOperator, UnaryOperator } from "acorn";
import { type Primitive, primitive, unknown, type Value } from "./values.ts";

/** Whether a static value is truthy; `null` when unknown. */
export function isTruthy(value: Value): boolean | null {
  if (value.kind === "unknown") return null;
  return value.kind === "primitive" ? Boolean(value.value) : true;
}

export function foldUnary(operator: Exclude<UnaryOperator, "delete">, argument: Value): Value {
  if (operator === "void") return primitive(undefined);
  if (operator === "!") {
    const truthy = isTruthy(argument);
    return truthy === null ? unknown() : primitive(!truthy);
  }
  if (argument.kind !== "primitive") return unknown(argument.kind === "unknown" ? argument.reason : "dynamic-args");
  const { value } = argument;
  if (operator === "typeof") return primitive(value === null ? "object" : typeof value);
  // Big integers are left alone: their arithmetic has no bound.
  if (typeof value === "bigint") return unknown();
  switch (operator) {
    case "-":
      return primitive(-Number(value));
    case "+":
      return primitive(Number(value));
    case "~":
      return primitive(~Number(value));
  }
}

export function foldBinary(operator: BinaryOperator, left: Value, right: Value): Value {
  if (left.kind !== "primitive") return unknown(left.kind === "unknown" ? left.reason : "dynamic-args");
  if (right.kind !== "primitive") return unknown(right.kind === "unknown" ? right.reason : "dynamic-args");
  const a = left.value;
  const b = right.value;
  if (typeof a === "bigint" || typeof b === "bigint") return unknown();
  if (operator === "+") return primitive(typeof a === "string" || typeof b === "string" ? `${String(a)}${String(b)}` : Number(a) + Number(b));
  const compared = compare(operator, a, b);
  if (compared !== null) return primitive(compared);
  const computed = calculate(operator, Number(a), Number(b));
  return computed === null ? unknown() : primitive(computed);
}

function compare(operator: BinaryOperator, a: Exclude<Primitive, bigint>, b: Exclude<Primitive, bigint>): boolean | null {
  const texts = typeof a === "string" && typeof b === "string";
  switch (operator) {
    case "===":
      return a === b;
    case "!==":
      return a !== b;
    case "<":
      return texts ? a < b : Number(a) < Number(b);
    case "<=":
      return texts ? a <= b : Number(a) <= Number(b);
    case ">":
      return texts ? a > b : Number(a) > Number(b);
    case ">=":
      return texts ? a >= b : Number(a) >= Number(b);
    default:
      return null;
  }
}

function calculate(operator: BinaryOperator, a: number, b: number): number | null {
  switch (operator) {
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
    case "**":
      return a ** b;
    case "<<":
      return a << b;
    case ">>":
      return a >> b;
    case ">>>":
      return a >>> b;
    case "|":
      return a | b;
    case "&":
      return a & b;
    case "^":
      return a ^ b;
    default:
      return null;
  }
}
