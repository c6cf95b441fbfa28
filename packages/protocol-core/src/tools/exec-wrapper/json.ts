import type { ObjectValue, Reason, Value } from "./values.ts";

const MAX_DEPTH = 200;
/** Bounds for one value, and for all values of a program together. */
const MAX_NODES = { value: 100_000, program: 2_000_000 };
const MAX_CHARACTERS = { value: 8_000_000, program: 64_000_000 };

/** `json` is `undefined` where JSON.stringify would leave the value out. */
export type JsonResult = { readonly ok: true; readonly json: unknown } | { readonly ok: false; readonly reason: Reason };

class NotStatic extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Writes static values as the data that JSON.stringify would give. Shared parts are written out each time,
 * so size and depth are bounded; an object is only ever built from own data properties.
 */
export class JsonWriter {
  readonly #left: Meter = { nodes: MAX_NODES.program, characters: MAX_CHARACTERS.program };

  write(value: Value): JsonResult {
    return this.#measured((meter) => attempt(value, meter));
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
        const result = attempt(entry, meter);
        if (!result.ok || result.json === undefined) continue;
        setOwn(known, key, result.json);
        any = true;
      }
      return any ? known : undefined;
    });
  }

  #measured<Result>(run: (meter: Meter) => Result): Result {
    const nodes = Math.min(MAX_NODES.value, this.#left.nodes);
    const characters = Math.min(MAX_CHARACTERS.value, this.#left.characters);
    const meter = { nodes, characters };
    const result = run(meter);
    this.#left.nodes -= nodes - Math.max(0, meter.nodes);
    this.#left.characters -= characters - Math.max(0, meter.characters);
    return result;
  }
}

function attempt(value: Value, meter: Meter): JsonResult {
  try {
    return { ok: true, json: convert(value, 0, meter) };
  } catch (error) {
    if (error instanceof NotStatic) return { ok: false, reason: error.reason };
    throw error;
  }
}

interface Meter {
  nodes: number;
  characters: number;
}

function convert(value: Value, depth: number, meter: Meter): unknown {
  meter.nodes -= 1;
  if (depth > MAX_DEPTH || meter.nodes < 0) throw new NotStatic("limit");
  switch (value.kind) {
    case "primitive":
      return convertPrimitive(value.value, meter);
    case "array":
      return value.items.map((item) => convert(item, depth + 1, meter) ?? null);
    case "object": {
      if (hasToJson(value)) throw new NotStatic("dynamic-args");
      const out: Record<string, unknown> = {};
      for (const [key, entry] of value.entries) {
        meter.characters -= key.length;
        const json = convert(entry, depth + 1, meter);
        if (json !== undefined) setOwn(out, key, json);
      }
      if (value.rest !== "nothing") throw new NotStatic("dynamic-args");
      return out;
    }
    case "function":
    case "tool":
      return undefined;
    case "tools":
    case "builtin":
      throw new NotStatic("dynamic-args");
    case "unknown":
      throw new NotStatic(value.reason);
  }
}

function convertPrimitive(value: unknown, meter: Meter): unknown {
  switch (typeof value) {
    case "string":
      meter.characters -= value.length;
      if (meter.characters < 0) throw new NotStatic("limit");
      return value;
    case "number":
      if (!Number.isFinite(value)) return null;
      return value === 0 ? 0 : value;
    case "bigint":
      // JSON.stringify throws, so the call never happens.
      throw new NotStatic("dynamic-args");
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
