import fc from "fast-check";

type Step = Record<string, unknown>;

/** What a generated scenario is meant to bring about; the test counts that each was hit. */
export type Feature =
  | "steer" | "hiddenItem" | "blankText" | "revertedEdit" | "failedLastMessage" | "openAtEnd" | "parallelTools"
  | "failure" | "cancellation" | "interrupt" | "crash" | "explicitPhase" | "mergedEdits" | "rename" | "declined" | "subagent" | "usage" | "compaction" | "longOutput";

export interface GeneratedTurn {
  steps: Step[];
  end: "succeeded" | "failed" | "cancelled";
  error?: string;
  match: string;
}
export interface GeneratedScenario {
  schema: 1;
  name: string;
  turns: GeneratedTurn[];
}
/** What the test has to do while the turn plays: at the message with `MARK` it steers, and answers a request, or interrupts. */
export interface GeneratedPlan {
  turns: { steps: Step[]; end: GeneratedTurn["end"]; error?: string; act: "none" | "steer" | "interrupt"; features: Feature[] }[];
}

export const MARK = "⏸ now";
/** Where the turn stands still: until it is interrupted, or until the one who has steered it answers. */
const PAUSES: Readonly<Record<"steer" | "interrupt", Step>> = {
  steer: { approve: { kind: "tool", title: "Go on?", offers: ["accept", "decline"] } },
  interrupt: { delayMs: 600_000 },
};

interface Piece {
  features: Feature[];
  steps: (ids: Ids) => Step[];
}

/** Ids and file contents while a turn's steps are laid out: edits must begin where the last one of their file ended. */
class Ids {
  #next = 0;
  readonly files = new Map<string, string | null>();
  id(): string {
    return `x${this.#next++}`;
  }
  edit(path: string, after: string | null, more: Step = {}): Step[] {
    const before = this.files.get(path) ?? null;
    if (before === null && after === null) return [];
    if (!("status" in more)) this.files.set(path, after);
    return [{ edit: { id: this.id(), path, before, after, ...more } }];
  }
}

const words = fc.constantFrom("Reading the code.", "Done — 完成 ✅", "line\nline\r\nline", "x".repeat(3_000), "**Title**\n\nbody", " leading");
const blank = fc.constantFrom("", " ", "\n\t ");
const piece = (features: Feature[], steps: (ids: Ids) => Step[]): Piece => ({ features, steps });

const call = (name: string, input: unknown, result: Step, map?: string) => (ids: Ids): Step[] => {
  const id = ids.id();
  const output = typeof result["output"] === "string" ? [{ output: id, text: result["output"], chunks: 2 }] : [];
  return [{ tool: { id, name, input, ...(map === undefined ? {} : { map }) } }, ...output, { result: { id, ...result } }];
};

const tool = fc.oneof(
  fc.constantFrom("ls -1", "cat a.txt && rg x", "npm test", "exit 3").map((command) =>
    piece([], call("Bash", { command }, { output: "one\ntwo\n", status: "succeeded", exitCode: command === "exit 3" ? 3 : 0, durationMs: 12 }, "qoder"))),
  fc.constant(piece([], call("something_else", { deep: { list: [1, null, "ü"] } }, { output: null, status: "failed", message: "no" }))),
  fc.constant(piece(["longOutput"], call("Bash", { command: "yes" }, { output: "y\n".repeat(20_000), status: "succeeded", exitCode: 0 }, "qoder"))),
  fc.constant(piece(["declined"], call("Bash", { command: "rm -r ." }, { status: "declined" }, "qoder"))),
  fc.constant(piece([], call("mcp__files__stat", { path: "/a" }, { output: "ok", status: "succeeded", structured: { size: 3 } }, "qoder"))),
  fc.constant(piece([], call("WebSearch", { query: "fold" }, { output: "found", status: "succeeded" }, "qoder"))),
);
const paths = fc.constantFrom("/w/a.txt", "/w/b/ü.ts", "/w/c.md");
const contents = fc.constantFrom("", "one\n", "one\ntwo\n", "no newline", "日本\n");
const edit = fc.oneof(
  fc.tuple(paths, fc.oneof(contents, fc.constant(null))).map(([path, after]) => piece([], (ids) => ids.edit(path, after))),
  fc.tuple(paths, contents).map(([path, after]) => piece(["mergedEdits"], (ids) => [...ids.edit(path, after), ...ids.edit(path, `${after}more\n`)])),
  paths.map((path) => piece(["revertedEdit"], (ids) => {
    const before = ids.files.get(path) ?? null;
    return [...ids.edit(path, "for a moment\n"), ...ids.edit(path, before)];
  })),
  paths.map((path) => piece(["declined"], (ids) => ids.edit(path, "never\n", { status: "declined" }))),
  fc.constant(piece(["rename"], (ids) => {
    ids.files.delete("/w/old.txt");
    return [{ edit: { id: ids.id(), path: "/w/old.txt", movePath: "/w/new.txt", before: "same\n", after: "same\nand more\n" } }];
  })),
);
const message = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(words, fc.integer({ min: 1, max: 4 })).map(([text, chunks]) => piece([], () => [{ message: text, chunks }])) },
  blank.map((text) => piece(["blankText"], () => [{ message: text }])),
  fc.tuple(words, fc.constantFrom("commentary", "partial_answer", "final_answer")).map(([text, phase]) => piece(["explicitPhase"], () => [{ message: text, phase }])),
);
const hidden = fc.oneof(
  blank.map((text) => piece(["hiddenItem"], () => [{ reasoning: text }])),
  fc.constant(piece(["hiddenItem"], call("TodoWrite", { todos: [{ content: "a", status: "pending", activeForm: "a" }] }, { output: "ok", status: "succeeded" }, "qoder"))),
  fc.constant(piece(["hiddenItem"], () => [{ plan: [{ step: "a", status: "inProgress" }] }])),
);
const other = fc.oneof(
  fc.constant(piece(["compaction"], () => [{ compaction: true }])),
  fc.constant(piece(["usage"], () => [{ usage: { last: { input: 10, output: 5 }, contextWindow: 1000 } }])),
  fc.constant(piece(["subagent"], (ids) => [{ subagent: { id: ids.id(), prompt: "look", children: [{ ref: "child-1", status: "completed", message: "seen" }] } }])),
);
const single = fc.oneof(
  { weight: 3, arbitrary: message },
  { weight: 2, arbitrary: words.map((text) => piece([], () => [{ reasoning: text, chunks: 2 }])) },
  { weight: 3, arbitrary: tool },
  { weight: 3, arbitrary: edit },
  { weight: 2, arbitrary: hidden },
  { weight: 1, arbitrary: other },
);
const parallel = fc.array(fc.oneof(tool, words.map((text) => piece([], () => [{ message: text, chunks: 2 }]))), { minLength: 2, maxLength: 3 }).map((pieces) =>
  piece(["parallelTools", ...pieces.flatMap((one) => one.features)], (ids) => [{ parallel: pieces.map((one) => one.steps(ids)) }]));

const ending = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ last: piece([], () => []), end: "succeeded" as const }) },
  { weight: 1, arbitrary: fc.constant({ last: piece(["failedLastMessage"], () => [{ message: "half an", outcome: "failed" }]), end: "succeeded" as const }) },
  { weight: 1, arbitrary: fc.constantFrom("succeeded" as const, "failed" as const, "cancelled" as const).map((end) => ({
    last: piece(["openAtEnd"], (ids: Ids) => [{ tool: { id: ids.id(), name: "Bash", input: { command: "sleep 9" }, map: "qoder" } }]), end })) },
  { weight: 1, arbitrary: fc.constant({ last: piece(["failure"], () => []), end: "failed" as const, error: "out of luck" }) },
  { weight: 1, arbitrary: fc.constant({ last: piece(["cancellation"], () => []), end: "cancelled" as const }) },
  { weight: 1, arbitrary: fc.constant({ last: piece(["crash"], () => [{ crash: true }]), end: "succeeded" as const }) },
);
const act = fc.oneof(
  { weight: 6, arbitrary: fc.constant("none" as const) },
  { weight: 1, arbitrary: fc.constant("steer" as const) },
  { weight: 1, arbitrary: fc.constant("interrupt" as const) },
);

const turn = fc.tuple(fc.array(fc.oneof({ weight: 6, arbitrary: single }, { weight: 1, arbitrary: parallel }), { maxLength: 6 }), ending, act).map(([pieces, { last, ...end }, action]) => {
  const ids = new Ids();
  ids.files.set("/w/a.txt", "one\n");
  const steps = pieces.flatMap((one) => one.steps(ids));
  const features = [...pieces, last].flatMap((one) => one.features);
  if (action !== "none") {
    steps.push({ message: MARK }, PAUSES[action]);
    features.push(action);
  }
  return { steps: [...steps, ...last.steps(ids)], ...end, act: action, features };
});

/** Scenarios of one to three turns. */
export const generatedPlan: fc.Arbitrary<GeneratedPlan> = fc.array(turn, { minLength: 1, maxLength: 3 }).map((turns) => ({ turns }));

/** The scenario file of a plan; its turn n is chosen by the prompt `turn n`. */
export function scenarioOf(plan: GeneratedPlan, name: string): GeneratedScenario {
  return {
    schema: 1,
    name,
    turns: plan.turns.map(({ steps, end, error }, n) => ({ match: promptOf(n), steps, end, ...(error === undefined ? {} : { error }) })),
  };
}

export function promptOf(n: number): string {
  return `play turn ${n};`;
}
