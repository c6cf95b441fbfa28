import { DESKTOP_POLICY } from "@foldcast/protocol-core/delivery";
import type { FileEdit } from "@foldcast/protocol-core/harness";
import type { TurnProjector } from "@foldcast/protocol-core/projection";
import { timed, type BenchCase } from "../case.ts";
import { ended, newProjector, serialise, started } from "../projecting.ts";

const LINES = 20;
/** The turn takes the same time whatever its size: each pull sends everything so far, so more pulls would be more work by themselves. */
const TURN_MS = 10_000;
const PULL_EVERY_MS = 250;
const AT = 1_700_000_000_000;

/** Replaces twenty lines at a place of its own; every second edit goes to one large file, the others to ten-edit files. */
function edit(i: number): FileEdit {
  const path = i % 2 === 0 ? "/repo/src/large.ts" : `/repo/src/part${String(Math.floor(i / 20))}.ts`;
  // The large file is edited in an order that is neither first to last nor last to first.
  const slot = i % 2 === 0 ? (i * 7919) % 100_003 : (i % 20) >> 1;
  const from = 1 + slot * 3 * LINES;
  const lines: string[] = [];
  for (let line = 0; line < LINES; line++) lines.push(`-const before${String(line)} = ${String(i)};`);
  for (let line = 0; line < LINES; line++) lines.push(`+const after${String(line)} = ${String(i)};`);
  return { path, hunks: [{ oldStart: from, oldLines: LINES, newStart: from, newLines: LINES, lines }] };
}

/** What the host sends of the changes so far: the summary's, and the turn's diff. */
function pull(projector: TurnProjector): number {
  return JSON.stringify(projector.patch()).length + JSON.stringify(projector.diff()).length;
}

/** As the host does: the diff is pulled at most four times a second of the turn's own time, and at its end. */
function runTurn(edits: number): number {
  const projector = newProjector("turn");
  let written = serialise(projector, started("turn"), "turn", DESKTOP_POLICY);
  let pulledAt = -Infinity;
  for (let i = 0; i < edits; i++) {
    const itemId = String(i);
    written += serialise(projector, { type: "item.started", item: { kind: "fileChange", id: itemId, edits: [edit(i)] }, at: AT + i }, "turn", DESKTOP_POLICY);
    written += serialise(projector, { type: "item.completed", itemId, outcome: { status: "succeeded" }, at: AT + i }, "turn", DESKTOP_POLICY);
    const now = (i * TURN_MS) / edits;
    if (now - pulledAt < PULL_EVERY_MS) continue;
    pulledAt = now;
    written += pull(projector);
  }
  written += pull(projector);
  return written + serialise(projector, ended, "turn", DESKTOP_POLICY);
}

/** Edits a second: 1,000 of twenty lines in one turn of ten seconds, by a clock of its own. */
const bench: BenchCase = { n: 1_000, unit: "edits/s", run: (n) => timed(() => void runTurn(n)) };
export default bench;
