import { notSupported } from "@foldcast/protocol-core/wire";
import { AnyParams } from "@foldcast/protocol-core/wire/params";
import { method } from "./method.ts";
import type { Method } from "./method.ts";

/** What stock clients ask of a thread and no harness can be asked for; the answer says what is missing. */
const MISSING: Readonly<Record<string, string>> = {
  "thread/goal/set": "foldcast keeps no goals",
  "thread/goal/clear": "foldcast keeps no goals",
  "thread/inject_items": "a harness takes input only as a turn",
  "thread/memoryMode/set": "a harness keeps its memory by itself",
  "thread/backgroundTerminals/clean": "a harness ends its background commands by itself",
  "thread/backgroundTerminals/terminate": "a harness ends its background commands by itself",
  "review/start": "no harness offers a review",
};
const STABLE = new Set(["thread/goal/set", "thread/goal/clear", "thread/inject_items", "review/start"]);

export const unsupportedMethods: readonly Method[] = Object.entries(MISSING).map(([name, missing]) => method(name, {
  owner: "thread",
  params: AnyParams,
  ...(STABLE.has(name) ? {} : { experimental: true as const }),
  handler() {
    throw notSupported(name, missing);
  },
}));
