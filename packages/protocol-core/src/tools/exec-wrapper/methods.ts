import type { AnyNode } from "acorn";
import { type Primitive, primitive, unknown, type Value } from "./values.ts";

/**
 * Calls a side-effect free built-in method on static values. `null` when the method is not one of the few
 * that are read, or its arguments are not plain; `unknown("limit")` when the result would be too long.
 */
export function callMethod(receiver: Value, name: string, args: readonly Value[], maxLength: number, site: AnyNode): Value | null {
  const plain: Primitive[] = [];
  for (const arg of args) {
    if (arg.kind !== "primitive" || typeof arg.value === "bigint") return null;
    plain.push(arg.value);
  }
  if (receiver.kind === "array") {
    if (name === "toString") return joinArray(receiver.items, undefined, maxLength);
    return name === "join" ? joinArray(receiver.items, plain[0], maxLength) : null;
  }
  if (receiver.kind !== "primitive") return null;
  if (typeof receiver.value === "string") return callOnString(receiver.value, name, plain, maxLength, site);
  if (name === "toString" && plain.length === 0 && typeof receiver.value === "number") return primitive(String(receiver.value));
  return null;
}

function joinArray(items: readonly Value[], separator: Primitive, maxLength: number): Value | null {
  const text = toText({ kind: "array", items }, maxLength, separator === undefined ? "," : String(separator));
  if (text === null) return null;
  return text === "limit" ? unknown("limit") : primitive(text.text);
}

/**
 * The text a static value has in a template or concatenation; `null` when that is not known.
 * Arrays are joined as `String` does, or by `separator` on the outermost level.
 */
export function toText(
  value: Value | { readonly kind: "array"; readonly items: readonly Value[] },
  maxLength: number,
  separator = ",",
  depth = 0,
): { readonly text: string } | "limit" | null {
  if (value.kind === "primitive") return { text: String(value.value) };
  if (value.kind !== "array" || depth > 50) return null;
  const parts: string[] = [];
  let length = 0;
  for (const item of value.items) {
    if (item.kind === "primitive" && (item.value === undefined || item.value === null)) {
      parts.push("");
    } else {
      const part = toText(item, maxLength, ",", depth + 1);
      if (part === null || part === "limit") return part;
      parts.push(part.text);
      length += part.text.length;
    }
    length += separator.length;
    if (length > maxLength) return "limit";
  }
  return { text: parts.join(separator) };
}

function callOnString(text: string, name: string, args: readonly Primitive[], maxLength: number, site: AnyNode): Value | null {
  const [first, second] = args;
  const asNumber = (value: Primitive): number | undefined => (value === undefined ? undefined : Number(value));
  const asText = (value: Primitive): string => String(value);
  const fits = (length: number, make: () => string): Value => (length <= maxLength ? primitive(make()) : unknown("limit"));
  switch (name) {
    case "trim":
      return primitive(text.trim());
    case "trimStart":
      return primitive(text.trimStart());
    case "trimEnd":
      return primitive(text.trimEnd());
    case "toString":
      return primitive(text);
    case "toUpperCase":
      return primitive(text.toUpperCase());
    case "toLowerCase":
      return primitive(text.toLowerCase());
    case "slice":
      return primitive(text.slice(asNumber(first), asNumber(second)));
    case "substring":
      return primitive(text.substring(asNumber(first) ?? 0, asNumber(second)));
    case "charAt":
      return primitive(text.charAt(asNumber(first) ?? 0));
    case "at":
      return primitive(text.at(asNumber(first) ?? 0));
    case "startsWith":
      return primitive(text.startsWith(asText(first), asNumber(second)));
    case "endsWith":
      return primitive(text.endsWith(asText(first), asNumber(second)));
    case "includes":
      return primitive(text.includes(asText(first), asNumber(second)));
    case "indexOf":
      return primitive(text.indexOf(asText(first), asNumber(second)));
    case "concat": {
      const parts = args.map(asText);
      return fits(text.length + parts.reduce((sum, part) => sum + part.length, 0), () => text + parts.join(""));
    }
    case "repeat": {
      const count = Number(first);
      // A negative or infinite count throws in the program.
      return count >= 0 && Number.isFinite(count) ? fits(text.length * Math.trunc(count), () => text.repeat(count)) : null;
    }
    case "padStart":
    case "padEnd": {
      const filler = second === undefined ? " " : asText(second);
      const target = Number(first);
      return fits(target, () => (name === "padStart" ? text.padStart(target, filler) : text.padEnd(target, filler)));
    }
    case "replace":
    case "replaceAll":
      return replaceText(text, first, second, name === "replaceAll", maxLength);
    case "split":
      return splitText(text, args, site);
    default:
      return null;
  }
}

function replaceText(text: string, search: Primitive, replacement: Primitive, all: boolean, maxLength: number): Value | null {
  if (typeof search !== "string" || typeof replacement !== "string") return null;
  // `$&` and its like copy parts of the text, so the length could not be told beforehand.
  if (/\$[$&`']/.test(replacement)) return null;
  if (!all) return text.length + replacement.length <= maxLength ? primitive(text.replace(search, replacement)) : unknown("limit");
  let count = search === "" ? text.length + 1 : 0;
  if (search !== "") for (let at = text.indexOf(search); at !== -1; at = text.indexOf(search, at + search.length)) count += 1;
  return text.length + count * replacement.length <= maxLength ? primitive(text.replaceAll(search, replacement)) : unknown("limit");
}

const MAX_PIECES = 10_000;

function splitText(text: string, args: readonly Primitive[], site: AnyNode): Value | null {
  const [separator] = args;
  if (args.length !== 1 || typeof separator !== "string") return null;
  const pieces = text.split(separator, MAX_PIECES + 1);
  if (pieces.length > MAX_PIECES) return unknown("limit");
  return { kind: "array", site, items: pieces.map(primitive) };
}
