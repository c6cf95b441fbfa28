import type { ElicitationContent, ElicitationProperty, ElicitationSchema, TitledValue } from "../harness/index.ts";
import { isJsonObject } from "../wire/index.ts";
import type { ElicitationFieldSchema, JsonValue } from "../wire/index.ts";
import type { InteractionField, Locale } from "./model.ts";

type Value = string | number | boolean | readonly string[];
const YES_NO: Record<Locale, readonly [string, string]> = { en: ["Yes", "No"], zh: ["是", "否"] };

/**
 * The form of an MCP server's `requestedSchema`; null where it is none that a person can fill in: MCP (2025-11-25)
 * allows flat objects of primitive properties only. Members that it does not know are left out.
 */
export function readElicitationSchema(raw: unknown): ElicitationSchema | null {
  if (!isJsonObject(raw) || (raw["type"] !== undefined && raw["type"] !== "object")) return null;
  const given = raw["properties"] ?? {};
  if (!isJsonObject(given)) return null;
  const properties: Record<string, ElicitationProperty> = {};
  for (const [name, value] of Object.entries(given)) {
    const property = readProperty(value);
    if (property === null) return null;
    define(properties, name, property);
  }
  const required = raw["required"] ?? [];
  if (!Array.isArray(required) || !required.every((name) => typeof name === "string")) return null;
  return { properties, required: required.filter((name) => Object.hasOwn(properties, name)) };
}

/** The same form as the wire has it (closed schemas of Codex 0.171). */
export function toRequestedSchema({ properties, required }: ElicitationSchema): { type: "object"; properties: Record<string, ElicitationFieldSchema>; required: string[] } {
  const out: Record<string, ElicitationFieldSchema> = {};
  for (const [name, property] of Object.entries(properties)) define(out, name, readProperty(property) as unknown as ElicitationFieldSchema);
  return { type: "object", properties: out, required: [...(required ?? [])] };
}

/** The form's fields for any channel, in its order. */
export function fieldsOf({ properties, required }: ElicitationSchema, locale: Locale): InteractionField[] {
  return Object.entries(properties).map(([id, property]) => {
    const options = optionsOf(property, locale);
    return {
      id, label: property.title ?? id, description: property.description ?? null, type: property.type === "array" || property.type === "string" ? "text" : property.type,
      options, multiple: property.type === "array", freeText: options.length === 0, required: required?.includes(id) ?? false,
      default: property.default == null ? null : [property.default].flat().map(String),
    };
  });
}

/** One value as a person gave it (texts, or the values of options), in the type that the form wants; null where it does not fit. */
export function readField(property: ElicitationProperty, given: readonly string[]): Value | null {
  const [first = ""] = given;
  switch (property.type) {
    case "array":
      return checkValue(property, given);
    case "boolean":
      return first === "true" || first === "false" ? first === "true" : null;
    case "number":
    case "integer":
      return first.trim() === "" ? null : checkValue(property, Number(first));
    case "string":
      return given.length === 1 ? checkValue(property, first) : null;
  }
}

/** What a client sent as the form's content; null where it does not fit the form. Members that were not asked for are left out. */
export function readContent(schema: ElicitationSchema, raw: unknown): ElicitationContent | null {
  if (raw != null && !isJsonObject(raw)) return null;
  const content: Record<string, Value> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = raw != null && Object.hasOwn(raw, name) ? raw[name] : undefined;
    if (given == null) {
      if (schema.required?.includes(name) === true) return null;
      continue;
    }
    const value = checkValue(property, given);
    if (value === null) return null;
    define(content, name, value);
  }
  return content;
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@]+$/, uri: /^[a-z][a-z0-9+.-]*:\S+$/i, date: /^\d{4}-\d\d-\d\d$/, "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i,
};

function checkValue(property: ElicitationProperty, value: unknown): Value | null {
  const choices = choicesOf(property)?.map(({ const: one }) => one);
  switch (property.type) {
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "number":
    case "integer": {
      if (typeof value !== "number" || !Number.isFinite(value) || (property.type === "integer" && !Number.isInteger(value))) return null;
      return value < (property.minimum ?? -Infinity) || value > (property.maximum ?? Infinity) ? null : value;
    }
    case "array": {
      if (!Array.isArray(value) || !value.every((one) => typeof one === "string" && choices?.includes(one) === true)) return null;
      return value.length < (property.minItems ?? 0) || value.length > (property.maxItems ?? Infinity) ? null : (value as string[]);
    }
    case "string": {
      if (typeof value !== "string") return null;
      if (choices !== undefined) return choices.includes(value) ? value : null;
      const { minLength, maxLength, format } = property as Extract<ElicitationProperty, { minLength?: number | null }>;
      if (value.length < (minLength ?? 0) || value.length > (maxLength ?? Infinity)) return null;
      return format == null || FORMATS[format]?.test(value) === true ? value : null;
    }
  }
}

/** The choices of a property; undefined for one that is written. */
function choicesOf(property: ElicitationProperty): readonly TitledValue[] | undefined {
  if (property.type === "array") return "anyOf" in property.items ? property.items.anyOf : property.items.enum.map((value) => ({ const: value, title: value }));
  if (property.type !== "string") return undefined;
  if ("oneOf" in property) return property.oneOf;
  return "enum" in property ? property.enum.map((value, at) => ({ const: value, title: property.enumNames?.[at] ?? value })) : undefined;
}

function optionsOf(property: ElicitationProperty, locale: Locale): { label: string; value: string }[] {
  if (property.type === "boolean") return YES_NO[locale].map((label, at) => ({ label, value: String(at === 0) }));
  return (choicesOf(property) ?? []).map(({ const: value, title }) => ({ label: title, value }));
}

function readProperty(raw: unknown): ElicitationProperty | null {
  if (!isJsonObject(raw)) return null;
  const has = (name: string, type: "string" | "number" | "boolean"): Record<string, unknown> => (typeof raw[name] === type ? { [name]: raw[name] } : {});
  const base = { ...has("title", "string"), ...has("description", "string") };
  switch (raw["type"]) {
    case "boolean":
      return { type: "boolean", ...base, ...has("default", "boolean") };
    case "number":
    case "integer":
      return { type: raw["type"], ...base, ...has("minimum", "number"), ...has("maximum", "number"), ...has("default", "number") };
    case "string": {
      const more = { ...base, ...has("default", "string") };
      const names = texts(raw["enumNames"]);
      const plain = texts(raw["enum"]);
      const titled = titledValues(raw["oneOf"]);
      if (plain !== null) return { type: "string", enum: plain, ...(names === null ? {} : { enumNames: names }), ...more };
      if (titled !== null) return { type: "string", oneOf: titled, ...more };
      const format = typeof raw["format"] === "string" && Object.hasOwn(FORMATS, raw["format"]) ? { format: raw["format"] as "email" } : {};
      return { type: "string", ...more, ...has("minLength", "number"), ...has("maxLength", "number"), ...format };
    }
    case "array": {
      const items = isJsonObject(raw["items"]) ? raw["items"] : {};
      const plain = texts(items["enum"]);
      const titled = titledValues(items["anyOf"]);
      const chosen = texts(raw["default"]);
      const more = { ...base, ...has("minItems", "number"), ...has("maxItems", "number"), ...(chosen === null ? {} : { default: chosen }) };
      if (plain !== null) return { type: "array", items: { type: "string", enum: plain }, ...more };
      return titled === null ? null : { type: "array", items: { anyOf: titled }, ...more };
    }
    default:
      return null;
  }
}

function texts(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : null;
}

function titledValues(value: unknown): TitledValue[] | null {
  if (!Array.isArray(value) || !value.every((one) => isJsonObject(one) && typeof one["const"] === "string")) return null;
  return (value as { const: string; title?: unknown }[]).map((one) => ({ const: one.const, title: typeof one.title === "string" ? one.title : one.const }));
}

/** A form may name a field `__proto__`. */
function define<T extends Value | ElicitationProperty | JsonValue>(record: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}
