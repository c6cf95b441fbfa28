import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DESKTOP_POLICY } from "@foldcast/protocol-core/delivery";
import { TurnProjector } from "@foldcast/protocol-core/projection";
import { definition, history } from "@foldcast/adapter-claude-code";
import { timed, type BenchCase } from "./case.ts";
import { writeClaudeSession } from "./claude-session.ts";

/** A case that opens a saved session of n items and projects its newest turns; at most `newest` of them. */
export function openingCase(n: number, newest: number): BenchCase {
  let folder: string | null = null;
  const { id, tools } = definition.manifest;
  const fileFor = (items: number): string => join(folder ??= mkdtempSync(join(tmpdir(), "foldcast-bench-")), `${String(items)}.jsonl`);

  async function open(file: string): Promise<void> {
    const index = await history.open(file);
    const from = Math.max(0, index.turns.length - newest);
    let items = 0;
    for await (const { index: at, events } of index.read(from, index.turns.length)) {
      const projector = new TurnProjector({ turnId: String(at), threadId: "thread", cwd: "/repo", toolMaps: { [id]: tools }, defaultMap: id, childThreadId: (ref) => ref });
      for (const event of events) projector.apply(event);
      items += projector.turn(DESKTOP_POLICY).items.length;
    }
    await index.close();
    if (items === 0) throw new Error("nothing was projected");
  }

  return {
    n,
    unit: "ms",
    growthFrom: n / 10,
    prepare: async (items) => {
      await writeClaudeSession(fileFor(items), items);
    },
    run: (items) => timed(() => open(fileFor(items))),
    close() {
      if (folder !== null) rmSync(folder, { recursive: true, force: true });
    },
  };
}
