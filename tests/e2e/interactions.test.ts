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
        approve("tool", { id: "t", title: "Fetch a page", offers: ["accept", "decline"] }),
        { ask: { id: "q", questions: [{ id: "which", question: "Which?", options: [{ label: "left" }, { label: "right" }] }] } },
        { message: "Done." },
      ],
    }],
  },
  slow: { schema: 1, name: "slow", turns: [{ steps: [approve("command", { command: "ls" }), { message: "On." }, { delayMs: 60_000 }] }] },
};

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--interaction-expiry-ms", "4000"] });
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
    ["item/tool/requestUserInput", () => ({ answers: { approval: { answers: ["Approve"] } } })],
    ["item/tool/requestUserInput", () => ({ answers: { which: { answers: ["right"] } } })],
  ];
  for (const [at, [method, reply]] of replies.entries()) {
    const request = await until(method, () => first.wire.requests[at], { timeoutMs: 10_000, everyMs: 2 });
    expect(request.method).toBe(method);
    const same = await until("the same on the other screen", () => second.wire.requests.find(({ id }) => id === request.id), { timeoutMs: 10_000, everyMs: 2 });
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

describe("an approval that nobody answers", () => {
  test("is denied when its time is over, and the turn goes on", async () => {
    await using client = await PlainClient.connect(server.url);
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
    const request = await until("the request", () => client.wire.requests[0], { timeoutMs: 10_000, everyMs: 2 });
    client.wire.respond(request.id, { decision: "cancel" });
    expect((await client.ended(thread.id, turnId)).status).toBe("interrupted");
  });
});
