import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { embeddedScenarios } from "../scenarios/index.ts";
import { checkScenario } from "./check.ts";
import { scenarioJsonSchema, STEP_NAMES } from "./schema.ts";

function errorsOf(scenario: unknown): string[] {
  const check = checkScenario(JSON.stringify(scenario));
  expect(check.ok).toBe(false);
  return check.errors.map(({ path, message }) => `${path}: ${message}`);
}
function withSteps(...steps: unknown[]): unknown {
  return { schema: 1, name: "x", turns: [{ steps, end: "succeeded" }] };
}

/** One step of every kind, as the format's description writes it. */
const EVERYTHING = withSteps(
  { reasoning: "hm" },
  { message: "hello", phase: "commentary", outcome: "succeeded", chunks: 3 },
  { tool: { id: "a", name: "Bash", input: { command: "ls" }, map: "elsewhere" } },
  { output: "a", text: "x" },
  { result: { id: "a", output: "x", status: "failed", exitCode: 1, durationMs: 12, structured: { a: [1] } } },
  { edit: { id: "e", path: "a.txt", before: null, after: "x" } },
  { plan: [{ step: "one", status: "inProgress" }, { step: "two" }] },
  { usage: { last: { input: 1, output: 2 }, total: { input: 3, output: 4 }, contextWindow: 100 } },
  { usage: { input: 1, output: 2 } },
  { approve: { id: "p", kind: "command", offers: ["accept", "decline"] } },
  { ask: { id: "q", questions: [{ id: "q1", question: "Which?", options: [{ label: "a" }] }] } },
  { elicit: { id: "el", server: "s", message: "m", schema: { type: "object", properties: { a: { type: "string" } } } } },
  { suggest: { id: "sg", text: "t", replies: [{ label: "a" }] } },
  { compaction: true },
  { subagent: { id: "s", prompt: "go", children: [{ ref: "c1", status: "completed" }] } },
  { delayMs: 5 },
  { parallel: [[{ message: "a" }], [{ parallel: [[{ message: "b" }]] }]] },
  { raw: { type: "retry", error: { message: "again" }, at: null } },
  { crash: true },
);

describe("checkScenario", () => {
  it("takes every kind of step, with or without a byte order mark", () => {
    expect(checkScenario(JSON.stringify(EVERYTHING)).errors).toEqual([]);
    expect(checkScenario("\uFEFF" + JSON.stringify(EVERYTHING)).ok).toBe(true);
    const used = new Set((EVERYTHING as { turns: { steps: object[] }[] }).turns[0]!.steps.flatMap((step) => Object.keys(step)));
    for (const name of STEP_NAMES) expect(used).toContain(name);
  });

  it("takes the embedded scenarios", () => {
    for (const scenario of embeddedScenarios) expect(checkScenario(JSON.stringify(scenario))).toMatchObject({ ok: true });
  });

  it("fills in defaults", () => {
    const check = checkScenario(JSON.stringify({ schema: 1, name: "x", turns: [{ steps: [{ usage: { input: 1, output: 2 } }, { approve: { kind: "tool" } }] }] }));
    expect(check.ok && check.scenario.turns[0]).toEqual({
      steps: [{ usage: { last: { input: 1, output: 2 } } }, { approve: { kind: "tool", offers: ["accept", "decline", "cancel"] } }], end: "succeeded",
    });
  });

  it("says what is no JSON and what is no scenario", () => {
    expect(checkScenario("{\"schema\":").errors[0]?.message).toMatch(/^Not JSON/);
    expect(errorsOf([])).toEqual([": Invalid input: expected object, received array"]);
    expect(errorsOf({ schema: 2, name: "", turns: [] })).toEqual([
      "schema: Invalid input: expected 1",
      "name: Too small: expected string to have >=1 characters",
      "turns: Too small: expected array to have >=1 items",
    ]);
  });

  it("names the place and the member of a faulty step, also inside parallel branches", () => {
    expect(errorsOf(withSteps({ message: "a", chunks: 0 }))).toEqual(["turns[0].steps[0].chunks: Too small: expected number to be >=1"]);
    expect(errorsOf(withSteps({ message: "a", colour: "red" }))).toEqual(['turns[0].steps[0]: Unrecognized key: "colour"']);
    expect(errorsOf(withSteps({ parallel: [[{ message: "a" }, { tool: { name: "" } }]] }))).toEqual([
      "turns[0].steps[0].parallel[0][1].tool.name: Too small: expected string to have >=1 characters",
    ]);
    expect(errorsOf(withSteps({ raw: { type: "item.exploded" } }))[0]).toMatch(/^turns\[0\]\.steps\[0\]\.raw\.type: /);
    expect(errorsOf(withSteps({ usage: { last: 3 } }))).toEqual(["turns[0].steps[0].usage: Expected {last, total?, contextWindow?} or token counts {input, output, …}"]);
  });

  it("wants a flat form or a page of an elicitation", () => {
    const elicit = (more: object): unknown => withSteps({ elicit: { server: "s", message: "m", ...more } });
    expect(errorsOf(elicit({ schema: { type: "object", properties: { a: { type: "object" } } } }))).toEqual(["turns[0].steps[0].elicit.schema: Expected a flat object schema, as MCP has it for elicitations"]);
    expect(errorsOf(elicit({}))).toEqual(["turns[0].steps[0].elicit: Give `schema` or `url`"]);
  });

  it("lists the kinds of steps where a step is none of them", () => {
    expect(errorsOf(withSteps({ mesage: "a" }, "text"))).toEqual([
      `turns[0].steps[0]: Unknown step with "mesage"; a step has one of: ${STEP_NAMES.join(", ")}.`,
      "turns[0].steps[1]: A step must be an object.",
    ]);
  });

  it("finds ids used twice and calls that do not exist", () => {
    expect(errorsOf(withSteps(
      { tool: { id: "a", name: "x" } }, { edit: { id: "a", path: "p", before: null, after: "" } },
      { output: "b", text: "x" }, { result: { id: "a" } }, { result: { id: "a" } }, { output: "later", text: "x" }, { tool: { id: "later", name: "x" } },
      { approve: { id: "a", kind: "tool" } }, { edit: { path: "p", before: null, after: null } },
    ))).toEqual([
      'turns[0].steps[1].edit.id: The id "a" is used twice in this turn.',
      'turns[0].steps[2].output: There is no tool "b" in this turn.',
      'turns[0].steps[4].result.id: The call "a" has its result already.',
      'turns[0].steps[5].output: The call "later" is no tool that has started before this step.',
      'turns[0].steps[7].approve.id: The call "a" has its result already.',
      "turns[0].steps[8].edit: An edit from nothing to nothing: give `before` or `after`.",
    ]);
  });

  it("lets a branch use calls from before, and what follows use calls of every branch, but no branch another's", () => {
    expect(checkScenario(JSON.stringify(withSteps(
      { tool: { id: "a", name: "x" } },
      { parallel: [[{ output: "a", text: "x" }, { tool: { id: "b", name: "x" } }], [{ message: "m" }]] },
      { result: { id: "b" } }, { result: { id: "a" } },
    ))).errors).toEqual([]);
    expect(errorsOf(withSteps({ parallel: [[{ tool: { id: "b", name: "x" } }], [{ output: "b", text: "" }]] }))).toEqual([
      'turns[0].steps[0].parallel[1][0].output: The call "b" is no tool that has started before this step.',
    ]);
  });

  it("refers to a step without an id by its place, counted from 1", () => {
    expect(checkScenario(JSON.stringify(withSteps({ message: "m" }, { tool: { name: "x" } }, { result: { id: "s1-2" } }))).ok).toBe(true);
    expect(checkScenario(JSON.stringify(withSteps({ parallel: [[], [{ tool: { name: "x" } }]] }, { result: { id: "s1-1.2.1" } }))).ok).toBe(true);
  });
});

describe("scenarioJsonSchema", () => {
  it("takes and refuses what the check does", () => {
    const validate = new Ajv2020({ strict: false }).compile(scenarioJsonSchema());
    expect(validate(EVERYTHING), JSON.stringify(validate.errors)).toBe(true);
    for (const scenario of embeddedScenarios) expect(validate(scenario)).toBe(true);
    for (const bad of [{}, withSteps({ mesage: "a" }), withSteps({ message: "a", chunks: 0 }), { ...EVERYTHING as object, schema: 2 }]) {
      expect(validate(bad)).toBe(false);
    }
  });
});
