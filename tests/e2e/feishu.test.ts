import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startFeishu } from "../support/feishu.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = {
  plain: {
    schema: 1, name: "plain",
    turns: [{ steps: [{ reasoning: "Hm." }, { message: "I look." }, { tool: { id: "c", name: "shell", input: { command: "npm test" } } }, { result: { id: "c", output: "ok\n", exitCode: 0 } }, { message: "All tests pass." }] }],
  },
  approval: {
    schema: 1, name: "approval",
    turns: [{ steps: [{ tool: { id: "c", name: "shell", input: { command: "rm -r build" } } }, { approve: { id: "c", kind: "command" } }, { result: { id: "c", output: "ok\n" } }, { message: "Cleaned." }] }],
  },
  question: {
    schema: 1, name: "question",
    turns: [{ steps: [{ ask: { id: "q", questions: [{ id: "which", question: "Which side?", options: [{ label: "left" }, { label: "right" }] }, { id: "why", question: "Why?", options: [], allowOther: true }] } }, { message: "Thanks." }] }],
  },
  slow: { schema: 1, name: "slow", turns: [{ steps: [{ message: "Beginning." }, { delayMs: 60_000 }, { message: "End." }] }] },
};
const patient = { timeoutMs: 60_000, everyMs: 20 };

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS, speed: 1 });
});
afterAll(() => server.stop());

describe("the Feishu channel", () => {
  test("answers a message with one card that folds, and breaks no rule of the platform", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/plain" });
    const { messageId } = world.say("run the tests");
    // Streaming is closed a moment before the card is written as a whole.
    const isWhole = (text: string): boolean => ["Ran npm test", "All tests pass."].every((part) => text.includes(part));
    const card = await until("the answer", () => world.said().find(({ text, card: shown }) => isWhole(text) && shown?.streaming === false), patient);
    expect(card.parentId).toBe(messageId);
    expect(card.card?.summary).toBe("All tests pass.");
    expect(world.said()).toHaveLength(1);
    expect(world.fake.broken()).toEqual([]);
    expect(world.fake.advice()).toEqual([]);
  });

  test("lets only the right person approve, once, and settles the card with a name", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/approval" });
    world.say("clean up");
    const asked = await until("the approval", () => world.said().find(({ text }) => text.includes("Approve")), patient);
    expect(asked.text).toContain("rm -r build");
    const wrong = await world.fake.click({ messageId: asked.messageId, by: world.ben, text: "Approve" });
    expect(wrong.toast?.type).toBe("error");
    const clicks = await Promise.all([1, 2].map(() => world.fake.click({ messageId: asked.messageId, by: world.ada, text: "Approve" })));
    expect(clicks.map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
    expect(clicks.filter(({ toast }) => toast?.type === "success")).toHaveLength(1);
    await until("the answer", () => world.said().find(({ text, card }) => text.includes("Cleaned.") && card?.streaming === false), patient);
    const settled = await until("the settled card", () => world.said().find(({ messageId, text }) => messageId === asked.messageId && text.includes("Approved") && text.includes("Ada")), patient);
    expect(settled.text).not.toContain("Deny");
    const late = await world.fake.click({ messageId: asked.messageId, by: world.ada, value: JSON.parse(JSON.stringify({ interaction_id: "none", action_id: "approve", action_value: "approve" })) });
    expect(late).toMatchObject({ outcome: "answered", toast: { type: "warning" } });
    expect(world.fake.broken()).toEqual([]);
  });

  test("settles the card of an approval that was answered in a terminal", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/approval" });
    world.say("clean up");
    const asked = await until("the approval", () => world.said().find(({ text }) => text.includes("Approve")), patient);
    await using terminal = await PlainClient.connect(server.url);
    const { data } = await terminal.wire.request<{ data: { id: string }[] }>("thread/list", { limit: 1, sortKey: "created_at" });
    await terminal.join(data[0]!.id);
    const request = await until("the request", () => terminal.wire.requests[0], patient);
    terminal.wire.respond(request.id, { decision: "decline" });
    await until("the settled card", () => world.said().find(({ messageId, text }) => messageId === asked.messageId && text.includes("Denied")), patient);
    await until("the answer", () => world.said().find(({ text, card }) => text.includes("Cleaned.") && card?.streaming === false), patient);
  });

  test("asks several questions in one form", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/question" });
    world.say("ask me");
    const asked = await until("the form", () => world.said().find(({ text }) => text.includes("Which side?")), patient);
    const click = await world.fake.click({ messageId: asked.messageId, by: world.ada, text: "Submit", form: { f0: "right", t1: "because" } });
    expect(click).toMatchObject({ outcome: "answered", toast: { type: "success" } });
    await until("the answer", () => world.said().find(({ text, card }) => text.includes("Thanks.") && card?.streaming === false), patient);
  });

  test("takes commands: stop, status, model, threads, rename, fork, new", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/slow" });
    world.say("go");
    await until("the card", () => world.said().find(({ text }) => text.includes("Beginning.")), patient);
    const reply = async (text: string, wanted: RegExp): Promise<void> => {
      const { messageId } = world.say(text);
      await until(`the reply to ${text}`, () => world.said().find((message) => message.parentId === messageId && wanted.test(message.text)), patient);
    };
    await reply("/status", /Model: scripted\/slow[\s\S]*Running/);
    await reply("/stop", /Interrupting/);
    await until("the end", () => world.said().find(({ text, card }) => text.includes("Interrupted") && card?.streaming === false), patient);
    await reply("/rename The slow one", /Renamed/);
    await reply("/threads", /The slow one/);
    await reply("/history", /go[\s\S]*Beginning/);
    await reply("/fork", /Forked/);
    await reply("/cwd /etc", /Only these folders/);
    await reply("/cwd sub", /\/w\/sub/);
    await reply("/model scripted/plain", /Model: scripted\/plain/);
    await reply("/nonsense", /no command/);
    await reply("/new", /new thread/);
    world.say("//literal");
    await until("the new model's answer", () => world.said().find(({ text, card }) => text.includes("All tests pass.") && card?.streaming === false), patient);
  });

  test("takes running turns up again after a restart, and shows nothing twice", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/approval" });
    world.say("clean up");
    const asked = await until("the approval", () => world.said().find(({ text }) => text.includes("Approve")), patient);
    await world.restart();
    const click = await world.fake.click({ messageId: asked.messageId, by: world.ada, text: "Approve" });
    expect(click).toMatchObject({ toast: { type: "success" } });
    await until("the answer", () => world.said().find(({ text, card }) => text.includes("Cleaned.") && card?.streaming === false), patient);
    expect(world.said()).toHaveLength(2);
  });

  test("refuses strangers, says so to them alone, and ignores what does not mention it", async () => {
    await using world = await startFeishu(server.url, { allowChats: [], allowUsers: ["ou_somebody"], defaultModel: "scripted/plain" });
    const { messageId } = world.say("hello");
    await until("the refusal", () => world.said().find((message) => message.parentId === messageId), patient);
    world.fake.say({ chatId: world.chatId, from: world.ada, text: "not for the bot" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(world.said()).toHaveLength(1);
  });
});
