import { join } from "node:path";
import { expect, test } from "vitest";
import { foldTurn } from "@foldcast/protocol-core/folding";
import { DesktopClient } from "../support/desktop-client.ts";
import { desktopFold } from "../support/desktop-fold.ts";
import { PlainClient } from "../support/plain-client.ts";
import { SHARED } from "../support/paths.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { claudeFiles, messages, replayFile } from "../replay/support.ts";

endToEnd();

/** Every saved session that is a thread of its own: no sub-agent's file, no second file of the same session. */
test("Codex Desktop opens every recorded Claude Code session whole, by both of its ways, and folds it by its own rule", async () => {
  await using server = await startServer({ args: ["--sessions", join(SHARED, "data/claude/history"), "--sessions", join(SHARED, "data/sessions/claude")] });
  await using desktop = await DesktopClient.connect(server.url);
  await using plain = await PlainClient.connect(server.url);
  const threads = await desktop.list();
  expect(threads.length).toBeGreaterThan(40);
  const files = new Set(claudeFiles());
  let folded = 0;
  let answers = 0;
  for (const thread of threads) {
    const turns = await desktop.open(thread.id);
    expect(await desktop.openByItems(thread.id), thread.path ?? "").toEqual(turns);
    expect((await plain.read(thread.id)).turns.map((turn) => turn.id)).toEqual(turns.map((turn) => turn.id));
    for (const turn of turns) {
      const verdict = foldTurn({ ...turn, id: turn.id ?? "", rootTurnId: null, itemsView: "full", completedAt: null });
      expect(desktopFold(turn).collapses, thread.path ?? "").toBe(verdict.folds);
      if (verdict.folds) folded += 1;
      if (verdict.finalAnswerId !== null) answers += 1;
    }
    if (thread.path === null) continue;
    expect(files.has(thread.path), thread.path).toBe(true);
    // What a replay of the file alone says, the server says too: its texts are checked against the file elsewhere.
    expect(messages(turns.flatMap((turn) => turn.items)), thread.path).toEqual(messages((await replayFile(thread.path)).items));
  }
  console.log(`${threads.length} sessions, ${folded} folded turns, ${answers} final answers`);
  expect(answers).toBeGreaterThan(80);
}, 120_000);
