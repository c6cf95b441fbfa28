import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { userItem } from "../card/testing.ts";
import type { ReaderMessage } from "../fake/index.ts";
import { until } from "../platform/testing.ts";
import { type ChannelWorld, NEVER, startChannelWorld, threadOf, turnOf } from "./testing.ts";

const opened: ChannelWorld[] = [];
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close();
});

async function start(settings: Parameters<typeof startChannelWorld>[0] = {}): Promise<ChannelWorld> {
  const world = await startChannelWorld(settings);
  opened.push(world);
  return world;
}

/** The bot's answer to a message that somebody writes now. */
async function answerTo({ feishu: { fake }, said }: ChannelWorld, message: { readonly chatId: string; readonly from: string; readonly text: string; readonly mention?: boolean }): Promise<ReaderMessage> {
  const { messageId } = fake.say(message);
  const found = (): ReaderMessage | undefined => said().find(({ parentId }) => parentId === messageId);
  await until(() => found() !== undefined, `the answer to ${message.text}`);
  return found()!;
}

const approval = (turnId = "turn"): object => ({
  id: 7, method: "item/commandExecution/requestApproval",
  params: { kind: "command", threadId: "th", turnId, itemId: "c", command: "rm -r build", cwd: "/w", reason: null, startedAtMs: 0, availableDecisions: ["accept", "decline"] },
});
const isAsked = ({ text }: ReaderMessage): boolean => text.includes("rm -r build");
const keyOf = ({ card }: ReaderMessage): string => /"interaction_id":"([^"]+)"/.exec(JSON.stringify(card?.card))![1]!;

/** Ada's turn runs and waits for an approval. */
async function waiting(world: ChannelWorld): Promise<ReaderMessage> {
  const { server, said, feishu: { fake, chatId, person } } = world;
  const { messageId } = fake.say({ chatId, from: person, text: "clean up", mention: true });
  await until(() => said().some(({ parentId, type }) => parentId === messageId && type === "interactive"), "the turn's card");
  server.say(approval());
  await until(() => said().some(isAsked), "the approval");
  return said().find(isAsked)!;
}

describe("who owns a bot that nobody was named for", () => {
  it("owns it for good, however long the ledger keeps what it has seen", async () => {
    const world = await start({ allowChats: [], claim: true });
    const { fake, person } = world.feishu;
    const eve = fake.addPerson({ name: "Eve" }).openId;
    const [hers, eves] = [person, eve].map((one) => fake.addChat({ mode: "p2p", name: "bot", people: [one] }).chatId);
    expect((await answerTo(world, { chatId: hers!, from: person, text: "/status" })).text).toContain("owner of this bot");
    await world.restart({ before: () => void fake.advance({ ms: 15 * 24 * 3_600_000 }) });
    expect((await answerTo(world, { chatId: eves!, from: eve, text: "/status" })).text).toContain("may not use");
    expect((await answerTo(world, { chatId: hers!, from: person, text: "/status" })).text).toContain("no thread here yet");
  });
});

describe("a press", () => {
  it("counts each time where callbacks have no id, as those of the older form", async () => {
    const world = await start();
    const { fake, chatId, person } = world.feishu;
    const help = await answerTo(world, { chatId, from: person, text: "/help", mention: true });
    for (const label of ["New thread", "Stop"]) expect(await fake.click({ messageId: help.messageId, by: person, text: label, shape: "flat" }), label).toMatchObject({ toast: { type: "info" } });
  });

  it("of a value that its card does not have does nothing", async () => {
    const world = await start();
    const { fake, chatId, person } = world.feishu;
    const help = await answerTo(world, { chatId, from: person, text: "/help", mention: true });
    const press = (messageId: string, key: string, action_id: string, action_value: string): ReturnType<typeof fake.click> => fake.click({ messageId, by: person, value: { interaction_id: key, action_id, action_value } });
    expect(await press(help.messageId, keyOf(help), "c1", "/threads th-of-others")).toMatchObject({ toast: { type: "warning" } });
    expect(world.server.asked.map(({ method }) => method)).not.toContain("thread/list");
    const asked = await waiting(world);
    for (const [id, value] of [["always", "always"], ["approve", "always"], ["deny", "approve"]] as const) expect(await press(asked.messageId, keyOf(asked), id, value)).toMatchObject({ toast: { type: "warning" } });
    expect(world.server.answered).toEqual([]);
    expect(await press(asked.messageId, keyOf(asked), "approve", "approve")).toMatchObject({ toast: { type: "success" } });
    expect(world.server.answered).toEqual([{ id: 7, result: { decision: "accept" } }]);
  });

  it("of a person who was let in once and is no more does nothing", async () => {
    const world = await start({ allowChats: [], allowUsers: [] });
    const { fake, chatId, person } = world.feishu;
    await world.restart({ settings: { allowUsers: [person] } });
    const help = await answerTo(world, { chatId, from: person, text: "/help", mention: true });
    await world.restart();
    expect(await fake.click({ messageId: help.messageId, by: person, text: "New thread" })).toMatchObject({ toast: { content: "You may not answer this" } });
  });
});

describe("an approver", () => {
  it("may type the line that stands for a button, and nothing else where nobody let them in", async () => {
    const world = await start();
    const { fake, chatId } = world.feishu;
    const boss = fake.addPerson({ name: "Boss" }).openId;
    await world.restart({ settings: { allowUsers: [world.feishu.person], allowChats: [], approvers: [boss] } });
    const asked = await waiting(world);
    expect((await answerTo(world, { chatId, from: boss, text: "hello", mention: true })).text).toContain("may not use");
    expect((await answerTo(world, { chatId, from: boss, text: `/_interaction ${keyOf(asked)} deny`, mention: true })).text).toBe("Done");
    expect(world.server.answered).toEqual([{ id: 7, result: { decision: "decline" } }]);
  });
});

describe("what the server says in one piece with its answer", () => {
  it("is heard: a request that waits is shown, a turn that ends is over", async () => {
    const world = await start();
    const { server, said, feishu: { fake, chatId, person } } = world;
    const { messageId } = fake.say({ chatId, from: person, text: "clean up", mention: true });
    await until(() => said().some(({ parentId }) => parentId === messageId), "the turn's card");
    await world.restart({
      before: () => {
        const running = turnOf("turn", { items: [{ ...userItem("u", "clean up"), clientId: `feishu:${messageId}` } as never] });
        server.answers.set("thread/resume", () => ({ thread: threadOf("th", "/w", [running]), model: null }));
        server.behind.set("thread/resume", [approval(), { method: "turn/completed", params: { threadId: "th", turn: { ...running, status: "failed", error: { message: "out of luck", codexErrorInfo: null, additionalDetails: null } } } }]);
      },
    });
    await until(() => said().some(isAsked), "the approval");
    await until(() => said().some(({ text, card }) => text.includes("out of luck") && card?.streaming === false), "the end");
    expect(server.answered).toEqual([]);
  });
});

describe("a message that was being carried out when the process ended", () => {
  it("is not called too old where its turn was begun", async () => {
    const world = await start();
    const { server, said, feishu: { fake, chatId, person } } = world;
    let begun = "";
    server.answers.set("turn/start", ({ clientUserMessageId }) => {
      begun = String(clientUserMessageId);
      return NEVER;
    });
    const { messageId } = fake.say({ chatId, from: person, text: "clean up", mention: true });
    await until(() => begun !== "", "the request");
    await world.restart({
      before: () => {
        fake.advance({ ms: 3_600_000 });
        const ended = turnOf("turn", { status: "completed", items: [{ ...userItem("u", "clean up"), clientId: begun } as never, { type: "agentMessage", id: "a", text: "All is clean.", phase: "final_answer" } as never] });
        server.answers.set("thread/resume", () => ({ thread: threadOf("th", "/w", [ended]), model: null }));
      },
    });
    await until(() => said().some(({ text, card }) => text.includes("All is clean.") && card?.streaming === false), "the answer");
    const answer = await answerTo(world, { chatId, from: person, text: "/help", mention: true });
    expect(said().filter(({ parentId, messageId: id }) => parentId === messageId && id !== answer.messageId).map(({ text }) => text).join()).not.toContain("too old");
  });
});

it("keeps what it knows by app: another one on the same ledger takes up nothing of it", async () => {
  const world = await start();
  await waiting(world);
  const other = await startChannelWorld({}, { appId: "cli_00000000feed0002", documents: world.documents });
  opened.push(other);
  const { fake, chatId, person } = other.feishu;
  await answerTo(other, { chatId, from: person, text: "/status", mention: true });
  expect(other.server.asked.map(({ method }) => method)).toEqual(["initialize"]);
  expect(fake.calls().filter(({ api }) => api.startsWith("card."))).toEqual([]);
});

describe("a thread that is no more", () => {
  const gone = (): never => {
    throw new Error("thread not found: th");
  };

  async function away(world: ChannelWorld): Promise<void> {
    const { server } = world;
    server.answers.set("thread/resume", gone);
    server.answers.set("turn/start", ({ threadId }) => (threadId === "th" ? gone() : { turn: turnOf("turn2") }));
    server.answers.set("thread/start", () => ({ thread: threadOf("th2", "/w"), model: null }));
    server.cut();
    await until(() => server.asked.some(({ method }) => method === "thread/resume"), "a look at the thread");
  }

  it("after a new connection is left: the next message begins another one", async () => {
    const world = await start();
    const { server, said, feishu: { fake, chatId, person } } = world;
    const { messageId } = fake.say({ chatId, from: person, text: "hello", mention: true });
    await until(() => said().some(({ parentId }) => parentId === messageId), "the turn's card");
    server.say({ method: "turn/completed", params: { threadId: "th", turn: turnOf("turn", { status: "completed" }) } });
    await until(() => said().some(({ card }) => card?.streaming === false), "the answer");
    await away(world);
    fake.say({ chatId, from: person, text: "and again", mention: true });
    await until(() => server.asked.some(({ method, params }) => method === "turn/start" && params["threadId"] === "th2"), "a turn in another thread");
  });

  it("takes what ran and what was asked there with it", async () => {
    const world = await start({ idleMs: 20 });
    const { said, documents, feishu: { chatId, person, fake: { app } } } = world;
    await waiting(world);
    await away(world);
    await until(() => said().some(({ card, text }) => card?.streaming === false && !isAsked({ text } as ReaderMessage)), "the end of the turn's card");
    await until(() => said().some((message) => isAsked(message) && !JSON.stringify(message.card?.card).includes("interaction_id")), "the end of the question");
    await until(() => documents.table(`${app.appId}/turn`, z.object({ state: z.string() })).get("turn")?.state === "delivered", "the note of that");
    expect((await answerTo(world, { chatId, from: person, text: "/status", mention: true })).text).toContain("no thread here yet");
  });
});

describe("a chat with limits of its own", () => {
  const models = ["one/small", "one/large", "two/small"].map((model) => ({ model, displayName: model }));
  const asked = ({ server }: ChannelWorld, method: string): readonly unknown[] => server.asked.flatMap((one) => (one.method === method ? [one.params] : []));

  async function limited(): Promise<ChannelWorld & { readonly command: (text: string) => Promise<string> }> {
    const world = await start();
    const { server, feishu: { chatId, person } } = world;
    server.answers.set("model/list", () => ({ data: models }));
    server.answers.set("thread/list", () => ({ data: [threadOf("inside", "/team/x"), threadOf("outside", "/w")] }));
    // Named for the bot, who may resume any thread elsewhere.
    await world.restart({ settings: { allowUsers: [person], folders: ["/shared"], chats: { [chatId]: { folders: ["/team"], models: ["two"] } } } });
    return { ...world, command: async (text) => (await answerTo(world, { chatId, from: person, text, mention: true })).text };
  }

  it("begins threads in its folders with its models, and offers no others", async () => {
    const world = await limited();
    expect(await world.command("/cwd /shared")).toContain("Only these folders can be used here: /team");
    expect(await world.command("/cwd /team/x")).toContain("/team/x");
    expect(await world.command("/model")).not.toContain("one/");
    expect(await world.command("/model one/small")).toContain("no model");
    expect(await world.command("/threads")).not.toContain("outside");
    expect(await world.command("/threads outside")).toContain("no such thread");
    const { fake, chatId, person } = world.feishu;
    fake.say({ chatId, from: person, text: "hello", mention: true });
    await until(() => asked(world, "turn/start").length > 0, "the turn");
    expect(asked(world, "thread/start")).toEqual([{ cwd: "/team/x", model: "two/small" }]);
  });

  it("leaves a thread and a folder that it was given before", async () => {
    const world = await start();
    const { server, feishu: { fake, chatId, person } } = world;
    server.answers.set("model/list", () => ({ data: models }));
    const first = await answerTo(world, { chatId, from: person, text: "hello", mention: true });
    await answerTo(world, { chatId, from: person, text: "/cwd /w/sub", mention: true });
    await world.restart({ settings: { chats: { [chatId]: { cwd: "/team" } } } });
    expect((await answerTo(world, { chatId, from: person, text: "/cwd", mention: true })).text).toContain("/team");
    const { messageId } = fake.say({ chatId, from: person, text: "go on", mention: true, replyTo: first.messageId });
    await until(() => world.said().some(({ parentId, text }) => parentId === messageId && text.includes("not for this chat")), "the refusal");
    fake.say({ chatId, from: person, text: "begin", mention: true });
    await until(() => asked(world, "turn/start").length > 1, "the turn");
    expect(asked(world, "thread/start").at(-1)).toEqual({ cwd: "/team" });
  });
});

describe("a thread that was archived elsewhere", () => {
  const refuse = (): never => {
    throw new Error("session th is archived. Run `codex unarchive th` to unarchive it first.");
  };

  it.each(["the channel was away", "only the connection was"])("while its turn ran, when %s, gives its answer, and the next message begins another one", async (away) => {
    const world = await start();
    const { server, said, feishu: { fake, chatId, person } } = world;
    const { messageId } = fake.say({ chatId, from: person, text: "clean up", mention: true });
    await until(() => said().some(({ parentId }) => parentId === messageId), "the turn's card");
    const before = (): void => {
      server.answers.set("thread/resume", refuse);
      const ended = turnOf("turn", { status: "completed", items: [userItem("u", "clean up"), { type: "agentMessage", id: "a", text: "All is clean.", phase: "final_answer" } as never] });
      server.answers.set("thread/turns/list", () => ({ data: [ended] }));
    };
    if (away === "the channel was away") await world.restart({ before });
    else {
      before();
      server.cut();
    }
    await until(() => said().some(({ text, card }) => text.includes("All is clean.") && card?.streaming === false), "the answer");
    expect((await answerTo(world, { chatId, from: person, text: "/status", mention: true })).text).toContain("no thread here yet");
    server.answers.set("thread/start", () => ({ thread: threadOf("th2", "/w"), model: null }));
    fake.say({ chatId, from: person, text: "and again", mention: true });
    await until(() => server.asked.some(({ method, params }) => method === "turn/start" && params["threadId"] === "th2"), "a turn in another thread");
  });

  it("is left, and is there again when it was taken out", async () => {
    const world = await start();
    const { server, said, feishu: { fake, chatId, person } } = world;
    const { messageId } = fake.say({ chatId, from: person, text: "clean up", mention: true });
    await until(() => said().some(({ parentId }) => parentId === messageId), "the turn's card");
    server.say({ method: "turn/completed", params: { threadId: "th", turn: turnOf("turn", { status: "completed" }) } });
    server.say({ method: "thread/archived", params: { threadId: "th" } });
    server.answers.set("thread/resume", refuse);
    expect((await answerTo(world, { chatId, from: person, text: "/status", mention: true })).text).toContain("no thread here yet");
    server.answers.delete("thread/resume");
    server.say({ method: "thread/unarchived", params: { threadId: "th" } });
    expect((await answerTo(world, { chatId, from: person, text: "/status", mention: true })).text).not.toContain("no thread here yet");
  });
});

describe("the ledger of a channel that runs on and on", () => {
  it("forgets what is old while it runs", async () => {
    const world = await start({ idleMs: 20 });
    const { fake, chatId, person, fake: { app } } = world.feishu;
    await answerTo(world, { chatId, from: person, text: "/help", mention: true });
    const seen = world.documents.table(`${app.appId}/inbox`, z.unknown());
    expect(seen.all()).not.toEqual([]);
    fake.advance({ ms: 15 * 24 * 3_600_000 });
    await until(() => seen.all().length === 0, "an empty ledger");
  });

  it("keeps what still waits, and who people are", async () => {
    const world = await start({ idleMs: 20 });
    const { server, documents, feishu: { fake, person, fake: { app } } } = world;
    const asked = await waiting(world);
    const seen = documents.table(`${app.appId}/inbox`, z.unknown());
    fake.advance({ ms: 15 * 24 * 3_600_000 });
    await until(() => seen.all().length === 0, "an empty ledger");
    expect(documents.table(`${app.appId}/turn`, z.unknown()).get("turn")).not.toBeNull();
    expect(documents.table(`${app.appId}/person`, z.string()).all().map(([, openId]) => openId)).toContain(person);
    await fake.click({ messageId: asked.messageId, by: person, value: { interaction_id: keyOf(asked), action_id: "approve", action_value: "approve" } });
    await until(() => server.answered.some(({ id }) => id === 7), "the answer");
  });
});
