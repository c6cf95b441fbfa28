import { isJsonObject } from "@foldcast/protocol-core/wire";

type JsonObject = Record<string, unknown>;

/**
 * What clients read and write as "the configuration". It lives in memory: none of it reaches the user's own Codex
 * configuration, where a model of ours would break the real Codex.
 */
export class ClientConfig {
  #values: JsonObject = {};

  /** The whole, with `base` for what nobody wrote. The folder counts as trusted: foldcast asks before risky steps, not here. */
  read(base: JsonObject, cwd: string | null): JsonObject {
    const projects = cwd === null ? {} : { [cwd]: { trust_level: "trusted" } };
    return merge(merge({ ...base, projects }, this.#values), {});
  }

  /** Sets the value at a dotted path; null removes it. `upsert` merges objects, `replace` does not. */
  write(keyPath: string, value: unknown, strategy: "replace" | "upsert"): void {
    const keys = splitKeyPath(keyPath);
    const last = keys.pop();
    if (last === undefined) return;
    let target = this.#values;
    for (const key of keys) {
      const next = target[key];
      const inner: JsonObject = isJsonObject(next) ? next : {};
      target[key] = inner;
      target = inner;
    }
    const old = target[last];
    if (value === null) Reflect.deleteProperty(target, last);
    else target[last] = strategy === "upsert" && isJsonObject(old) && isJsonObject(value) ? merge(old, value) : value;
  }
}

/** `a."b.c".d` → a, b.c, d. Names that would reach into prototypes are left out. */
export function splitKeyPath(keyPath: string): string[] {
  const keys = [...keyPath.matchAll(/"([^"]*)"|([^."]+)/g)].map((match) => match[1] ?? match[2] ?? "");
  return keys.some((key) => key === "__proto__" || key === "constructor" || key === "prototype") ? [] : keys;
}

function merge(base: Readonly<JsonObject>, over: Readonly<JsonObject>): JsonObject {
  const result: JsonObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = result[key];
    result[key] = isJsonObject(old) && isJsonObject(value) ? merge(old, value) : value;
  }
  return result;
}
