import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { definition } from "./index.ts";
import { embeddedScenarios } from "./scenarios/index.ts";
import { environment, makeHarness, options, scenario, start, type TestHarness } from "./testing.ts";

let harness: TestHarness | null = null;
afterEach(async () => {
  await harness?.cleanup();
  harness = null;
});
const EMBEDDED = ["demo", "approval", "slow", "failure", "plain"];

describe("models", () => {
  it("are the embedded scenarios, demo first", async () => {
    harness = await makeHarness();
    const inspection = await harness.adapter.inspect();
    expect(inspection).toMatchObject({ ready: true, reason: null, version: "1" });
    expect(inspection.models.map((model) => model.id)).toEqual(EMBEDDED);
    expect(inspection.models[0]).toMatchObject({ displayName: "demo", efforts: ["medium"], defaultEffort: "medium", images: true });
  });

  it("begin with the given scenarios in the order of their files, which replace embedded ones of the same model", async () => {
    harness = await makeHarness([{ ...scenario("Zebra", { steps: [] }), model: "z" }, scenario("plain", { steps: [{ message: "mine" }] })]);
    const { models } = await harness.adapter.inspect();
    expect(models.map((model) => [model.id, model.displayName])).toEqual([["z", "Zebra"], ["plain", "plain"], ...EMBEDDED.slice(0, 4).map((id) => [id, id])]);
    const { session, listener } = await start(harness.adapter, null);
    expect((await listener.turnEnd(0))[0]).toMatchObject({ model: "z" });
    await session.select({ model: "plain", thinking: "high" });
    await expect(session.select({ model: "nothing" })).rejects.toThrow("there are: z, plain, demo");
    expect(listener.events.at(-1)).toMatchObject({ type: "session.state", state: { model: "plain" } });
    await expect(harness.adapter.open({ kind: "create", options: options("nothing") })).rejects.toThrow("no scripted model \"nothing\"");
  });

  it("are still there when one file of a folder is faulty, and the reason names it", async () => {
    harness = await makeHarness([scenario("good", { steps: [] })]);
    writeFileSync(join(harness.folder, "bad.json"), "{\"schema\":1,\"name\":\"bad\",\"turns\":[{\"steps\":[{\"mesage\":1}]}]}");
    writeFileSync(join(harness.folder, "double.json"), JSON.stringify(scenario("good", { steps: [] })));
    const adapter = await definition.create(environment(harness.folder), { scenarios: harness.folder });
    const inspection = await adapter.inspect();
    expect(inspection.ready).toBe(true);
    expect(inspection.reason).toContain("bad.json: turns[0].steps[0]: Unknown step with \"mesage\"");
    expect(inspection.reason).toContain("double.json: another file has the model \"good\" already.");
    expect(inspection.models.length).toBe(6);
  });

  it.each(["missing.json", "broken.json"])("make the harness not ready when %s is all that was asked for", async (name) => {
    harness = await makeHarness();
    writeFileSync(join(harness.folder, "broken.json"), "{");
    const adapter = await definition.create(environment(harness.folder), { scenarios: join(harness.folder, name) });
    expect(await adapter.inspect()).toMatchObject({ ready: false, reason: expect.stringContaining(name) });
    await expect(adapter.open({ kind: "create", options: options() })).rejects.toThrow(name);
  });
});

describe("settings", () => {
  it.each([{ speed: -1 }, { scenarios: 3 }, { process: "yes" }, { childCommand: [] }])("%j are refused with a reason", async (settings) => {
    await expect((async () => await definition.create(environment("/nowhere"), settings))()).rejects.toThrow("Settings of the scripted harness");
  });
});

describe("embedded scenarios", () => {
  it("have a demo that shows every part of a turn and ends with an answer of several pieces", () => {
    const [first, second] = embeddedScenarios[0]!.turns;
    const edits = first!.steps.flatMap((step) => "edit" in step ? [step.edit.path] : []);
    expect(new Set(edits).size).toBe(3);
    for (const name of ["reasoning", "plan", "tool", "output", "result", "edit", "usage"]) expect(first!.steps.some((step) => name in step), name).toBe(true);
    expect(first!.steps.at(-1)).toMatchObject({ chunks: 12 });
    expect(second!.match).toBe("again");
    expect(JSON.stringify(second!.steps.at(-1))).not.toBe(JSON.stringify(first!.steps.at(-1)));
  });
});
