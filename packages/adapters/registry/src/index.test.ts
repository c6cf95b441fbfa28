import { describe, expect, it } from "vitest";
import { harnesses } from "./index.ts";

describe("the registry", () => {
  it("lists each harness once, under the id of its manifest", async () => {
    expect(new Set(harnesses.map((harness) => harness.id)).size).toBe(harnesses.length);
    for (const harness of harnesses) expect((await harness.load()).manifest.id).toBe(harness.id);
  });
});
