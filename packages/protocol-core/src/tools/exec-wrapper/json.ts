import type { ObjectValue, Reason, Value } from "./values.ts";

const MAX_DEPTH = 600;
/** What values may have beyond what the source could spell out. */
const EXTRA_NODES = 100_000;
const EXTRA_CHARACTERS = 8_000_000;

/** `json` is `undefined` where JSON.stringify would leave the value out. */
export type JsonResult = { readonly ok: true; readonly json: unknown } | { readonly ok: false; readonly reason: Reason };

interface Meter {
  nodes: number;
  characters: number;
}

/** Marks, inside the conversion, a value that has no static JSON; cheaper than throwing. */
class NotStatic {
  readonly reason: Reason;
  constructor(reason: Reason) {
    this.reason = reason;
  }
}

/**
 * Writes static values as the data that JSON.stringify would give. Shared parts are written out each time,
 * so size and depth are bounded; an object is only ever built from own data properties.
 */
export class JsonWriter {
  readonly #perValue: Meter;
  /** For all values of a program together. */
  readonly #left: Meter;

  constructor(sourceLength: number) {
    this.#perValue = { nodes: EXTRA_NODES + sourceLength, characters: EXTRA_CHARACTERS + sourceLength };
    this.#left = { nodes: this.#perValue.nodes, characters: 4 * this.#perValue.characters };
  }

  write(value: Value): JsonResult {
    const json = this.#measured((meter) => convert(value, 0, meter));
    return json instanceof NotStatic ? { ok: false, reason: json.reason } : { ok: true, json };
  }

  /** The static part of an argument: its own keys with static values, or `undefined` when there are none. */
  known(value: Value): unknown {
    if (value.kind !== "object") {
      const whole = this.write(value);
      return whole.ok ? whole.json : undefined;
    }
    return this.#measured((meter) => {
      const known: Record<string, unknown> = {};
      let any = false;
      for (const [key, entry] of value.entries) {
        if (meter.nodes <= 0) break;
        const json = convert(entry, 0, meter);
        if (json === undefined || json instanceof NotStatic) continue;
        setOwn(known, key, json);
        any = true;
      }
      return any ? known : undefined;
    });
  }

  #measured<Result>(run: (meter: Meter) => Result): Result {
    const nodes = Math.min(this.#perValue.nodes, this.#left.nodes);
    const characters = Math.min(this.#perValue.characters, this.#left.characters);
    const meter = { nodes, characters };
    const result = run(meter);
    this.#left.nodes -= nodes - Math.max(0, meter.nodes);
    this.#left.characters -= characters - Math.max(0, meter.characters);
    return result;
  }
}

/** JSON data, `undefined` for what JSON leaves out, or a `NotStatic`. */
function convert(value: Value, depth: number, meter: Meter): unknown {
  meter.nodes -= 1;
  if (depth > MAX_DEPTH || meter.nodes < 0) return new NotStatic("limit");
  switch (value.kind) {
    case "primitive":
      return convertPrimitive(value.value, meter);
    case "array": {
      const out: unknown[] = [];
      for (const item of value.items) {
        const json = convert(item, depth + 1, meter);
        if (json instanceof NotStatic) return json;
        out.push(json ?? null);
      }
      return out;
    }
    case "object": {
      if (hasToJson(value) || value.rest !== "nothing") return new NotStatic("dynamic-args");
      const out: Record<string, unknown> = {};
      for (const [key, entry] of value.entries) {
        meter.characters -= key.length;
        const json = convert(entry, depth + 1, meter);
        if (json instanceof NotStatic) return json;
        if (json !== undefined) setOwn(out, key, json);
      }
      return out;
    }
    case "function":
    case "tool":
      return undefined;
    case "tools":
    case "builtin":
      return new NotStatic("dynamic-args");
    case "unknown":
      return new NotStatic(value.reason);
  }
}

function convertPrimitive(value: unknown, meter: Meter): unknown {
  switch (typeof value) {
    case "string":
      meter.characters -= value.length;
      return meter.characters < 0 ? new NotStatic("limit") : value;
    case "number":
      if (!Number.isFinite(value)) return null;
      return value === 0 ? 0 : value;
    case "bigint":
      // JSON.stringify throws, so the call never happens.
      return new NotStatic("dynamic-args");
    default:
      return value;
  }
}

/** A `toJSON` of the object or its written prototype would run, unless it is plain data. */
function hasToJson(value: ObjectValue): boolean {
  for (let holder: Value | null = value, hops = 0; holder !== null; hops += 1) {
    if (holder.kind === "primitive") return false;
    if (holder.kind !== "object" || hops > MAX_DEPTH) return true;
    const own = holder.entries.get("toJSON");
    if (own !== undefined) return own.kind !== "primitive";
    if (holder !== value && holder.rest !== "nothing") return true;
    holder = holder.proto;
  }
  return false;
}

/** Plain assignment would take the key `__proto__` for the prototype. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}
