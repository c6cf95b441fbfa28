import { afterEach, describe, expect, it } from "vitest";
import type { Outcome } from "../platform/index.ts";
import { startPortOnFake, until, valueOf, type PortOnFake } from "../platform/testing.ts";
import { planFaults, remoteFake, type FakeOptions, type PlannedFault } from "./index.ts";

let world: PortOnFake | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const hour = 3_600_000;
const minute = 60_000;
const card = (text: string, config: object = {}) => ({ schema: "2.0" as const, config, body: { elements: [{ tag: "markdown", element_id: "answer", content: text }, { tag: "button", element_id: "stop", text: { tag: "plain_text", content: "Stop" }, behaviors: [{ type: "callback", value: { stop: 1 } }] }] } });
const code = (outcome: Outcome<unknown>): number | null | string => (outcome.kind === "refused" ? outcome.refusal.code : outcome.kind);

async function sentCard(config: object = {}, fakeOptions: FakeOptions = {}): Promise<PortOnFake & { readonly cardId: string; readonly messageId: string }> {
  world = await startPortOnFake({ fake: fakeOptions });
  const { cardId } = valueOf(await world.port.createCard(card("…", config)));
  const { messageId } = valueOf(await world.port.sendMessage({ to: { chatId: world.chatId }, body: { type: "cardEntity", cardId } }));
  return { ...world, cardId, messageId };
}

describe("a card entity", () => {
  it("closes streaming by itself ten minutes after it was last opened", async () => {
    const { port, fake, cardId, messageId } = await sentCard({ streaming_mode: true });
    const write = (sequence: number) => port.updateElementContent({ cardId, sequence, elementId: "answer", content: `text ${sequence}` });
    fake.advance({ ms: 9 * minute });
    valueOf(await write(1));
    expect(fake.message({ messageId }).card?.streaming).toBe(true);
    fake.advance({ ms: 2 * minute });
    expect([code(await write(2)), code(await write(3))]).toEqual([200850, 300309]);
    valueOf(await port.setCardSettings({ cardId, sequence: 4, streaming: true }));
    valueOf(await write(5));
    fake.advance({ ms: 11 * minute });
    valueOf(await port.batchUpdate({ cardId, sequence: 6, actions: [{ action: "partial_update_element", params: { element_id: "answer", partial_element: { content: "by batch" } } }] }));
    expect(fake.message({ messageId })).toMatchObject({ text: expect.stringContaining("by batch"), card: { streaming: false } });
  });

  it("changes nothing when one action of a batch is refused, and keeps the sequence", async () => {
    const { port, fake, cardId, messageId } = await sentCard();
    const before = fake.message({ messageId }).card?.card;
    const outcome = await port.batchUpdate({ cardId, sequence: 5, actions: [{ action: "delete_elements", params: { element_ids: ["answer"] } }, { action: "partial_update_element", params: { element_id: "gone", partial_element: {} } }] });
    expect(code(outcome)).toBe(300313);
    expect(fake.message({ messageId }).card?.card).toEqual(before);
    valueOf(await port.batchUpdate({ cardId, sequence: 5, actions: [{ action: "update_element", params: { element_id: "answer", element: { tag: "markdown", content: "whole" } } }, { action: "add_elements", params: { type: "append", elements: [{ tag: "hr", element_id: "line" }] } }] }));
    expect(fake.message({ messageId }).card?.card).toMatchObject({ body: { elements: [{ element_id: "answer", content: "whole" }, { element_id: "stop" }, { element_id: "line" }] } });
    expect(code(await port.batchUpdate({ cardId, sequence: 6, actions: [{ action: "add_elements", params: { type: "insert_after", target_element_id: "answer", elements: [{ tag: "hr", element_id: "line" }] } }] }))).toBe(300301);
  });

  it("knows a uuid again, is sent once, and dies after 14 days", async () => {
    const { port, fake, cardId, chatId } = await sentCard();
    valueOf(await port.updateCard({ cardId, sequence: 1, uuid: "u", card: card("one") }));
    expect(await port.updateCard({ cardId, sequence: 2, uuid: "u", card: card("two") })).toMatchObject({ refusal: { kind: "alreadyApplied" } });
    expect(await port.sendMessage({ to: { chatId }, body: { type: "cardEntity", cardId } })).toMatchObject({ refusal: { code: 230099, subCode: 200740 } });
    fake.advance({ ms: 15 * 24 * hour });
    expect(await port.updateCard({ cardId, sequence: 3, card: card("three") })).toMatchObject({ refusal: { kind: "gone", code: 200750 } });
  });

  it("is busy while a click waits, and ignores a card in the answer while it streams", async () => {
    const { port, fake, person, cardId, messageId } = await sentCard({ streaming_mode: true });
    const during: (number | null | string)[] = [];
    await port.start(async (event) => {
      if (event.type !== "cardAction") return;
      during.push(code(await port.updateCard({ cardId, sequence: 1, card: card("too early") })));
      await event.respond({ card: card("from the answer") });
      during.push(code(await port.updateCard({ cardId, sequence: 2, card: card("after the answer") })));
    });
    await until(() => port.connection().state === "connected");
    expect(await fake.click({ messageId, by: person, text: "Stop" })).toMatchObject({ outcome: "answered", cardReplaced: false });
    await until(() => during.length === 2);
    expect(during).toEqual([200810, "ok"]);
    expect(fake.message({ messageId }).text).toContain("after the answer");
  });
});

describe("a click", () => {
  it("fails for the person when nobody is there, nothing is pressed or the answer comes too late", async () => {
    const { port, fake, person, messageId } = await sentCard({}, { answerMs: 100 });
    expect(await fake.click({ messageId, by: person, elementId: "stop" })).toMatchObject({ outcome: "error", code: 200340 });
    await port.start(() => new Promise(() => undefined));
    await until(() => port.connection().state === "connected");
    expect(await fake.click({ messageId, by: person, elementId: "nothing" })).toMatchObject({ outcome: "notPressed" });
    expect(await fake.click({ messageId, by: person, elementId: "stop" })).toMatchObject({ outcome: "error", code: 200341 });
    expect(fake.broken().map(({ rule }) => rule)).toEqual(["click.late"]);
    const jumped = fake.click({ messageId, by: person, elementId: "stop" });
    fake.advance({ ms: hour });
    fake.silenceSockets();
    expect([await jumped, await fake.click({ messageId, by: person, elementId: "stop" })]).toMatchObject([{ code: 200341 }, { code: 200341 }]);
    expect(fake.broken()).toHaveLength(1);
  });
});

describe("messages", () => {
  it("with the same uuid are one message for an hour", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId } = world;
    const send = async (text: string) => valueOf(await port.sendMessage({ to: { chatId }, body: { type: "text", text }, uuid: "once" })).messageId;
    const first = await send("one");
    fake.advance({ ms: hour - minute });
    expect(await send("two")).toBe(first);
    fake.advance({ ms: 2 * minute });
    expect(await send("three")).not.toBe(first);
    expect(fake.chat({ chatId }).messages.map(({ text }) => text)).toEqual(["one", "three"]);
  });

  it("are listed in pages, newest first, and of a topic only the first one in the chat", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId, person } = world;
    for (let index = 0; index < 60; index += 1) {
      fake.say({ chatId, from: person, text: `m${index}` });
      fake.advance({ ms: 1_000 });
    }
    const { messageId } = fake.say({ chatId, from: person, text: "start" });
    const reply = valueOf(await port.replyMessage({ messageId, body: { type: "post", title: "T", paragraphs: [[{ tag: "text", text: "in the topic" }]] }, inThread: true }));
    const first = valueOf(await port.listMessages({ in: { chatId }, order: "newestFirst" }));
    expect([first.messages.length, JSON.parse(first.messages[0]!.content)]).toEqual([50, { text: "start" }]);
    const rest = valueOf(await port.listMessages({ in: { chatId }, order: "newestFirst", pageToken: first.nextPageToken! }));
    expect([rest.messages.length, rest.nextPageToken]).toEqual([11, null]);
    const topic = valueOf(await port.listMessages({ in: { threadId: reply.threadId! }, order: "oldestFirst" }));
    expect(topic.messages.map((message) => message.messageId)).toEqual([messageId, reply.messageId]);
    expect(fake.message({ messageId: reply.messageId })).toMatchObject({ text: "T\nin the topic", rootId: messageId, parentId: messageId });
    const since = valueOf(await port.listMessages({ in: { chatId }, order: "oldestFirst", fromMs: fake.now() - 2_000 }));
    expect(since.messages.length).toBeLessThan(5);
  });

  it("are refused where the bot may not write, and gone when they were taken back", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId, person } = world;
    const elsewhere = fake.addChat({ people: [person], withoutBot: true }).chatId;
    const flat = fake.addChat({ people: [person], threads: false }).chatId;
    const say = (to: string) => port.sendMessage({ to: { chatId: to }, body: { type: "text", text: "hello a@example.com" } });
    expect(await say(elsewhere)).toMatchObject({ refusal: { kind: "forbidden", code: 230002 } });
    fake.setRules({ audit: true });
    expect(await say(chatId)).toMatchObject({ refusal: { kind: "audit" } });
    fake.setRules({ audit: false });
    const { messageId } = valueOf(await say(chatId));
    expect(await port.replyMessage({ messageId: valueOf(await say(flat)).messageId, body: { type: "text", text: "x" }, inThread: true })).toMatchObject({ refusal: { kind: "noThread" } });
    valueOf(await port.recallMessage(messageId));
    expect(await port.recallMessage(messageId)).toMatchObject({ refusal: { kind: "gone", code: 230011 } });
    expect(valueOf(await port.getMessage(messageId))).toMatchObject({ deleted: true, content: "This message was recalled" });
    fake.disband({ chatId });
    expect(await say(chatId)).toMatchObject({ refusal: { kind: "gone", code: 232009 } });
  });

  it("carry files and images both ways", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId, person } = world;
    const bytes = new Uint8Array([0, 1, 2, 253, 254, 255, 10, 13]);
    const { fileKey } = valueOf(await port.uploadFile({ name: "答案.md", bytes }));
    const { messageId } = valueOf(await port.sendMessage({ to: { chatId }, body: { type: "file", fileKey } }));
    expect(valueOf(await port.downloadResource({ messageId, key: fileKey, kind: "file", maxBytes: 100 }))).toMatchObject({ bytes, fileName: "答案.md" });
    const { imageKey } = valueOf(await port.uploadImage(bytes));
    valueOf(await port.sendMessage({ to: { chatId }, body: { type: "image", imageKey } }));
    const photo = fake.attach({ chatId, from: person, kind: "image", name: "p.png", base64: Buffer.from(bytes).toString("base64") });
    expect(valueOf(await port.downloadResource({ messageId: photo.messageId, key: photo.key, kind: "image", maxBytes: 100 })).bytes).toEqual(bytes);
    expect(await port.downloadResource({ messageId: photo.messageId, key: photo.key, kind: "image", maxBytes: 4 })).toMatchObject({ refusal: { kind: "tooLarge" } });
    expect(await port.downloadResource({ messageId: photo.messageId, key: "img_other", kind: "image", maxBytes: 4 })).toMatchObject({ refusal: { code: 234003 } });
  });
});

describe("chats and people", () => {
  it("are told to the app: members, names, the bot itself, a new group and its end", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId, person, events } = world;
    await port.start((event) => void events.push(event));
    await until(() => port.connection().state === "connected");
    expect(valueOf(await port.botInfo())).toEqual({ openId: fake.app.botOpenId, name: fake.app.botName });
    expect(valueOf(await port.userInfo(person))).toEqual({ openId: person, name: "Ada", locale: null });
    expect(valueOf(await port.chatInfo(chatId))).toMatchObject({ chatId, name: "team", mode: "group", threadForm: false, ownerOpenId: person, userCount: 1 });
    const crowd = fake.addChat({ people: Array.from({ length: 130 }, (_, index) => fake.addPerson({ name: `p${index}` }).openId) }).chatId;
    expect(valueOf(await port.chatMembers(crowd))).toHaveLength(130);
    expect(valueOf(await port.chatMembers(crowd, { limit: 7 }))).toHaveLength(7);
    const made = valueOf(await port.createChat({ name: "smoke", openIds: [person] }));
    fake.setBotIn({ chatId: made.chatId, by: person, inside: true });
    fake.takeBack({ messageId: fake.say({ chatId, from: person, text: "oops" }).messageId });
    fake.read({ by: person, messageIds: ["om_1"] });
    await until(() => events.length === 4, "four events");
    expect(events.map(({ type }) => type)).toEqual(["botAdded", "message", "messageRecalled", "messageRead"]);
    valueOf(await port.deleteChat(made.chatId));
    expect(await port.chatInfo(made.chatId)).toMatchObject({ refusal: { kind: "gone" } });
    const direct = valueOf(await port.sendMessage({ to: { openId: person }, body: { type: "text", text: "psst" } }));
    expect(fake.chat({ chatId: direct.chatId })).toMatchObject({ mode: "p2p", people: [{ openId: person }] });
  });
});

describe("frequencies", () => {
  it("refuse what comes too fast and note it as the client's fault", async () => {
    const second = { count: 1_000, windowMs: 1 };
    world = await startPortOnFake({ config: { limits: { apiSecond: second, apiMinute: second, chat: second, message: second, card: second } } });
    const { port, fake, chatId } = world;
    const outcomes = await Promise.all(Array.from({ length: 7 }, (_, index) => port.sendMessage({ to: { chatId }, body: { type: "text", text: `${index}` } })));
    expect(outcomes.filter((outcome) => code(outcome) === 230020)).toHaveLength(2);
    expect(fake.broken().map(({ rule }) => rule)).toEqual(["rate.chat", "rate.chat"]);
  });

  it("are kept by the port on its own", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId } = world;
    for (const outcome of await Promise.all(Array.from({ length: 7 }, (_, index) => port.sendMessage({ to: { chatId }, body: { type: "text", text: `${index}` } })))) valueOf(outcome);
    expect(fake.broken()).toEqual([]);
  });
});

describe("faults", () => {
  const kinds = ["lostEvent", "duplicateEvent", "lateEvent"] as const;

  it("on events: pushed late, twice, or first at the first repetition", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId, person, events } = world;
    await port.start((event) => void events.push(event));
    await until(() => port.connection().state === "connected");
    const faults: PlannedFault[] = kinds.map((kind, index) => ({ id: kind, on: { event: "im.message.receive_v1", nth: index + 1 }, fault: kind === "lostEvent" ? { kind } : kind === "lateEvent" ? { kind, delayMs: 20 } : { kind, afterMs: 5 } }));
    fake.planFaults({ faults });
    for (const text of ["lost", "twice", "late"]) fake.say({ chatId, from: person, text });
    await until(() => events.length === 3, "three events");
    expect(events.map((event) => (event.type === "message" ? event.content : ""))).toEqual(["twice", "twice", "late"].map((text) => JSON.stringify({ text })));
    await until(() => fake.deliveries().slice(1).every(({ acknowledged }) => acknowledged), "the acknowledgements");
    fake.advance({ ms: 15_001 });
    await until(() => events.length === 4, "the lost one");
    expect([fake.firedFaults().map(({ id }) => id), fake.pendingFaults()]).toEqual([kinds, []]);
  });

  it("leave the effect in place when only the answer was lost, so that a repeat with the same uuid finds it", async () => {
    world = await startPortOnFake();
    const { port, fake, chatId } = world;
    fake.planFaults({ faults: [{ id: "a", on: { api: "message.create", nth: 1 }, fault: { kind: "lostAnswer" } }, { id: "b", on: { api: "*", nth: 3 }, fault: { kind: "clockJump", ms: 2 * hour } }] });
    const send = () => port.sendMessage({ to: { chatId }, body: { type: "text", text: "one" }, uuid: "u" });
    expect((await send()).kind).toBe("uncertain");
    valueOf(await send());
    expect(fake.chat({ chatId }).messages).toHaveLength(1);
    expect(fake.calls().map(({ api, code: answered, fault }) => [api, answered, fault])).toEqual([["token", 0, null], ["message.create", null, "lostAnswer"], ["message.create", 0, null]]);
    expect(fake.firedFaults().map(({ id }) => id)).toEqual(["a", "b"]);
    expect(fake.now()).toBeGreaterThan(Date.now() + hour);
  });

  it("are the same for the same seed, and placed where they will fire", () => {
    const options = { count: 60, calls: { "card.update": 20, "message.create": 5 }, events: { "im.message.receive_v1": 4 } };
    const faults = planFaults(7, options);
    expect(planFaults(7, options)).toEqual(faults);
    expect(planFaults(8, options)).not.toEqual(faults);
    for (const { on } of faults) expect("api" in on ? on.nth <= (on.api === "card.update" ? 20 : 5) : on.nth <= 4).toBe(true);
    const places = faults.filter(({ fault }) => !["closeSocket", "silentSocket", "clockJump"].includes(fault.kind)).map(({ on }) => JSON.stringify(on));
    expect(new Set(places).size).toBe(places.length);
    expect(new Set(faults.map(({ fault }) => fault.kind)).size).toBeGreaterThan(8);
  });
});

describe("control from another process", () => {
  it("has the same methods over HTTP, and is closed to pages of other origins", async () => {
    world = await startPortOnFake();
    const remote = remoteFake(world.fake.baseUrl);
    const { openId } = await remote.addPerson({ name: "Bo" });
    const { chatId } = await remote.addChat({ mode: "p2p", people: [openId] });
    await remote.say({ chatId, from: openId, text: "over HTTP" });
    expect((await remote.chat({ chatId })).messages.map(({ text }) => text)).toEqual(["over HTTP"]);
    await remote.planFaults({ faults: [{ id: "x", on: { api: "bot.get", nth: 1 }, fault: { kind: "cut" } }] });
    expect((await world.port.botInfo()).kind).toBe("uncertain");
    expect(await remote.firedFaults()).toMatchObject([{ id: "x", kind: "cut", on: "bot.get" }]);
    await expect(remote.chat({ chatId: "oc_none" })).rejects.toThrow("no chat oc_none");
    const foreign = await fetch(`${world.fake.baseUrl}/__fake/chats`, { method: "POST", headers: { origin: "http://evil.example" } });
    expect(foreign.status).toBe(403);
  });
});
