import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { InteractionRequest } from "@foldcast/protocol-core/harness";
import type { InteractionAnswerResult, InteractionPayload } from "@foldcast/protocol-core/interaction";
import type { UserInput } from "@foldcast/protocol-core/wire";
import type { HostOptions } from "../host.ts";
import { createLogger } from "../log/pino-logger.ts";
import { MemoryThreadStore } from "../store/memory.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { fakeEntry } from "../testing/fake-adapter.ts";
import type { FakeAdapter, FakeSession } from "../testing/fake-adapter.ts";

const text = (value: string): UserInput[] => [{ type: "text", text: value, text_elements: [] }];
const STARTER = { channel: "feishu", chatId: "oc_group", senderId: "ou_starter" };
const APPROVAL: InteractionRequest = { id: "ask", kind: "approval", about: "command", command: "ls", offers: ["accept", "decline"] };
const QUICK: InteractionRequest = { id: "next", kind: "quickReply", text: "Next?", replies: [{ label: "Go on", value: "go on" }] };
const extensions = (foldcast: object) => ({ capabilities: { extensions: { foldcast } } });
const CHANNEL = extensions({ interaction: true, detail: true, channel: { name: "feishu", approvers: ["ou_boss"] } });

let setup: TestHost;
let bot: TestClient;
let threadId: string;
afterEach(() => setup.host.close());

/** A thread that a channel started, whose harness asks what it is told to. */
async function start(requests: readonly InteractionRequest[], options: Partial<HostOptions> = {}): Promise<string> {
  setup = await startTestHost(options);
  bot = await connectStdio(setup.host).initialize({ name: "bot", ...CHANNEL });
  threadId = (await bot.call("thread/start", { cwd: "/w" })).thread.id;
  setup.adapter.script = (made, input, key) => {
    made.begin(key, input);
    for (const interaction of requests) made.emit({ type: "interaction.opened", at: made.now(), interaction });
    if (requests.every(({ kind }) => kind === "quickReply")) made.end({ status: "succeeded" });
  };
  return (await bot.call("turn/start", { threadId, input: text("go"), foldcast: { sender: STARTER } })).turn.id;
}
const session = (): FakeSession => setup.adapter.sessions[0]!;
const asked = (client = bot): Promise<string> => client.until("a request", () => client.frames.find((frame) => "method" in frame && "id" in frame)?.["id"] as string | undefined);
async function press(interactionId: string, more: object = {}, client = bot): Promise<InteractionAnswerResult> {
  return (await client.call("foldcast/interaction/answer", { interactionId, actionId: "approve", actionValue: "approve", timestamp: 1, metadata: {}, ...STARTER, ...more })) as unknown as InteractionAnswerResult;
}
const offered = (client = bot): Promise<InteractionPayload> =>
  client.until("an offer", () => (client.of("foldcast/interaction/opened").at(-1)?.params as unknown as { interaction: InteractionPayload } | undefined)?.interaction);

describe("a channel answers for its people", () => {
  test("by button and by text, whoever started the turn and approvers, nobody else", async () => {
    const turnId = await start([APPROVAL]);
    const id = await asked();
    expect((await press(id, { senderId: "ou_other" })).status).toBe("refused");
    const typed = (sender: object | null): Promise<unknown> =>
      bot.request("turn/steer", { threadId, expectedTurnId: turnId, input: text(`/_interaction ${id} approve`), ...(sender === null ? {} : { foldcast: { sender } }) });
    expect(await typed({ ...STARTER, senderId: "ou_other" })).toMatchObject({ error: { message: `You may not answer the interaction ${id}.` } });
    expect(await typed(null)).toMatchObject({ error: { message: `You may not answer the interaction ${id}.` } });
    expect(await bot.request("foldcast/interaction/answer", { interactionId: id, actionValue: "approve", ...STARTER, channel: "slack" })).toMatchObject({ error: { message: "this connection is of the channel `feishu`" } });
    expect(session().answers).toEqual([]);
    expect(await press(id, { senderId: "ou_boss", actionId: "deny", actionValue: "deny", metadata: { text: "not now" } })).toEqual({ status: "accepted", message: "Answered.", open: [], command: null });
    await bot.until("the answer", () => session().answers[0]);
    expect(session().answers).toEqual([{ id: "ask", answer: { kind: "approval", decision: "decline", text: "not now" } }]);
    expect((await press(id)).status).toBe("late");
    expect((await press("foldcast:nobody")).status).toBe("unknown");
  });

  test("after it was started anew: the buttons of before still work", async () => {
    await start([APPROVAL]);
    const id = await asked();
    bot.sendRaw("");
    const again = await connectStdio(setup.host).initialize({ name: "bot", ...CHANNEL });
    expect((await press(id, {}, again)).status).toBe("accepted");
    await again.call("thread/resume", { threadId });
  });

  test("and gets what is open under the same id when it joins", async () => {
    await start([APPROVAL]);
    const id = await asked();
    const again = await connectStdio(setup.host).initialize({ name: "bot", ...CHANNEL });
    await again.call("thread/resume", { threadId });
    expect(await asked(again)).toBe(id);
  });

  test("the operator's own clients answer as they always did", async () => {
    await start([APPROVAL]);
    const tui = await connectStdio(setup.host).initialize({ name: "tui" });
    await tui.call("thread/resume", { threadId });
    tui.sendRaw(JSON.stringify({ id: await asked(tui), result: { decision: "accept" } }));
    await tui.until("the answer", () => session().answers[0]);
    expect(session().answers).toHaveLength(1);
  });
});

test("words that a harness cannot take with its refusal go in as input, behind the answer", async () => {
  let adapter: FakeAdapter | undefined;
  await start([APPROVAL], { harnesses: [fakeEntry((made) => (adapter = made), "fake", { denyText: false })] }).catch(() => undefined);
  adapter!.script = (made, input, key) => {
    made.begin(key, input);
    made.emit({ type: "interaction.opened", at: made.now(), interaction: APPROVAL });
  };
  const turnId = (await bot.call("turn/start", { threadId, input: text("go"), foldcast: { sender: STARTER } })).turn.id;
  const id = await asked();
  const made = adapter!.sessions[0]!;
  await bot.call("turn/steer", { threadId, expectedTurnId: turnId, input: text(`/_interaction ${id} deny use the cache`), foldcast: { sender: STARTER } });
  await bot.until("the words", () => made.steered[0]);
  expect(made.answers).toEqual([{ id: "ask", answer: { kind: "approval", decision: "decline" } }]);
  expect(made.steered[0]!.input).toEqual(text("use the cache"));
});

describe("a quick reply", () => {
  test("becomes the next turn's input, with its sender and its origin marked, live and in history", async () => {
    await start([QUICK]);
    await bot.turnsCompleted(1);
    const { interactionId, kind, body } = await offered();
    expect([kind, body]).toEqual(["quickReply", "Next?"]);
    setup.adapter.script = (made, input, key) => {
      made.begin(key, input);
      made.message("m", "on it");
      made.end({ status: "succeeded" });
    };
    expect((await press(interactionId, { actionId: "reply-1", actionValue: "go on" })).status).toBe("accepted");
    await bot.turnsCompleted(2);
    const origin = { sender: STARTER, interactionId };
    const item = bot.of("item/completed").find(({ params }) => params.item.clientId === interactionId)!.params.item as unknown as Record<string, unknown>;
    expect(item).toMatchObject({ type: "userMessage", content: [{ text: "go on" }], foldcast: { origin } });
    const { thread } = await bot.call("thread/read", { threadId, includeTurns: true });
    expect(thread.turns.map(({ items }) => (items[0] as unknown as { foldcast?: unknown }).foldcast)).toEqual([{ origin: { sender: STARTER, interactionId: null } }, { origin }]);
    // Who is not a client of the extension sees Codex's own members only.
    const plain = await connectStdio(setup.host).initialize({ name: "plain" });
    expect(JSON.stringify((await plain.call("thread/read", { threadId, includeTurns: true })).thread)).not.toContain("origin\"");
    expect((await press(interactionId, { actionId: "reply-1", actionValue: "go on" })).status).toBe("late");
  });

  test("is told at once, before what a client's own queue has kept over an interrupt", async () => {
    await start([QUICK]);
    await bot.turnsCompleted(1);
    const told: (string | null)[] = [];
    setup.adapter.script = (made, input, key) => {
      told.push(input.clientId);
      made.begin(key, input);
      if (told.length > 1) made.end({ status: "succeeded" });
    };
    const { turn } = await bot.call("turn/start", { threadId, input: text("long"), foldcast: { sender: STARTER } });
    await bot.notice("turn/started", ({ params }) => params.turn.id === turn.id);
    const watcher = await connectStdio(setup.host).initialize({ name: "watcher" });
    await watcher.call("thread/queue/add", { threadId, input: text("later"), clientUserMessageId: "later" });
    await bot.call("turn/interrupt", { threadId, turnId: turn.id });
    await bot.turnsCompleted(2);
    const offer = await bot.call("foldcast/interaction/offer", { threadId, kind: "quickReply", body: "?", actions: [{ label: "Go", value: "go" }] });
    const { interactionId } = (offer as unknown as { interaction: InteractionPayload }).interaction;
    expect((await press(interactionId, { actionId: "action-1", actionValue: "go" })).status).toBe("accepted");
    await bot.turnsCompleted(4);
    expect(told.slice(1)).toEqual([interactionId, "later"]);
  });

  test("that is typed starts the turn that answers it; another prompt takes it away", async () => {
    await start([QUICK]);
    await bot.turnsCompleted(1);
    const { interactionId } = await offered();
    await bot.call("turn/start", { threadId, input: text(`/_interaction ${interactionId} 1`), foldcast: { sender: STARTER } });
    await bot.turnsCompleted(2);
    expect(setup.adapter.turns).toBe(2);
    const next = await bot.until("the next offer", () => (bot.of("foldcast/interaction/opened").length > 1 ? offered() : undefined));
    await bot.call("turn/start", { threadId, input: text("something else"), foldcast: { sender: STARTER } });
    await bot.turnsCompleted(3);
    expect((await press(next.interactionId, { actionId: "reply-1", actionValue: "go on" })).status).toBe("late");
  });
});

test("a channel puts up commands of its own; who chooses gets what to run", async () => {
  await start([QUICK]);
  await bot.turnsCompleted(1);
  const offer = await bot.call("foldcast/interaction/offer", { threadId, kind: "command", body: "Model?", actions: [{ label: "Demo", value: "/model demo" }] });
  const { interactionId } = (offer as unknown as { interaction: InteractionPayload }).interaction;
  expect(await press(interactionId, { actionId: "action-1", actionValue: "/model demo" })).toMatchObject({ status: "accepted", command: "/model demo" });
  expect(setup.adapter.turns).toBe(1);
  const empty = (await bot.call("thread/start", { cwd: "/w" })).thread.id;
  expect(await bot.request("foldcast/interaction/offer", { threadId: empty, kind: "quickReply", body: "?", actions: [{ label: "a", value: "a" }] })).toMatchObject({ error: { message: expect.stringContaining("has had a turn") } });
  expect(await bot.request("foldcast/interaction/offer", { threadId, kind: "command", body: "?", actions: [] })).toMatchObject({ error: { code: -32600 } });
});

test("nothing is put up on a thread that is closing: it would stay open for ever", async () => {
  await start([QUICK]);
  await bot.turnsCompleted(1);
  await setup.host.threads.loaded(threadId)!.close();
  expect(await bot.request("foldcast/interaction/offer", { threadId, kind: "command", body: "?", actions: [{ label: "a", value: "/a" }] })).toMatchObject({ error: { message: "the thread is closing" } });
  expect(setup.host.interactions.size).toBe(0);
});

test("a typed answer is not taken into the queue, where it would reach a model", async () => {
  await start([APPROVAL]);
  const id = await asked();
  expect(await bot.request("thread/queue/add", { threadId, input: text(`/_interaction ${id} approve`), clientUserMessageId: "c" })).toMatchObject({ error: { message: expect.stringContaining("cannot wait") } });
});

test("who started a queued turn is kept over a restart", async () => {
  const store = new MemoryThreadStore();
  await start([APPROVAL], { store });
  await asked();
  await bot.call("turn/start", { threadId, input: text("later"), foldcast: { sender: STARTER } });
  // The fake takes it into the running turn; what waits comes from the store.
  store.saveQueued(threadId, { id: "q", input: text("waits"), clientId: null, metadata: null, origin: { sender: STARTER, interactionId: null } });
  expect(store.queue(threadId)[0]?.origin).toEqual({ sender: STARTER, interactionId: null });
});

test("no log line holds tokens, people, chats or what was said", async () => {
  const folder = mkdtempSync(join(tmpdir(), "foldcast-log-"));
  const file = join(folder, "host.log");
  const log = createLogger({ level: "debug", file });
  const SECRETS = {
    token: "c-callback-token-1234567890", open: "ou_open_id_aaaaaaaa", union: "on_union_id_bbbbbbbb", user: "user_cccccccc", tenant: "tenant_dddddddd",
    chat: "oc_chat_id_eeeeeeee", message: "om_message_id_ffffffff", said: "the very words of a person",
  };
  const store = new MemoryThreadStore();
  await start([APPROVAL, QUICK], { log, store });
  const id = await asked();
  const metadata = { token: SECRETS.token, open_id: SECRETS.open, union_id: SECRETS.union, user_id: SECRETS.user, tenant_key: SECRETS.tenant, open_message_id: SECRETS.message, text: SECRETS.said };
  const more = { chatId: SECRETS.chat, senderId: SECRETS.open, metadata };
  // Refused, unknown, with a token for an id, invalid, accepted, late; and as Codex's own replies.
  await press(id, more);
  await press(SECRETS.token, more);
  await press(id, { actionValue: SECRETS.said, metadata });
  bot.sendRaw(JSON.stringify({ id, result: { decision: "accept", ...metadata } }));
  bot.sendRaw(JSON.stringify({ id: SECRETS.token, result: metadata }));
  bot.sendRaw(JSON.stringify({ id: SECRETS.message, error: { code: -1, message: SECRETS.said } }));
  await bot.request("turn/steer", { threadId, expectedTurnId: "x", input: text(`/_interaction ${SECRETS.token} ${SECRETS.said}`), foldcast: { sender: { ...STARTER, senderId: SECRETS.user } } });
  await bot.request("foldcast/interaction/answer", { interactionId: 5, ...more });
  session().answer = () => Promise.reject(new Error("the harness does not want it"));
  expect((await press(id, { actionId: "deny", actionValue: "deny", metadata })).status).toBe("accepted");
  await press(id, more);
  await setup.host.close();
  await log.flush();
  const lines = readFileSync(file, "utf8");
  rmSync(folder, { recursive: true });
  expect(lines).toContain('"status":"refused"');
  expect(lines).toContain('"senderId":"string(19)"');
  expect(lines).toContain("the harness refused");
  for (const [name, secret] of Object.entries(SECRETS)) expect(lines.includes(secret), name).toBe(false);
  for (const one of Object.values(STARTER).slice(1)) expect(lines).not.toContain(one);
});
