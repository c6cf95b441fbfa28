import { expect, test } from "vitest";
import { HarnessCatalogue } from "../harness/catalogue.ts";
import { harnessEnvironment } from "../harness/environment.ts";
import { silentLogger } from "../log/logger.ts";
import { fakeEntry } from "../testing/fake-adapter.ts";
import { resolveModel } from "./binding.ts";

const catalogue = new HarnessCatalogue({
  entries: [
    fakeEntry(() => undefined),
    fakeEntry((adapter) => {
      adapter.inspect = () => Promise.resolve({ ready: false, reason: "log in first", version: null, models: [] });
    }, "absent"),
  ],
  extraToolMaps: {}, now: () => 0, log: silentLogger, settings: () => ({}),
  environment: (id, toolMaps) => harnessEnvironment(id, { dataDir: "/nowhere", log: silentLogger, toolMaps }),
});
const alone = { catalogue, native: null };

test("a model is found by its exact id, and belongs to its harness", async () => {
  expect(await resolveModel(alone, "fake/one", null)).toMatchObject({ id: "fake/one" });
  await expect(resolveModel(alone, "fake/one", "absent")).rejects.toThrow("this thread runs on `absent`, and `fake/one` belongs to another harness; start a new thread to use it");
});

test.each(["absent", "absent/any"])("of a harness that cannot run is said why: %s", async (model) => {
  await expect(resolveModel(alone, model, "absent")).rejects.toThrow(/^Fake is not ready: log in first$/);
});

test("what nobody offers is answered with what there is", async () => {
  await expect(resolveModel(alone, "fake/three", null)).rejects.toThrow("the model `fake/three` is not available; available: `fake/one`, `fake/two`");
  await expect(resolveModel(alone, "gpt", null)).rejects.toThrow("the model `gpt` is not available");
});

test("with Codex behind us, one of its models wants a new thread", async () => {
  const both = { catalogue, native: {} };
  await expect(resolveModel(both, "gpt", null)).rejects.toThrow("this thread does not run on Codex, and `gpt` is no model of another agent here; start a new thread (`/new`) to use a model of Codex");
  await expect(resolveModel(both, "fake/three", "fake")).rejects.toThrow("the model `fake/three` is not available");
});
