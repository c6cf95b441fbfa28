import { expect, test } from "vitest";
import { claudeBench } from "../support/claude.ts";
import { PlainClient } from "../support/plain-client.ts";
import { POEM, preparePoem } from "../support/poem.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { finished } from "../support/tui-steps.ts";
import { Tui } from "../support/tui.ts";

endToEnd();

test("a Claude Code turn in the Codex TUI: thoughts, a command that is asked for, an edit with its diff, the answer", async () => {
  await using bench = await claudeBench();
  preparePoem(bench, "file_path");
  await using server = await startServer({ env: bench.env, args: ["--harness", "claude-code"] });
  await using plain = await PlainClient.connect(server.url);
  await plain.offered("claude-code/sonnet");
  await using tui = await Tui.start(server.url, "claude", { args: ["-m", "claude-code/sonnet", "-C", bench.workspace] });
  await tui.ready();
  await plain.threadLoaded();
  await tui.submit(POEM.asked);
  expect(await tui.waitFor("Would you like to run the following command?")).toContain(POEM.command);
  await tui.capture("1-command");
  await tui.type("y");
  expect(await tui.waitFor(/make the following edits/)).toContain("poem.txt");
  await tui.capture("2-edit");
  await tui.type("y");
  expect(await finished(tui, POEM.answer)).toContain(POEM.beginning);
  await tui.capture("3-answer");

  await tui.submit("wait for it");
  await tui.waitFor(POEM.endless);
  await tui.press("Escape");
  await tui.waitFor(/interrupted/i);
  await tui.capture("4-interrupted");
});
