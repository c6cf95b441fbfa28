import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { kimiBench } from "../support/kimi.ts";
import { PlainClient } from "../support/plain-client.ts";
import { POEM, preparePoem } from "../support/poem.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { finished } from "../support/tui-steps.ts";
import { Tui } from "../support/tui.ts";

endToEnd();

const MODEL = "kimi-code/__kimi_env_model__";

test("Kimi Code in the Codex TUI: thoughts, a command that is asked for, an edit with its diff, the answer; a turn that is stopped; and the session opened again", async () => {
  await using bench = await kimiBench();
  const poem = preparePoem(bench, "path", [{ match: { says: "and now" }, blocks: [{ text: "Here we go on." }] }]);
  await using server = await startServer({ env: bench.env, args: ["--harness", "kimi-code"] });
  await using plain = await PlainClient.connect(server.url);
  await plain.offered(MODEL);
  {
    await using tui = await Tui.start(server.url, "kimi", { args: ["-m", MODEL, "-C", bench.workspace] });
    await tui.ready();
    await plain.threadLoaded();
    await tui.submit(POEM.asked);
    expect(await tui.waitFor("Would you like to run the following command?")).toContain(POEM.command);
    await tui.capture("1-command");
    await tui.type("y");
    const answer = await finished(tui, POEM.answer);
    expect(answer).toContain(POEM.beginning);
    expect(answer).toMatch(/Edited .*poem\.txt \(\+1 -1\)/);
    expect(answer).toMatch(/-two\s*\n\s*\d+ +\+2/);
    expect(readFileSync(poem, "utf8")).toBe(POEM.changed);
    await tui.capture("2-answer");

    await tui.submit("wait for it");
    await tui.waitFor(POEM.endless);
    await tui.press("Escape");
    await tui.waitFor(/interrupted/i);
    await tui.capture("3-interrupted");
    expect(await tui.quit()).toBe(0);
  }
  const { data } = await plain.wire.request<{ data: { id: string }[] }>("thread/list", {});
  expect(data).toHaveLength(1);

  await using again = await Tui.start(server.url, "kimi-again", { args: ["resume", data[0]!.id] });
  await again.ready();
  const opened = await again.waitFor(POEM.endless);
  for (const words of [POEM.asked, POEM.beginning, POEM.command, "poem.txt", POEM.answer]) expect(opened).toContain(words);
  await again.submit("and now?");
  await again.waitFor("Here we go on.");
  await again.capture("4-opened");
});
