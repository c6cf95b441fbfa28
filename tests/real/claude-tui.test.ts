import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claudeBench } from "../support/claude.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { Tui } from "../support/tui.ts";

endToEnd();

test("a Claude Code turn in the Codex TUI: thoughts, a command that is asked for, an edit with its diff, the answer", async () => {
  await using bench = await claudeBench();
  const poem = join(bench.workspace, "poem.txt");
  writeFileSync(poem, "one\ntwo\nthree\n");
  bench.model.play({
    replies: [
      { blocks: [{ thinking: "The poem is in poem.txt.", chunks: 3 }, { text: "I read the poem and mark it as counted.", chunks: 6 }, { tool: { id: "r1", name: "Read", input: { file_path: poem } } }, { tool: { id: "c1", name: "Bash", input: { command: "touch counted.txt" } } }], chunkMs: 30 },
      { match: { resultOf: "c1" }, blocks: [{ tool: { id: "e1", name: "Edit", input: { file_path: poem, old_string: "two", new_string: "2" } } }] },
      { match: { resultOf: "e1" }, blocks: [{ text: "The second line is a number now.", chunks: 8 }], chunkMs: 30 },
      { match: { says: "wait" }, blocks: [{ text: "Counting sheep, one by", chunks: 4 }], hang: true },
    ],
  });
  await using server = await startServer({ env: bench.env, args: ["--harness", "claude-code"] });
  await using tui = await Tui.start(server.url, "claude", { args: ["-m", "claude-code/sonnet", "-C", bench.workspace] });
  await tui.ready();
  await tui.submit("make the second line a number");
  const command = await tui.waitFor("Would you like to run the following command?");
  expect(command).toContain("touch counted.txt");
  await tui.capture("1-command");
  await tui.type("y");
  const edit = await tui.waitFor(/make the following edits/);
  expect(edit).toContain("poem.txt");
  await tui.capture("2-edit");
  await tui.type("y");
  const answer = await tui.waitFor("The second line is a number now.");
  expect(answer).toContain("I read the poem and mark it as counted.");
  await tui.capture("3-answer");

  await tui.submit("wait for it");
  await tui.waitFor("Counting sheep, one by");
  await tui.press("Escape");
  await tui.waitFor(/interrupted/i);
  await tui.capture("4-interrupted");
});
