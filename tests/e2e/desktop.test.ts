import { afterAll, beforeAll, expect, test } from "vitest";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { DesktopApp } from "../support/desktop-app.ts";
import type { DesktopTurn } from "../support/desktop-turns.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const run = (id: string): object[] => [{ tool: { id, name: "shell", input: { command: `make ${id}` } } }, { result: { id, output: `${id}\n`, exitCode: 0 } }];
const SCENARIOS = {
  work: {
    schema: 1,
    name: "work",
    turns: [
      { steps: [{ message: "On it." }, ...run("a"), ...run("b"), { message: "Done." }] },
      { match: "wait", steps: [{ message: "Working." }, { delayMs: 60_000 }, { message: "Late." }] },
      // Goes on when its request is answered.
      { match: "brief", steps: [{ message: "Working." }, { tool: { id: "w", name: "shell", input: { command: "wait" } } }, { approve: { id: "w", kind: "command" } }, { result: { id: "w", output: "", exitCode: 0 } }, { message: "Late." }] },
    ],
  },
};

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS, speed: 1 });
});
afterAll(async () => {
  await server.stop();
});

const said = (turn: DesktopTurn | undefined): (string | undefined)[] =>
  (turn?.items ?? []).flatMap((item: ThreadItem) => (item.type === "userMessage" ? item.content.map((part) => (part.type === "text" ? part.text : "")) : []));
const working = (turn: DesktopTurn): Promise<true> =>
  until("the running turn", () => (turn.items.some((item) => item.type === "agentMessage" && item.text === "Working.") ? true : undefined));
/** Lets a brief turn go on to its end. */
async function letGo({ client: { wire } }: DesktopApp): Promise<void> {
  const { id } = await until("the request", () => wire.requests.at(-1));
  wire.respond(id, { decision: "accept" });
}
const ended = (turn: DesktopTurn): Promise<true> => until("its end", () => (turn.status === "inProgress" ? undefined : true), { timeoutMs: 30_000 });

test("starts with all that it asks for at hand, and shows our models", async () => {
  await using fresh = await startServer({ scenarios: SCENARIOS });
  const { app: started, answers, missing, failed } = await DesktopApp.start(fresh.url);
  await using app = started;
  expect([missing, failed]).toEqual([[], []]);
  expect(app.sidebar.size).toBe(0);
  expect(answers.get("account/read")).toMatchObject({ requiresOpenaiAuth: false });
  const models = answers.get("model/list")!["data"] as { model: string; hidden: boolean; isDefault: boolean; supportedReasoningEfforts: { reasoningEffort: string }[] }[];
  expect(models.filter(({ hidden }) => !hidden).map(({ model }) => model)).toContain("scripted/work");
  expect(models.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  const known = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];
  for (const { supportedReasoningEfforts } of models) for (const { reasoningEffort } of supportedReasoningEfforts) expect(known).toContain(reasoningEffort);
});

test("opens a long thread by pages, whichever way, with the same items", async () => {
  await using app = (await DesktopApp.start(server.url)).app;
  const { client } = app;
  const threadId = await client.prewarm("/w", "scripted/work");
  for (let at = 1; at <= 12; at += 1) await client.prompt(threadId, `turn ${at}`);
  const live = client.threads.get(threadId)!.map(({ id, items }) => ({ id, items }));
  await using second = (await DesktopApp.start(server.url)).app;
  expect(second.sidebar.get(threadId)).toEqual({ title: "turn 1", status: "idle" });
  expect((await second.client.open(threadId)).map(({ id, items }) => ({ id, items }))).toEqual(live);
  expect((await second.client.openByItems(threadId)).map(({ id, items }) => ({ id, items }))).toEqual(live);

  // A cursor over all items is used under the filter of one turn, too: that is the turn's first page, no error.
  const { itemsBackwardsCursor } = await client.wire.request<{ itemsBackwardsCursor: string }>("thread/resume", { threadId, excludeTurns: true });
  for (const turn of live.slice(0, 2)) {
    const { data } = await client.wire.request<{ data: { item: ThreadItem }[] }>("thread/items/list", { threadId, turnId: turn.id, cursor: itemsBackwardsCursor, limit: 500, sortDirection: "desc" });
    expect(data.map(({ item }) => item.id).sort()).toEqual(turn.items.map((item) => item.id).sort());
  }
  expect([client.dropped, second.client.dropped].flatMap((counts) => Object.values(counts))).toEqual(Array(8).fill(0));
});

test("renames, archives and brings back; every window's sidebar follows", async () => {
  await using one = (await DesktopApp.start(server.url)).app;
  const threadId = await one.client.prewarm("/w", "scripted/work");
  await one.client.prompt(threadId, "a thread about lighthouses");
  await using two = (await DesktopApp.start(server.url)).app;
  await one.rename(threadId, "Lighthouses");
  await until("the name in the other window", () => (two.sidebar.get(threadId)?.title === "Lighthouses" ? true : undefined));
  expect(await two.search("lighthouse")).toContain(threadId);
  await one.archive(threadId);
  await until("its end in the other window", () => (two.sidebar.has(threadId) ? undefined : true));
  expect((await two.client.list()).map(({ id }) => id)).not.toContain(threadId);
  await two.unarchive(threadId);
  await until("its return", () => (two.sidebar.get(threadId)?.title === "Lighthouses" ? true : undefined));
  expect((await two.client.open(threadId)).map(said)).toEqual([["a thread about lighthouses"]]);
});

test("a steer settles with its message, finds the turn that runs, or begins one; what a turn ended without comes back", async () => {
  await using app = (await DesktopApp.start(server.url)).app;
  const threadId = await app.client.prewarm("/w", "scripted/work");
  const turn = await app.client.submit(threadId, "brief");
  await working(turn);
  expect(await app.steer(threadId, "mind the gap", turn.id!)).toBe("steered");
  expect(await app.steer(threadId, "and the doors", "00000000-0000-7000-8000-000000000000")).toBe("retried");
  await until("both messages", () => ((app.pending.get(threadId) ?? []).length === 0 && said(turn).length === 3 ? true : undefined));
  await letGo(app);
  await ended(turn);
  expect(said(turn)).toEqual(["brief", "mind the gap", "and the doors"]);
  expect(await app.steer(threadId, "one more", turn.id!)).toBe("started");
  await until("its turn", () => (app.client.threads.get(threadId)?.[1]?.status === "completed" ? true : undefined));
  expect(app.returned).toEqual([]);
});

test("queued messages are seen in every window, can be changed, and run one after the other", async () => {
  await using app = (await DesktopApp.start(server.url)).app;
  await using other = (await DesktopApp.start(server.url)).app;
  const threadId = await app.client.prewarm("/w", "scripted/work");
  const turn = await app.client.submit(threadId, "brief");
  await working(turn);
  await other.client.open(threadId);
  const first = await app.enqueue(threadId, "first");
  await app.enqueue(threadId, "second");
  const never = await other.enqueue(threadId, "never");
  await until("all of them", () => (other.queues.get(threadId)?.length === 3 ? true : undefined));
  await app.changeQueued(threadId, first, "first, in other words");
  await app.changeQueued(threadId, never, null);
  await until("the change", () => (other.queues.get(threadId)?.join() === "first, in other words,second" ? true : undefined));
  await letGo(app);
  await until("their turns", () => (app.client.threads.get(threadId)?.filter(({ status }) => status === "completed").length === 3 ? true : undefined), { timeoutMs: 30_000 });
  expect(app.client.threads.get(threadId)!.map(said)).toEqual([["brief"], ["first, in other words"], ["second"]]);
  await until("an empty queue", () => (app.queues.get(threadId)?.length === 0 && other.queues.get(threadId)?.length === 0 ? true : undefined));
});

test("the last message is edited, as older and as newer releases do it, and a fork has what is left", async () => {
  await using app = (await DesktopApp.start(server.url)).app;
  const threadId = await app.client.prewarm("/w", "scripted/work");
  await app.client.prompt(threadId, "stays");
  await app.client.prompt(threadId, "first try");
  expect((await app.editLast(threadId, "second try", "older")).status).toBe("completed");
  expect((await app.editLast(threadId, "third try", "newer")).status).toBe("completed");
  expect(app.client.threads.get(threadId)!.map(said)).toEqual([["stays"], ["third try"]]);
  expect((await app.client.open(threadId)).map(said)).toEqual([["stays"], ["third try"]]);
  const fork = await app.fork(threadId);
  expect(app.client.threads.get(fork)!.map(said)).toEqual([["stays"], ["third try"]]);
  expect((await app.client.prompt(fork, "only here")).status).toBe("completed");
  expect((await app.client.open(threadId)).map(said)).toEqual([["stays"], ["third try"]]);
});

test("after its link broke in the middle of a turn it opens the thread again and has all of it", async () => {
  const before = (await DesktopApp.start(server.url)).app;
  const threadId = await before.client.prewarm("/w", "scripted/work");
  const turn = await before.client.submit(threadId, "brief");
  await working(turn);
  await before.close();
  await using after = (await DesktopApp.start(server.url)).app;
  expect(after.sidebar.get(threadId)?.status).toBe("active");
  const [opened] = await after.client.open(threadId);
  await letGo(after);
  await ended(opened!);
  expect(opened!.items.map((item) => (item.type === "agentMessage" ? [item.text, item.phase] : item.type))).toEqual(["userMessage", ["Working.", null], "commandExecution", ["Late.", "final_answer"]]);
  const [again] = await after.client.open(threadId);
  expect(again!.items).toEqual(opened!.items);
});
