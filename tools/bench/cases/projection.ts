import { DEFAULT_POLICY, DESKTOP_POLICY } from "@foldcast/protocol-core/delivery";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { timed, type BenchCase } from "../case.ts";
import { ended, projectTurn, started } from "../projecting.ts";

const ITEMS_PER_TURN = 12;
const AT = 1_700_000_000_000;

/** Reasoning, commands, edits, a progress message and the answer: twelve items, each completed, some streamed. */
function* turn(key: string): Generator<HarnessEvent> {
  yield started(key);
  for (let i = 0; i < 2; i++) {
    const reasoning = `r${String(i)}`;
    yield { type: "item.started", item: { kind: "reasoning", id: reasoning }, at: AT };
    yield { type: "item.updated", itemId: reasoning, update: { type: "text", append: "The failing assertion compares two clocks." }, at: AT };
    yield { type: "item.completed", itemId: reasoning, outcome: { status: "succeeded" }, at: AT };
    for (let j = 0; j < 3; j++) {
      const command = `c${String(i)}-${String(j)}`;
      yield { type: "item.started", item: { kind: "command", id: command, command: "npm test -- --run clock" }, at: AT };
      yield { type: "item.updated", itemId: command, update: { type: "output", append: "1 failed, 41 passed\n" }, at: AT };
      yield { type: "item.completed", itemId: command, outcome: { status: "succeeded" }, result: { output: "1 failed, 41 passed\n", exitCode: 1, durationMs: 830 }, at: AT };
    }
    const edit = `e${String(i)}`;
    const edits = [{ path: `/repo/src/clock${String(i)}.ts`, before: "const a = 1;\n", after: "const a = 2;\n" }];
    yield { type: "item.started", item: { kind: "fileChange", id: edit, edits }, at: AT };
    yield { type: "item.completed", itemId: edit, outcome: { status: "succeeded" }, at: AT };
  }
  for (const [id, text] of [["m0", "The clock is now handed in."], ["m1", "All 42 tests pass: the clock is handed in."]] as const) {
    yield { type: "item.started", item: { kind: "message", id }, at: AT };
    yield { type: "item.updated", itemId: id, update: { type: "text", append: text }, at: AT };
    yield { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at: AT };
  }
  yield ended;
}

function project(turns: number): void {
  for (let i = 0; i < turns; i++) {
    const key = String(i);
    projectTurn(key, turn(key), i % 2 === 0 ? DESKTOP_POLICY : DEFAULT_POLICY);
  }
}

/** Items a second over 1,000 turns of twelve items, every notification serialised, half of the turns for each dialect. */
const bench: BenchCase = {
  n: 1_000 * ITEMS_PER_TURN,
  unit: "items/s",
  run: (n) => timed(() => project(n / ITEMS_PER_TURN)),
};
export default bench;
