import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";

/** Threads that stock clients open on their own account, with what they send: measured on the Codex 0.171 TUI, read in Desktop 26.7. */
const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

let setup: TestHost;
let client: TestClient;
let opened: number;
beforeEach(async () => {
  setup = await startTestHost({ abandonedAfterMs: 1 });
  opened = 0;
  setup.adapter.beforeOpen = () => {
    opened += 1;
    return Promise.resolve();
  };
  client = await connectStdio(setup.host).initialize();
});
afterEach(() => setup.host.close());

const list = async (): Promise<string[]> => (await client.call("thread/list", {})).data.map(({ id }) => id);

describe("a thread that is to make a title", () => {
  const schema = { type: "object", properties: { title: { type: "string", minLength: 1, maxLength: 36 } }, required: ["title"], additionalProperties: false };
  const tui = {
    model: "fake/one", modelProvider: "foldcast", cwd: "/w", runtimeWorkspaceRoots: [], approvalPolicy: "never", sandbox: null, permissions: ":read-only",
    config: { "features.shell_tool": false, mcp_servers: {} }, ephemeral: true, historyMode: null, threadSource: "thread_title",
  };
  const desktop = {
    model: "gpt-5.6-luna", modelProvider: null, allowProviderModelFallback: true, cwd: "/w", approvalPolicy: "never", permissions: ":read-only",
    runtimeWorkspaceRoots: [], config: { model_reasoning_effort: "low" }, personality: null, ephemeral: true, threadSource: "thread_metadata",
    experimentalRawEvents: false, dynamicTools: null, serviceTier: null,
  };

  test.each([["the TUI", tui], ["Desktop", desktop]])("as %s asks for it is answered without the harness, and is gone when it is left", async (_name, params) => {
    const { thread, ...rest } = await client.call("thread/start", params);
    expect(rest).toMatchObject({ sandbox: { type: "readOnly" }, approvalPolicy: "never", activePermissionProfile: { id: ":read-only" } });
    const prompt = "Generate a concise task title of at most 36 characters.\n\nUser prompt:\nFix the clock in the tower, which is an hour late since spring";
    await client.call("turn/start", { threadId: thread.id, input: text(prompt), outputSchema: schema, permissions: ":read-only", model: null });
    await client.turnsCompleted(1);
    const answer = client.of("item/completed").map(({ params: { item } }) => item).find(({ type }) => type === "agentMessage");
    const { title } = JSON.parse(answer!.text!) as { title: string };
    expect(title).toBe("Fix the clock in the tower, which…");
    expect(title.length).toBeLessThanOrEqual(36);
    expect(answer!.phase).toBe("final_answer");
    expect(client.of("turn/completed")[0]!.params.turn.status).toBe("completed");
    await client.call("thread/unsubscribe", { threadId: thread.id });
    await client.notice("thread/closed");
    expect(await list()).toEqual([]);
    expect(opened).toBe(0);
  });

  test("the name that the client then sets is the thread's", async () => {
    const { thread } = await client.call("thread/start", { cwd: "/w" });
    await client.call("turn/start", { threadId: thread.id, input: text("hello") });
    await client.turnsCompleted(1);
    await client.call("thread/name/set", { threadId: thread.id, name: "Hello" });
    expect((await client.call("thread/list", {})).data[0]).toMatchObject({ id: thread.id, name: "Hello" });
    expect(opened).toBe(1);
  });
});

describe("a draft that a client prepares while a person types", () => {
  const draft = {
    cwd: "/w", model: null, modelProvider: null, serviceTier: null, config: { "features.code_mode_host": true }, approvalsReviewer: null, approvalPolicy: "on-request",
    sandbox: "workspace-write", runtimeWorkspaceRoots: ["/w"], personality: null, ephemeral: null, baseInstructions: null, developerInstructions: "x".repeat(20_000),
    threadSource: "user", mockExperimentalField: null, experimentalRawEvents: false, dynamicTools: [{ type: "namespace", name: "codex_app", description: "", tools: [] }],
  };

  test("starts nothing, is in no list, and can be thrown away; only a first turn opens a session", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) ids.push((await client.call("thread/start", draft)).thread.id);
    expect(await list()).toEqual([]);
    expect(opened).toBe(0);
    await client.call("thread/delete", { threadId: ids[0] });
    expect((await client.request("thread/read", { threadId: ids[0] })).error?.message).toBe(`thread not loaded: ${ids[0]}`);
    await client.call("thread/settings/update", { threadId: ids[1], model: "fake/two" });
    expect(opened).toBe(0);
    await client.call("turn/start", { threadId: ids[1], input: text("go") });
    await client.turnsCompleted(1);
    expect(opened).toBe(1);
    expect(await list()).toEqual([ids[1]]);
    expect((await client.call("thread/loaded/list", {})).data).toContain(ids[2]);
  });
});
