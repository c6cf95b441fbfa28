import { expect, test } from "vitest";
import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import { runChecks } from "./check.ts";
import { harnessCheck } from "./harness.ts";

test("a harness that has permission modes of its own says which", async () => {
  const manifest = { id: "one", displayName: "One", tools: {} };
  const inspect = () => Promise.resolve({ ready: true, reason: null, version: "1.2", models: [{}], permissionModes: ["careful", "bold"] });
  const entry = { id: "one", load: async () => ({ manifest, create: () => ({ manifest, inspect, close: () => Promise.resolve() }) }) as unknown as HarnessDefinition };
  const check = harnessCheck(entry, { dataDir: "/nonexistent", harnessSettings: {}, settingsByHarness: {}, harnesses: null });
  expect((await runChecks([check], 10_000))[0]).toMatchObject({ status: "ok", found: "One 1.2: 1 model; permission modes careful, bold" });
});
