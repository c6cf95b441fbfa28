import { expect, test } from "vitest";
import { claudeBench } from "../support/claude.ts";
import { startFeishu } from "../support/feishu.ts";
import { PlainClient } from "../support/plain-client.ts";
import { POEM, preparePoem } from "../support/poem.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { gone } from "../support/tui-steps.ts";
import { Tui } from "../support/tui.ts";
import { until } from "../support/wait.ts";

endToEnd();

const NEXT = "It has three lines, as before.";
const patient = { timeoutMs: 120_000, everyMs: 100 };

test("Claude Code in Feishu and in the Codex TUI at once: each sees the turn, answers for both, and shows the same answer", async () => {
  await using bench = await claudeBench();
  preparePoem(bench, "file_path", [{ match: { says: "how many lines" }, blocks: [{ text: NEXT, chunks: 4 }] }]);
  await using server = await startServer({ env: bench.env, args: ["--harness", "claude-code"] });
  await using client = await PlainClient.connect(server.url);
  await client.offered("claude-code/sonnet");
  await using world = await startFeishu(server.url, { defaultModel: "claude-code/sonnet", cwd: bench.workspace });
  const card = (what: string, isIt: (message: ReturnType<typeof world.said>[number]) => boolean) => until(what, () => world.said().find(isIt), { ...patient, describe: () => world.said().map(({ text }) => text).join("\n---\n") });

  world.say(POEM.asked);
  const command = await card("the approval of the command", ({ text }) => text.includes("touch counted.txt") && text.includes("Approve"));

  const { data } = await client.wire.request<{ data: { id: string }[] }>("thread/list", { limit: 5, sortKey: "created_at" });
  expect(data).toHaveLength(1);
  await using tui = await Tui.start(server.url, "feishu-claude", { args: ["resume", data[0]!.id] });
  await tui.waitFor("Would you like to run the following command?");
  await tui.capture("1-asked");

  // Pressed in Feishu: the terminal asks no more.
  const click = await world.fake.click({ messageId: command.messageId, by: world.ada, text: "Approve" });
  expect(click).toMatchObject({ outcome: "answered", toast: { type: "success" } });
  const edit = await card("the approval of the edit", ({ text }) => text.includes("poem.txt") && text.includes("+2") && text.includes("Approve"));
  await tui.waitFor(/make the following edits/);
  await gone(tui, /Would you like to run the following command/);
  await tui.capture("2-edit");

  // Answered in the terminal: the card says so, and its buttons are gone.
  await tui.type("y");
  const settled = await card("the settled card", ({ messageId, text }) => messageId === edit.messageId && text.includes("Approved"));
  expect(settled.text).not.toContain("Deny");
  const late = await world.fake.click({ messageId: command.messageId, by: world.ada, value: { interaction_id: "x", action_id: "approve", action_value: "approve" } });
  expect(late).toMatchObject({ outcome: "answered", toast: { type: "warning" } });

  // Streaming is closed a moment before the card is written as a whole.
  const parts = [POEM.beginning, "Ran touch counted.txt", "poem.txt", POEM.answer];
  const done = await card("the answer", ({ text, card: shown }) => parts.every((part) => text.includes(part)) && shown?.streaming === false);
  expect(done.card?.summary).toBe(POEM.answer);
  const shown = await tui.waitFor(POEM.answer);
  expect(shown).toContain(POEM.beginning);
  await tui.capture("3-answer");

  // The other way round: a prompt of the terminal is a card in the chat.
  await tui.ready();
  await tui.submit("how many lines are there now?");
  await tui.waitFor(NEXT);
  const next = await card("the card of the terminal's turn", ({ text, card: other }) => text.includes(NEXT) && other?.streaming === false);
  expect(next.card?.summary).toBe(NEXT);
  expect(world.said().filter(({ text }) => text.includes(POEM.answer))).toHaveLength(1);
  expect(world.fake.broken()).toEqual([]);
  expect(world.fake.advice()).toEqual([]);
});
