import { expect, test } from "vitest";
import type { Thread } from "@foldcast/protocol-core/wire";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { SCENARIOS } from "../support/scenarios.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

// Every frame is judged against the real program's schema when the tests of this file are done.
endToEnd();

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

test("threads are forked, cut back, grouped, found and given inputs that wait", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 1 });
  await using client = await PlainClient.connect(server.url);
  const { wire } = client;
  const thread = await client.start({ model: "scripted/work", cwd: "/w" });
  const turns = [await client.prompt(thread.id, "first"), await client.prompt(thread.id, "second")];

  const fork = await wire.request<{ thread: Thread }>("thread/fork", { threadId: thread.id, lastTurnId: turns[0]!.id });
  expect(fork.thread.turns.map((turn) => turn.id)).toEqual([turns[0]!.id]);
  expect(fork.thread.turns[0]!.items.map((item) => item.id)).toEqual(turns[0]!.items.map((item) => item.id));
  expect((await wire.waitFor("thread/started", (params) => (params["thread"] as Thread).id === fork.thread.id))["thread"]).toMatchObject({ forkedFromId: thread.id });
  client.threads.set(fork.thread.id, []);
  await client.prompt(fork.thread.id, "second");
  const { thread: forked } = await wire.request<{ thread: Thread }>("thread/read", { threadId: fork.thread.id, includeTurns: true });
  expect(forked.turns).toHaveLength(2);

  const itemIds = turns[0]!.items.slice(0, 2).map((item) => item.id);
  expect((await wire.request<{ data: unknown[] }>("thread/items/read", { threadId: thread.id, turnId: turns[0]!.id, itemIds })).data).toHaveLength(2);
  await wire.request("thread/revert", { threadId: thread.id, beforeTurnId: turns[1]!.id });
  await wire.waitFor("thread/reverted");

  const { section } = await wire.request<{ section: { id: string } }>("threadSection/create", { name: "Work", appearance: { icon: "star", color: null } });
  await wire.request("threadSection/update", { sectionId: section.id, name: "Play" });
  await wire.request("thread/section/move", { threadId: thread.id, sectionId: section.id });
  expect((await wire.request<{ data: Thread[] }>("thread/list", { sectionId: section.id })).data.map((each) => each.id)).toEqual([thread.id]);
  expect((await wire.request<{ data: unknown[] }>("threadSection/list", {})).data).toHaveLength(2);
  await wire.request("threadSection/delete", { sectionId: section.id });
  expect((await wire.request<{ data: unknown[] }>("thread/search", { searchTerm: "FIRST" })).data).toHaveLength(2);

  await wire.request("thread/settings/update", { threadId: thread.id, effort: "medium", summary: "concise" });
  await wire.request("thread/metadata/update", { threadId: thread.id, gitInfo: { branch: "main" } });

  const running = await client.submit(thread.id, "long");
  const queued: string[] = [];
  for (const value of ["first", "second", "second"]) {
    const { queuedSubmission } = await wire.request<{ queuedSubmission: { id: string } }>("thread/queue/add", { threadId: thread.id, input: text(value), clientUserMessageId: `c-${value}` });
    queued.push(queuedSubmission.id);
  }
  await wire.request("thread/queue/update", { threadId: thread.id, queuedSubmissionId: queued[0], input: text("second"), responsesapiClientMetadata: { kind: "x" } });
  await wire.request("thread/queue/reorder", { threadId: thread.id, queuedSubmissionIds: [queued[1], queued[0], queued[2]] });
  await wire.request("thread/queue/delete", { threadId: thread.id, queuedSubmissionId: queued[2] });
  expect((await wire.request<{ data: { id: string }[] }>("thread/queue/list", { threadId: thread.id })).data.map(({ id }) => id)).toEqual([queued[1], queued[0]]);
  await wire.request("turn/interrupt", { threadId: thread.id, turnId: running });
  const all = client.threads.get(thread.id)!;
  await until("the interrupt", () => all.find((turn) => turn.id === running && turn.status === "interrupted"));
  await wire.request("thread/queue/start", { threadId: thread.id });
  await until("the queued turns", () => (all.length === 5 && all.every(({ status }) => status !== "inProgress") ? true : undefined));

  await wire.request("thread/compact/start", { threadId: thread.id });
  const compaction = await until("the compaction", () => all.find((turn) => turn.status !== "inProgress" && turn.items[0]?.type === "contextCompaction"));
  expect(compaction.status).toBe("completed");

  await wire.request("experimentalFeature/enablement/set", { enablement: { apps: true } });
  await wire.request("externalAgentConfig/detect", {});
  for (const [method, params] of [["thread/shellCommand", { command: "ls" }], ["thread/goal/set", { objective: "x" }], ["review/start", { target: { type: "uncommittedChanges" } }]] as const) {
    const refusal = await wire.request(method, { threadId: thread.id, ...params }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: -32601, message: expect.stringMatching(new RegExp(`^${method} is not supported yet: \\w`)) as string });
  }
});
