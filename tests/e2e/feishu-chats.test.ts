import { readFileSync } from "node:fs";
import type { Turn } from "@foldcast/protocol-core/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startFeishu, type FeishuWorld } from "../support/feishu.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = {
  plain: { schema: 1, name: "plain", turns: [{ steps: [{ message: "All is well." }] }] },
  approval: { schema: 1, name: "approval", turns: [{ steps: [{ tool: { id: "c", name: "shell", input: { command: "rm -r build" } } }, { approve: { id: "c", kind: "command" } }, { result: { id: "c", output: "ok\n" } }, { message: "Cleaned." }] }] },
  slow: { schema: 1, name: "slow", turns: [{ steps: [{ message: "Beginning." }, { delayMs: 600_000 }, { message: "End." }] }] },
};
const patient = { everyMs: 20 };
type Message = ReturnType<FeishuWorld["said"]>[number];

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS, speed: 1 });
});
afterAll(() => server.stop());

/** Messages of the bot anywhere. */
const anywhere = (world: FeishuWorld): Message[] => world.fake.chats().flatMap(({ messages }) => messages).filter(({ sender }) => sender.kind === "app");
const seen = (world: FeishuWorld, what: string, isIt: (message: Message) => boolean): Promise<Message> => until(what, () => anywhere(world).find(isIt), patient);
const answers = (world: FeishuWorld, messageId: string, wanted: RegExp): Promise<Message> =>
  seen(world, `the answer ${String(wanted)}`, ({ parentId, text, card }) => parentId === messageId && wanted.test(text) && card?.streaming !== true);

async function turnsOf(client: PlainClient): Promise<Turn[]> {
  const { data } = await client.wire.request<{ data: { id: string }[] }>("thread/list", { limit: 50, sortKey: "created_at" });
  const pages = await Promise.all(data.map(({ id }) => client.wire.request<{ data: Turn[] }>("thread/turns/list", { threadId: id, limit: 50, itemsView: "full" })));
  return pages.flatMap((page) => page.data);
}
const prompts = (turns: readonly Turn[]): string[] => turns.flatMap(({ items }) => items.flatMap((item) => (item.type === "userMessage" ? item.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [])));

describe.concurrent("chats, topics and people", () => {
  test("each topic is a session of its own, answered in the topic", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/plain" });
    const { fake, ada } = world;
    const { chatId } = fake.addChat({ mode: "topic", name: "topics", people: [ada] });
    const [one, two] = ["topic one", "topic two"].map((text) => fake.say({ chatId, from: ada, text, mention: true }));
    const cards = await Promise.all([one!, two!].map(({ messageId }) => answers(world, messageId, /All is well/)));
    expect(cards.map(({ threadId }) => threadId)).toEqual([one!, two!].map(({ messageId }) => fake.message({ messageId }).threadId));
    const status = await Promise.all(cards.map(async ({ messageId }) => answers(world, fake.say({ chatId, from: ada, text: "/status", mention: true, replyTo: messageId }).messageId, /Thread: /)));
    expect(new Set(status.map(({ text }) => /Thread: (.*)/.exec(text)?.[1])).size).toBe(2);
  });

  test("a reply to an old card goes on with that card's thread", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/plain" });
    const first = await answers(world, world.say("the first of the old thread").messageId, /All is well/);
    await answers(world, world.say("/new").messageId, /new thread/);
    await answers(world, world.say("the first of the new thread").messageId, /All is well/);
    const { messageId } = world.fake.say({ chatId: world.chatId, from: world.ada, text: "the second of the old thread", mention: true, replyTo: first.messageId });
    await answers(world, messageId, /All is well/);
    await using client = await PlainClient.connect(server.url);
    const threads = await client.wire.request<{ data: { id: string; preview: string }[] }>("thread/list", { limit: 50 });
    const old = threads.data.find(({ preview }) => preview === "the first of the old thread");
    const { data } = await client.wire.request<{ data: Turn[] }>("thread/turns/list", { threadId: old!.id, limit: 10, sortDirection: "asc", itemsView: "full" });
    expect(prompts(data)).toEqual(["the first of the old thread", "the second of the old thread"]);
  });

  test("an event that comes twice is one turn, a message from long ago is answered and not carried out", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/plain" });
    world.fake.planFaults({ faults: [{ id: "twice", on: { event: "im.message.receive_v1", nth: 1 }, fault: { kind: "duplicateEvent", afterMs: 100 } }] });
    await answers(world, world.say("only once").messageId, /All is well/);
    const { messageId } = world.fake.say({ chatId: world.chatId, from: world.ada, text: "from long ago", mention: true, createTimeMs: world.fake.now() - 31 * 60_000 });
    await answers(world, messageId, /too old/);
    expect(world.fake.firedFaults()).toHaveLength(1);
    await using client = await PlainClient.connect(server.url);
    const all = prompts(await turnsOf(client));
    expect(all.filter((text) => text === "only once")).toHaveLength(1);
    expect(all).not.toContain("from long ago");
    expect(world.said()).toHaveLength(2);
  });

  test("an image and a file become input", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/plain" });
    const { fake, ada } = world;
    const { chatId } = fake.addChat({ mode: "p2p", name: "bot", people: [ada] });
    const image = fake.attach({ chatId, from: ada, kind: "image", name: "dot.png", base64: Buffer.from("a picture").toString("base64") });
    await answers(world, image.messageId, /All is well/);
    const file = fake.attach({ chatId, from: ada, kind: "file", name: "notes.txt", base64: Buffer.from("some notes").toString("base64") });
    await answers(world, file.messageId, /All is well/);
    await using client = await PlainClient.connect(server.url);
    const parts = (await turnsOf(client)).flatMap(({ items }) => items.flatMap((item) => (item.type === "userMessage" && item.clientId !== null && [image, file].some(({ messageId }) => item.clientId === `feishu:${messageId}`) ? item.content : [])));
    const paths = parts.map((part) => ("path" in part ? part.path : /(\/\S+notes\.txt)/.exec(part.type === "text" ? part.text : "")?.[1] ?? ""));
    expect(paths.map((path) => readFileSync(path, "utf8")).sort()).toEqual(["a picture", "some notes"]);
  });

  test("the first who writes owns a bot that nobody was named for", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/plain", allowUsers: [], allowChats: [], claim: true });
    const { fake, ada, ben } = world;
    const [first, second] = [ada, ben].map((person) => fake.addChat({ mode: "p2p", name: "bot", people: [person] }).chatId);
    const { messageId } = fake.say({ chatId: first!, from: ada, text: "/status" });
    await answers(world, messageId, /owner of this bot/);
    // Two answers to one message are two.
    await answers(world, messageId, /no thread here yet/);
    await answers(world, fake.say({ chatId: first!, from: ada, text: "hello" }).messageId, /All is well/);
    await answers(world, fake.say({ chatId: second!, from: ben, text: "hello" }).messageId, /may not use/);
  });
});

describe.concurrent("what waits for an answer", () => {
  const keyOf = (asked: Message): string => /"interaction_id":"([^"]+)"/.exec(JSON.stringify(asked.card?.card))![1]!;
  const approval = (world: FeishuWorld): Promise<Message> => seen(world, "the approval", ({ text }) => text.includes("Approve") && text.includes("Deny"));

  test("is answered by a typed line, too, behind the same gate; other things go on meanwhile", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/approval" });
    const prompt = world.say("clean up");
    const asked = await approval(world);
    await answers(world, world.say("/status").messageId, /Running/);
    await answers(world, world.say(`/_interaction ${keyOf(asked)} approve`, world.ben).messageId, /may not answer/);
    await answers(world, world.say("/_interaction none approve").messageId, /no longer valid/);
    await answers(world, world.say(`/_interaction ${keyOf(asked)} approve`).messageId, /Done/);
    await answers(world, prompt.messageId, /Cleaned/);
    await seen(world, "the settled card", ({ messageId, text }) => messageId === asked.messageId && text.includes("Approved") && text.includes("Ada"));
    await answers(world, world.say(`/_interaction ${keyOf(asked)} approve`).messageId, /answered already/);
  });

  test("is asked in the reader's language, and answered in it", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/approval", locale: "zh" });
    const prompt = world.say("清理一下");
    const asked = await seen(world, "the approval", ({ text }) => text.includes("批准"));
    expect(asked.text).toContain("命令: rm -r build");
    expect(asked.text).not.toMatch(/Approve|Command/);
    expect(await world.fake.click({ messageId: asked.messageId, by: world.ben, text: "批准" })).toMatchObject({ toast: { type: "error", content: "你没有权限处理这个请求" } });
    expect(await world.fake.click({ messageId: asked.messageId, by: world.ada, text: "批准" })).toMatchObject({ toast: { type: "success" } });
    await answers(world, prompt.messageId, /Cleaned\.[^]*已完成/);
    await answers(world, world.say("/status").messageId, /会话：清理一下\n模型：scripted\/approval[^]*空闲/);
  });

  test("comes as text where Feishu takes no card, with the line that answers it", async () => {
    await using world = await startFeishu(server.url, { defaultModel: "scripted/approval" });
    // One of the first two replies is the turn's own card.
    world.fake.planFaults({ faults: [1, 2].map((nth) => ({ id: `no card ${nth}`, on: { api: "message.reply", nth }, fault: { kind: "refuse", code: 200220, msg: "card content failed" } })) });
    const prompt = world.say("clean up");
    const asked = await seen(world, "the text", ({ type, text }) => type === "text" && text.includes("rm -r build"));
    const [line] = /\/_interaction \S+ approve/.exec(asked.text)!;
    await answers(world, world.say(line).messageId, /Done/);
    await answers(world, prompt.messageId, /Cleaned/);
    expect(world.fake.firedFaults()).toHaveLength(2);
  });

  test("expires on its card, and a press after that is harmless", async () => {
    // Long enough for the card to be seen before.
    await using impatient = await startServer({ scenarios: SCENARIOS, args: ["--interaction-expiry-ms", "6000"] });
    await using world = await startFeishu(impatient.url, { defaultModel: "scripted/approval" });
    const prompt = world.say("clean up");
    const asked = await approval(world);
    const expired = await seen(world, "the expired card", ({ messageId, text }) => messageId === asked.messageId && text.includes("Expired"));
    expect(expired.text).not.toContain("Approve\n");
    const press = { messageId: asked.messageId, by: world.ada, value: { interaction_id: keyOf(asked), action_id: "approve", action_value: "approve" } };
    for (let twice = 0; twice < 2; twice += 1) expect(await world.fake.click(press)).toMatchObject({ outcome: "answered", toast: { type: "info", content: "It was answered already" } });
    await answers(world, prompt.messageId, /Cleaned|Done/);
    expect(world.fake.message({ messageId: asked.messageId }).text).toContain("Expired");
  });
});

test.concurrent("buttons of a list are commands: a thread is resumed by one, a model chosen", async () => {
  // Lists have the newest threads: here those of no other test.
  await using own = await startServer({ scenarios: SCENARIOS, speed: 1 });
  await using world = await startFeishu(own.url, { defaultModel: "scripted/plain" });
  await answers(world, world.say("a thread to come back to").messageId, /All is well/);
  const before = await answers(world, world.say("/status").messageId, /Thread: /);
  await answers(world, world.say("/new").messageId, /new thread/);
  const list = await answers(world, world.say("/threads").messageId, /a thread to come back to/);
  const label = /\d+\. a thread to come back to/.exec(list.text)![0];
  expect(await world.fake.click({ messageId: list.messageId, by: world.ada, text: label })).toMatchObject({ toast: { content: expect.stringContaining("a thread to come back to") } });
  expect((await answers(world, world.say("/status").messageId, /Thread: /)).text).toBe(before.text);
  expect(world.fake.broken()).toEqual([]);
});

test.concurrent("a button that stands in a topic is pressed for that topic, and what it says at length comes there", async () => {
  await using world = await startFeishu(server.url, { defaultModel: "scripted/plain" });
  const { fake, ada } = world;
  const { chatId } = fake.addChat({ mode: "topic", name: "topics", people: [ada] });
  const topic = fake.say({ chatId, from: ada, text: "in the topic", mention: true });
  const card = await answers(world, topic.messageId, /All is well/);
  const inTopic = (text: string): string => fake.say({ chatId, from: ada, text, mention: true, replyTo: card.messageId }).messageId;
  const help = await answers(world, inTopic("/help"), /\/rename NAME/);
  await fake.click({ messageId: help.messageId, by: ada, text: "Status" });
  const status = await answers(world, help.messageId, /Thread: in the topic/);
  expect(status.threadId).toBe(card.threadId);
  await fake.click({ messageId: help.messageId, by: ada, text: "Status" });
  await until("the second answer", () => (anywhere(world).filter(({ parentId }) => parentId === help.messageId).length === 2 ? true : undefined), patient);
  expect(await fake.click({ messageId: help.messageId, by: ada, text: "New thread" })).toMatchObject({ toast: { content: expect.stringContaining("new thread") } });
  await answers(world, inTopic("/status"), /no thread here yet/);
  expect(fake.broken()).toEqual([]);
});

test.concurrent("who is in by the group alone sees threads of its folders only", async () => {
  await using own = await startServer({ scenarios: SCENARIOS, speed: 1 });
  await using client = await PlainClient.connect(own.url);
  const { thread } = await client.wire.request<{ thread: { id: string } }>("thread/start", { cwd: "/elsewhere", model: "scripted/plain" });
  await client.wire.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "a thread of elsewhere", text_elements: [] }] });
  await using world = await startFeishu(own.url, { defaultModel: "scripted/plain" });
  await answers(world, world.say("a thread of here", world.ben).messageId, /All is well/);
  expect((await answers(world, world.say("/threads", world.ben).messageId, /a thread of here/)).text).not.toContain("elsewhere");
  await answers(world, world.say(`/threads ${thread.id}`, world.ben).messageId, /no such thread/i);
  await answers(world, world.say("/threads").messageId, /a thread of elsewhere/);
  await answers(world, world.say(`/threads ${thread.id}`).messageId, /a thread of elsewhere/);
});

test.concurrent("only the models that are named are used", async () => {
  await using world = await startFeishu(server.url, { models: ["scripted/plain"] });
  await answers(world, world.say("with the first of them").messageId, /All is well/);
  expect((await answers(world, world.say("/model").messageId, /plain/i)).text).not.toMatch(/approval/i);
  await answers(world, world.say("/model scripted/approval").messageId, /no model/);
});

test.concurrent("a message during a turn is added to it, and has no card of its own", async () => {
  await using world = await startFeishu(server.url, { defaultModel: "scripted/slow" });
  world.say("go");
  await seen(world, "the card", ({ text }) => text.includes("Beginning."));
  world.say("and one thing more");
  await seen(world, "the added message", ({ text }) => text.includes("Added message") && text.includes("and one thing more"));
  await answers(world, world.say("/stop").messageId, /Interrupting/);
  await seen(world, "the end", ({ text, card }) => text.includes("Interrupted") && card?.streaming === false);
  expect(world.said().filter(({ type }) => type === "interactive")).toHaveLength(1);
});

test.concurrent("a turn whose thread is no more does not look as if it were running", async () => {
  await using world = await startFeishu(server.url, { defaultModel: "scripted/slow" });
  world.say("go");
  await seen(world, "the card", ({ text }) => text.includes("Beginning."));
  await using other = await startServer({ scenarios: SCENARIOS });
  await world.restart(other.url);
  const gone = await seen(world, "its end", ({ text, card }) => text.includes("Interrupted") && card?.streaming === false);
  expect(gone.text).not.toContain("Running");
});
