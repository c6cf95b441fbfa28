import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { timed, type BenchCase } from "../case.ts";
import { ended, projectTurn, started } from "../projecting.ts";

const AT = 1_700_000_000_000;

function* turn(commands: number): Generator<HarnessEvent> {
  yield started("turn");
  for (let i = 0; i < commands; i++) {
    const itemId = String(i);
    yield { type: "item.started", item: { kind: "command", id: itemId, command: `sed -n ${itemId}p notes.md` }, at: AT };
    yield { type: "item.completed", itemId, outcome: { status: "succeeded" }, result: { output: "one line\n", exitCode: 0, durationMs: 3 }, at: AT };
  }
  yield ended;
}

/** Command items a second, 10,000 of them in one turn. */
const bench: BenchCase = { n: 10_000, unit: "items/s", run: (n) => timed(() => void projectTurn("turn", turn(n))) };
export default bench;
