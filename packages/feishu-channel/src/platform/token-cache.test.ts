import { expect, test } from "vitest";
import { Redactor } from "./redact.ts";
import { TokenCache } from "./token-cache.ts";

test.each([
  ["a short life is used for its first half", 60, true],
  ["a long one up to what the SDK leaves of it", 7_200, true],
  ["none is none", 0, false],
])("of a token's life: %s", async (_name, seconds, isFresh) => {
  const cache = new TokenCache(new Redactor());
  // As the SDK says it.
  await cache.set("token", "t-123456789", Date.now() + seconds * 1_000 - 180_000);
  expect(cache.fresh).toBe(isFresh);
  expect(await cache.get("token")).toBe(isFresh ? "t-123456789" : undefined);
});
