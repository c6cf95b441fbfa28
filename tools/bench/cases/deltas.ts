import { DESKTOP_POLICY } from "@foldcast/protocol-core/delivery";
import { timed, type BenchCase } from "../case.ts";
import { ended, newProjector, serialise, started } from "../projecting.ts";

const AT = 1_700_000_000_000;

function stream(deltas: number): void {
  const projector = newProjector("turn");
  serialise(projector, started("turn"), "turn", DESKTOP_POLICY);
  serialise(projector, { type: "item.started", item: { kind: "message", id: "m" }, at: AT }, "turn", DESKTOP_POLICY);
  for (let i = 0; i < deltas; i++) {
    serialise(projector, { type: "item.updated", itemId: "m", update: { type: "text", append: `word${String(i % 97)} ` }, at: AT }, "turn", DESKTOP_POLICY);
  }
  serialise(projector, { type: "item.completed", itemId: "m", outcome: { status: "succeeded" }, at: AT }, "turn", DESKTOP_POLICY);
  serialise(projector, ended, "turn", DESKTOP_POLICY);
}

/** Deltas a second of one message of 100,000 pieces, every notification serialised. */
const bench: BenchCase = { n: 100_000, unit: "deltas/s", run: (n) => timed(() => stream(n)) };
export default bench;
