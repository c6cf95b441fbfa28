import { expect, test } from "vitest";
import { modelLines } from "./models.ts";

test("why a harness is not ready is said once, with its first model", () => {
  const row = (id: string, harness: string, reason: string | null = null) => ({ id, harness, displayName: id.toUpperCase(), ready: reason === null, reason });
  expect(modelLines([row("a/1", "a", "not logged in"), row("a/22", "a", "not logged in"), row("b/1", "b", "not logged in"), row("c/1", "c")])).toEqual([
    "a/1   A/1  (not ready: not logged in)", "a/22  A/22  (not ready)", "b/1   B/1  (not ready: not logged in)", "c/1   C/1",
  ]);
});
