import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { kimiBench } from "../support/kimi.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { Tui } from "../support/tui.ts";
import { until } from "../support/wait.ts";

endToEnd();

test("Kimi Code in the Codex TUI: thoughts, a command that is asked for, an edit with its diff, the answer; a turn that is stopped; and the session opened again", async () => {
  await using bench = await kimiBench();
  const poem = join(bench.workspace, "poem.txt");
  writeFileSync(poem, "one\ntwo\nthree\n");
  bench.model.play({
    replies: [
      { blocks: [{ thinking: "The poem is in poem.txt.", chunks: 3 }, { text: "I read the poem and mark it as counted.", chunks: 6 }, { tool: { id: "r1", name: "Read", input: { path: poem } } }, { tool: { id: "c1", name: "Bash", input: { command: "touch counted.txt" } } }], chunkMs: 30 },
      { match: { resultOf: "c1" }, blocks: [{ tool: { id: "e1", name: "Edit", input: { path: poem, old_string: "two", new_string: "2" } } }] },
      { match: { resultOf: "e1" }, blocks: [{ text: "The second line is a number now.", chunks: 8 }], chunkMs: 30 },
      { match: { says: "wait" }, blocks: [{ text: "Counting sheep, one by", chunks: 4 }], hang: true },
      { match: { says: "and now" }, blocks: [{ text: "Here we go on." }] },
    ],
  });
  await using server = await startServer({ env: bench.env, args: ["--harness", "kimi-code"] });
  await using plain = await PlainClient.connect(server.url);
  {
    await using tui = await Tui.start(server.url, "kimi", { args: ["-m", "kimi-code/__kimi_env_model__", "-C", bench.workspace] });
    await tui.ready();
    await until("the TUI's thread", async () => ((await plain.wire.request<{ data: string[] }>("thread/loaded/list", {})).data.length > 0 ? true : undefined), { timeoutMs: 60_000 });
    await tui.submit("make the second line a number");
    const command = await tui.waitFor("Would you like to run the following command?");
    expect(command).toContain("touch counted.txt");
    await tui.capture("1-command");
    await tui.type("y");
    const answer = await tui.waitFor("The second line is a number now.");
    expect(answer).toContain("I read the poem and mark it as counted.");
    expect(answer).toMatch(/Edited .*poem\.txt \(\+1 -1\)/);
    expect(answer).toMatch(/-two\s*\n\s*\d+ +\+2/);
    expect(readFileSync(poem, "utf8")).toBe("one\n2\nthree\n");
    await tui.capture("2-answer");

    await tui.submit("wait for it");
    await tui.waitFor("Counting sheep");
    await tui.press("Escape");
    await tui.waitFor(/interrupted/i);
    await tui.capture("3-interrupted");
    expect(await tui.quit()).toBe(0);
  }
  const { data } = await plain.wire.request<{ data: { id: string }[] }>("thread/list", {});
  expect(data).toHaveLength(1);

  await using again = await Tui.start(server.url, "kimi-again", { args: ["resume", data[0]!.id] });
  await again.ready();
  const opened = await again.waitFor("Counting sheep");
  for (const words of ["make the second line a number", "I read the poem and mark it as counted.", "touch counted.txt", "poem.txt", "The second line is a number now."]) expect(opened).toContain(words);
  await again.submit("and now?");
  await again.waitFor("Here we go on.");
  await again.capture("4-opened");
});
