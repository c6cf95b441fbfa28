import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const approve = (kind: string, more: object = {}): object => ({ approve: { kind, reason: "Because.", ...more } });
const SCENARIOS = {
  kinds: {
    schema: 1,
    name: "kinds",
    turns: [{
      steps: [
        { tool: { id: "c", name: "shell", input: { command: "make all" } } }, approve("command", { id: "c" }), { result: { id: "c", output: "ok\n" } },
        { edit: { id: "one", path: "/w/one", before: null, after: "1\n" } },
        { edit: { id: "two", path: "/w/two", before: null, after: "2\n" } }, approve("fileChange", { id: "two" }),
        approve("permissions", { id: "p", offers: ["accept", "decline"] }),
        approve("permissions", { id: "named", offers: ["accept", "decline"], permissions: { network: true, write: ["/w/cache"] } }),
        { elicit: { id: "form", server: "issues", message: "A few things.", schema: { type: "object", properties: { title: { type: "string" }, copies: { type: "integer", minimum: 1 } }, required: ["title"] } } },
        { elicit: { id: "page", server: "issues", message: "Sign in.", url: "https://issues.example/" } },
        approve("tool", { id: "t", title: "Fetch a page", offers: ["accept", "decline"] }),
        { ask: { id: "q", questions: [{ id: "which", question: "Which?", options: [{ label: "left" }, { label: "right" }] }] } },
        { message: "Done." },
      ],
    }],
  },
  quick: { schema: 1, name: "quick", turns: [
    { steps: [{ message: "Ready." }, { suggest: { text: "What next?", replies: [{ label: "Go on", value: "go on please" }] } }] },
    { match: "go on please", steps: [{ message: "Going on." }] },
  ] },
  slow: { schema: 1, name: "slow", turns: [{ steps: [approve("command", { command: "ls" }), { message: "On." }, { delayMs: 600_000 }] }] },
};

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS, speed: 1 });
});
afterAll(() => server.stop());

test("every kind of request has its own shape, names the right item, and takes its own reply", async () => {
  await using first = await PlainClient.connect(server.url);
  await using second = await PlainClient.connect(server.url);
  const thread = await first.start({ model: "scripted/kinds", cwd: "/w" });
  const turnId = await first.submit(thread.id, "go");
  await second.join(thread.id);
  const replies: [string, (params: Record<string, unknown>) => object][] = [
    ["item/commandExecution/requestApproval", () => ({ decision: "accept" })],
    ["item/fileChange/requestApproval", () => ({ decision: "decline" })],
    ["item/permissions/requestApproval", ({ permissions }) => ({ permissions, scope: "turn" })],
    ["item/permissions/requestApproval", ({ permissions }) => ({ permissions, scope: "turn" })],
    ["mcpServer/elicitation/request", () => ({ action: "accept", content: { title: "Broken build", copies: 2 } })],
    ["mcpServer/elicitation/request", () => ({ action: "cancel", content: null })],
    ["item/tool/requestUserInput", () => ({ answers: { approval: { answers: ["Approve"] } } })],
    ["item/tool/requestUserInput", () => ({ answers: { which: { answers: ["right"] } } })],
  ];
  for (const [at, [method, reply]] of replies.entries()) {
    const request = await until(method, () => first.wire.requests[at], { everyMs: 2 });
    expect(request.method).toBe(method);
    const same = await until("the same on the other screen", () => second.wire.requests.find(({ id }) => id === request.id), { everyMs: 2 });
    expect(same).toEqual(request);
    if (at === 1) {
      const item = first.threads.get(thread.id)!.at(-1)!.items.find(({ id }) => id === request.params["itemId"]);
      expect(item).toMatchObject({ type: "fileChange", changes: [{ path: "/w/two" }] });
    }
    // Now the one, now the other.
    (at % 2 === 0 ? first : second).wire.respond(request.id, reply(request.params));
  }
  const turn = await first.ended(thread.id, turnId);
  expect(turn.status).toBe("completed");
  expect(turn.items.map((item) => ("status" in item ? item.status : item.type))).toEqual(["userMessage", "completed", "completed", "declined", "agentMessage"]);
  for (const client of [first, second]) {
    await client.ended(thread.id, turnId);
    const resolved = client.wire.notifications.filter(({ method }) => method === "serverRequest/resolved").map(({ params }) => params["requestId"]);
    expect(resolved).toEqual(first.wire.requests.map(({ id }) => id));
  }
});

describe("a channel", () => {
  const STARTER = { channel: "feishu", chatId: "oc_1", senderId: "ou_starter" };
  const connect = (url = server.url): Promise<PlainClient> => PlainClient.connect(url, { foldcast: { interaction: true, detail: true, channel: { name: "feishu", approvers: [] } } });
  const start = async (bot: PlainClient, model: string): Promise<{ threadId: string; turnId: string }> => {
    const { id: threadId } = await bot.start({ model, cwd: "/w" });
    const { turn } = await bot.wire.request<{ turn: { id: string } }>("turn/start", { threadId, input: [{ type: "text", text: "go", text_elements: [] }], foldcast: { sender: STARTER } });
    return { threadId, turnId: turn.id };
  };
  const answer = (bot: PlainClient, interactionId: unknown, more: object = {}): Promise<Record<string, unknown>> =>
    bot.wire.request("foldcast/interaction/answer", { interactionId, actionId: "approve", actionValue: "approve", timestamp: 1, metadata: {}, ...STARTER, ...more });

  test("answers for the person who started the turn, and for nobody else; all clients that asked hear who it was", async () => {
    await using bot = await connect();
    await using watcher = await PlainClient.connect(server.url, { foldcast: { interaction: true } });
    const { threadId, turnId } = await start(bot, "scripted/slow");
    await watcher.join(threadId);
    const request = await until("the request", () => bot.wire.requests[0], { everyMs: 2 });
    expect(request.params["foldcast"]).toMatchObject({ interaction: { interactionId: request.id, kind: "approval" } });
    expect(await answer(bot, request.id, { senderId: "ou_other" })).toMatchObject({ status: "refused" });
    expect(await answer(bot, request.id)).toMatchObject({ status: "accepted" });
    expect(await answer(bot, request.id)).toMatchObject({ status: "late" });
    expect(await watcher.wire.waitFor("foldcast/interaction/resolved")).toMatchObject({ how: "answered", by: { sender: STARTER }, answer: { decision: "accept" } });
    await bot.wire.request("turn/interrupt", { threadId, turnId });
    await bot.ended(threadId, turnId);
  });

  test("gets quick replies, whose choice is the next prompt, marked as chosen", async () => {
    await using bot = await connect();
    const { threadId, turnId } = await start(bot, "scripted/quick");
    const opened = await bot.wire.waitFor("foldcast/interaction/opened");
    const { interactionId, actions } = opened["interaction"] as { interactionId: string; actions: { id: string; value: string }[] };
    await bot.ended(threadId, turnId);
    expect(await answer(bot, interactionId, { actionId: actions[0]!.id, actionValue: actions[0]!.value })).toMatchObject({ status: "accepted" });
    const next = await until("the next turn", () => bot.threads.get(threadId)!.find(({ id, status }) => id !== turnId && status === "completed"), { everyMs: 2 });
    expect(next.items).toMatchObject([{ type: "userMessage", content: [{ text: "go on please" }], foldcast: { origin: { sender: STARTER, interactionId } } }, { text: "Going on." }]);
  });

  test("is told that a request has expired whose server was killed", async () => {
    const first = await startServer({ scenarios: SCENARIOS, speed: 1 });
    const bot = await connect(first.url);
    await start(bot, "scripted/slow");
    const request = await until("the request", () => bot.wire.requests[0], { everyMs: 2 });
    await first.stop("SIGKILL");
    await bot.close().catch(() => undefined);
    await using second = await startServer({ scenarios: SCENARIOS, speed: 1, dataDir: first.dataDir });
    await using again = await connect(second.url);
    expect(await answer(again, request.id)).toMatchObject({ status: "expired", message: expect.stringContaining("the server that asked has ended") });
  });
});

describe("an approval that nobody answers", () => {
  test("is denied when its time is over, and the turn goes on", async () => {
    await using impatient = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--interaction-expiry-ms", "1000"] });
    await using client = await PlainClient.connect(impatient.url);
    const thread = await client.start({ model: "scripted/slow", cwd: "/w" });
    const turnId = await client.submit(thread.id, "go");
    await client.wire.waitFor("serverRequest/resolved");
    await client.wire.waitFor("item/started", ({ item }) => (item as { type: string }).type === "agentMessage");
    await client.wire.request("turn/interrupt", { threadId: thread.id, turnId });
    expect((await client.ended(thread.id, turnId)).status).toBe("interrupted");
  });

  test("that is cancelled ends the turn as interrupted", async () => {
    await using client = await PlainClient.connect(server.url);
    const thread = await client.start({ model: "scripted/slow", cwd: "/w" });
    const turnId = await client.submit(thread.id, "go");
    const request = await until("the request", () => client.wire.requests[0], { everyMs: 2 });
    client.wire.respond(request.id, { decision: "cancel" });
    expect((await client.ended(thread.id, turnId)).status).toBe("interrupted");
  });
});
