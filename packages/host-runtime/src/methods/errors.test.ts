import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listen } from "../rpc/listen.ts";
import type { Listener } from "../rpc/listen.ts";
import { connectStdio, connectWebSocket, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";

const UNKNOWN = "01a229e6-56e9-7781-be3d-000000000000";
const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

/** Method, parameters, code, message: measured on Codex 0.171. `$T` is a fresh thread, `$E` an ephemeral one. */
const ROWS: readonly [string, unknown, number, string | RegExp][] = [
  ["nope/nope", {}, -32600, /^Invalid request: unknown variant `nope\/nope`, expected one of `initialize`, `/],
  ["nope/nope", undefined, -32600, /^Invalid request: unknown variant `nope\/nope`/],
  ["initialize", {}, -32600, "Invalid request: missing field `clientInfo`"],
  ["initialize", { clientInfo: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected struct ClientInfo"],
  ["initialize", { clientInfo: { name: "a" } }, -32600, "Invalid request: missing field `version`"],
  ["initialize", { clientInfo: { name: "a", version: "1" } }, -32600, "Already initialized"],
  ["thread/read", { threadId: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected a string"],
  ["thread/read", { threadId: null }, -32600, "Invalid request: invalid type: null, expected a string"],
  ["thread/read", { threadId: 1.5 }, -32600, "Invalid request: invalid type: floating point `1.5`, expected a string"],
  ["thread/read", { threadId: [] }, -32600, "Invalid request: invalid type: sequence, expected a string"],
  ["thread/read", { threadId: {} }, -32600, "Invalid request: invalid type: map, expected a string"],
  ["thread/read", { threadId: UNKNOWN, includeTurns: "x" }, -32600, 'Invalid request: invalid type: string "x", expected a boolean'],
  ["thread/read", "str", -32600, 'Invalid request: invalid type: string "str", expected struct ThreadReadParams'],
  ["thread/read", {}, -32600, "Invalid request: missing field `threadId`"],
  ["thread/list", undefined, -32600, "Invalid request: missing field `params`"],
  ["thread/list", null, -32600, "Invalid request: missing field `params`"],
  ["configRequirements/read", 5, -32600, "Invalid request: invalid type: integer `5`, expected unit"],
  ["thread/list", { limit: "x" }, -32600, 'Invalid request: invalid type: string "x", expected u32'],
  ["thread/list", { limit: -1 }, -32600, "Invalid request: invalid value: integer `-1`, expected u32"],
  ["thread/list", { limit: 1.5 }, -32600, "Invalid request: invalid type: floating point `1.5`, expected u32"],
  ["thread/list", { cwd: 5 }, -32600, "Invalid request: data did not match any variant of untagged enum ThreadListCwdFilter"],
  ["thread/list", { modelProviders: "x" }, -32600, 'Invalid request: invalid type: string "x", expected a sequence'],
  ["thread/list", { sortKey: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected string or map"],
  ["thread/list", { sortKey: "bogus" }, -32600, "Invalid request: unknown variant `bogus`, expected one of `created_at`, `updated_at`, `recency_at`, `section_position`"],
  ["thread/list", { sortKey: "section_position" }, -32600, "section-position sorting requires a section filter"],
  ["thread/list", { cursor: "garbage" }, -32600, "invalid cursor: garbage"],
  ["thread/turns/list", { threadId: UNKNOWN, sortDirection: "x" }, -32600, "Invalid request: unknown variant `x`, expected `asc` or `desc`"],
  ["turn/start", { threadId: UNKNOWN, input: "x" }, -32600, 'Invalid request: invalid type: string "x", expected a sequence'],
  ["turn/start", { threadId: UNKNOWN, input: [5] }, -32600, "Invalid request: invalid type: integer `5`, expected internally tagged enum UserInput"],
  ["turn/start", { threadId: UNKNOWN, input: [{}] }, -32600, "Invalid request: missing field `type`"],
  ["turn/start", { threadId: UNKNOWN, input: [{ type: "bogus" }] }, -32600, "Invalid request: unknown variant `bogus`, expected one of `text`, `image`, `localImage`, `audio`, `localAudio`, `skill`, `mention`"],
  ["turn/start", { threadId: UNKNOWN, input: [{ type: "text" }] }, -32600, "Invalid request: missing field `text`"],
  ["turn/start", { threadId: UNKNOWN, input: [], approvalPolicy: "bogus" }, -32600, "Invalid request: unknown variant `bogus`, expected one of `untrusted`, `on-request`, `granular`, `never`"],
  ["turn/start", { threadId: UNKNOWN, input: [], approvalPolicy: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected string or map"],
  ["turn/start", { threadId: UNKNOWN, input: [], sandboxPolicy: { type: "bogus" } }, -32600, "Invalid request: unknown variant `bogus`, expected one of `dangerFullAccess`, `readOnly`, `externalSandbox`, `workspaceWrite`"],
  ["turn/start", { threadId: UNKNOWN, input: [], cwd: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected path string"],
  ["thread/start", { historyMode: "x" }, -32600, "Invalid request: unknown variant `x`, expected `legacy` or `paginated`"],
  ["thread/start", { config: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected a map"],
  // Members that mean nothing here are read all the same.
  ["thread/start", { baseInstructions: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected a string"],
  ["thread/start", { dynamicTools: {} }, -32600, "Invalid request: invalid type: map, expected a sequence"],
  ["thread/start", { allowProviderModelFallback: null }, -32600, "Invalid request: invalid type: null, expected a boolean"],
  ["thread/start", { personality: "bogus" }, -32600, "Invalid request: unknown variant `bogus`, expected one of `none`, `friendly`, `pragmatic`"],
  ["thread/start", { sandbox: { type: "bogus" } }, -32600, "Invalid request: unknown variant `type`, expected one of `read-only`, `workspace-write`, `danger-full-access`"],
  ["thread/start", { approvalPolicy: {} }, -32600, "Invalid request: invalid value: map, expected map with a single key"],
  ["thread/start", { multiAgentMode: "bogus" }, -32600, "Invalid request: unknown variant `bogus`, expected one of `none`, `custom`, `explicitRequestOnly`, `proactive`"],
  ["thread/fork", { threadId: UNKNOWN, runtimeWorkspaceRoots: "x" }, -32600, 'Invalid request: invalid type: string "x", expected a sequence'],
  ["turn/start", { threadId: UNKNOWN, input: [], effort: "" }, -32600, "Invalid request: reasoning_effort must not be empty"],
  ["turn/start", { threadId: UNKNOWN, input: [], additionalContext: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected a map"],
  ["turn/start", { threadId: UNKNOWN, input: [], sandboxPolicy: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected internally tagged enum SandboxPolicyDeserialize"],
  ["turn/start", { threadId: UNKNOWN, input: [{ type: "image", url: "x", detail: "bogus" }] }, -32600, "Invalid request: unknown variant `bogus`, expected one of `auto`, `low`, `high`, `original`"],
  ["thread/readState/update", { threadId: UNKNOWN, operation: { type: "bogus" }, expectedRevision: "x" }, -32600, "Invalid request: unknown variant `bogus`, expected `read` or `unread`"],
  ["thread/items/list", { threadId: UNKNOWN, cursor: {} }, -32600, "Invalid request: data did not match any variant of untagged enum ThreadItemsListCursor"],
  ["thread/unsubscribe", 5, -32600, "Invalid request: invalid type: integer `5`, expected struct ThreadUnsubscribeParams"],
  ["thread/loaded/list", "x", -32600, 'Invalid request: invalid type: string "x", expected struct ThreadLoadedListParams'],
  ["thread/goal/set", {}, -32600, "Invalid request: missing field `threadId`"],
  ["thread/inject_items", { threadId: UNKNOWN }, -32600, "Invalid request: missing field `items`"],
  ["review/start", { threadId: UNKNOWN, target: { type: "bogus" } }, -32600, "Invalid request: unknown variant `bogus`, expected one of `uncommittedChanges`, `baseBranch`, `commit`, `custom`"],
  ["skills/list", { forceReload: 5 }, -32600, "Invalid request: invalid type: integer `5`, expected a boolean"],
  ["account/read", { refreshToken: "x" }, -32600, 'Invalid request: invalid type: string "x", expected a boolean'],
  ["mcpServerStatus/list", { detail: "bogus" }, -32600, "Invalid request: unknown variant `bogus`, expected `full` or `toolsAndAuthOnly`"],
  ["initialize", { clientInfo: { name: "a", version: "1" }, capabilities: { requestAttestation: 5 } }, -32600, "Invalid request: invalid type: integer `5`, expected a boolean"],
  ["thread/resume", { threadId: "zz" }, -32600, "invalid session id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `z` at 1"],
  ["thread/revert", { threadId: UNKNOWN, beforeTurnId: "x" }, -32600, `thread not found: ${UNKNOWN}`],
  ["thread/fork", { threadId: "$T", lastTurnId: "x", beforeTurnId: "y" }, -32600, "`beforeTurnId` cannot be combined with `lastTurnId`"],
  ["thread/queue/list", { threadId: UNKNOWN }, -32603, `failed to read thread: invalid thread-store request: no rollout found for thread id ${UNKNOWN}`],
  ["thread/list", { includedThreadIds: ["zz"] }, -32602, "invalid included thread id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `z` at 1"],
  ["thread/list", { parentThreadId: UNKNOWN, ancestorThreadId: UNKNOWN }, -32600, "parentThreadId and ancestorThreadId are mutually exclusive"],
  ["thread/shellCommand", { threadId: UNKNOWN, command: " " }, -32600, "command must not be empty"],
  ["thread/shellCommand", { threadId: UNKNOWN, command: "ls", timeoutMs: -1 }, -32602, "thread/shellCommand timeoutMs must be non-negative, got -1"],
  ["turn/steer", { threadId: "$T", input: [], expectedTurnId: "" }, -32600, "expectedTurnId must not be empty"],
  ["config/value/write", { keyPath: "", value: 1, mergeStrategy: "replace" }, -32600, "keyPath must not be empty"],
  ["thread/read", { threadId: UNKNOWN }, -32600, `thread not loaded: ${UNKNOWN}`],
  ["thread/turns/list", { threadId: UNKNOWN }, -32600, `thread not loaded: ${UNKNOWN}`],
  ["thread/resume", { threadId: UNKNOWN }, -32600, `no rollout found for thread id ${UNKNOWN}`],
  ["thread/archive", { threadId: UNKNOWN }, -32600, `no rollout found for thread id ${UNKNOWN}`],
  ["thread/unarchive", { threadId: UNKNOWN }, -32600, `no archived rollout found for thread id ${UNKNOWN}`],
  ["thread/delete", { threadId: UNKNOWN }, -32600, `no rollout found for thread id ${UNKNOWN}`],
  ["thread/name/set", { threadId: UNKNOWN, name: "x" }, -32600, `no rollout found for thread id ${UNKNOWN}`],
  ["thread/name/set", { threadId: "$T", name: " " }, -32600, "thread name must not be empty"],
  ["turn/start", { threadId: UNKNOWN, input: text("x") }, -32600, `thread not found: ${UNKNOWN}`],
  ["turn/interrupt", { threadId: UNKNOWN, turnId: "x" }, -32600, `thread not found: ${UNKNOWN}`],
  ["thread/goal/get", { threadId: UNKNOWN }, -32600, `thread not found: ${UNKNOWN}`],
  ["thread/read", { threadId: "not-a-uuid" }, -32600, "invalid thread id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1"],
  ["thread/read", { threadId: "01a229e6-56e9-7781-be3d-0000000000zz" }, -32600, "invalid thread id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `z` at 35"],
  ["thread/read", { threadId: "123" }, -32600, "invalid thread id: invalid length: expected length 32 for simple format, found 3"],
  ["thread/read", { threadId: "01a229e6-56e9-7781-be3d0-00000000000" }, -32600, "invalid thread id: invalid group length in group 3: expected 4, found 5"],
  ["thread/archive", { threadId: "zz" }, -32600, "invalid session id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `z` at 1"],
  ["thread/list", { ancestorThreadId: "zz" }, -32600, "invalid ancestor thread id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `z` at 1"],
  ["turn/interrupt", { threadId: "$T", turnId: "x" }, -32600, "no active turn to interrupt"],
  ["turn/steer", { threadId: "$T", input: text("x"), expectedTurnId: "x" }, -32600, "no active turn to steer"],
  ["turn/steer", { threadId: "$T", input: text("x") }, -32600, "Invalid request: missing field `expectedTurnId`"],
  ["thread/turns/list", { threadId: "$T" }, -32600, "thread $T is not materialized yet; thread/turns/list is unavailable before first user message"],
  ["thread/items/list", { threadId: "$T" }, -32601, "thread/items/list is not supported yet"],
  ["thread/read", { threadId: "$T", includeTurns: true }, -32601, "list_turns is not supported yet"],
  ["thread/metadata/update", { threadId: "$T" }, -32600, "thread metadata update must include at least one field"],
  ["thread/readState/update", { threadId: "$T", operation: { type: "read" }, expectedRevision: "x" }, -32600, "read state changed"],
  ["thread/turns/list", { threadId: "$E" }, -32600, "ephemeral threads do not support thread/turns/list"],
  ["thread/read", { threadId: "$E", includeTurns: true }, -32600, "ephemeral threads do not support includeTurns"],
  ["thread/name/set", { threadId: "$E", name: "x" }, -32600, "ephemeral thread does not support metadata updates: $E"],
  ["thread/archive", { threadId: "$E" }, -32600, "no rollout found for thread id $E"],
  ["account/rateLimits/read", undefined, -32600, "codex account authentication required to read rate limits"],
  ["model/list", { cursor: "garbage" }, -32600, "invalid cursor: garbage"],
  ["thread/loaded/list", { cursor: "x" }, -32600, "invalid cursor: x"],
];

describe.each(["stdio", "websocket"])("error codes and texts over %s", (kind) => {
  let setup: TestHost;
  let listener: Listener | null = null;
  const connect = async (): Promise<TestClient> => {
    if (kind === "stdio") return connectStdio(setup.host);
    listener ??= await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: (transport) => setup.host.connect(transport), token: null });
    return connectWebSocket(listener.url);
  };
  beforeEach(async () => {
    setup = await startTestHost();
  });
  afterEach(async () => {
    await setup.host.close();
    await listener?.close();
    listener = null;
  });

  test("each row of the measured table", async () => {
    const client = await (await connect()).initialize();
    const fresh = (await client.call("thread/start", { cwd: "/tmp" })).thread.id;
    const ephemeral = (await client.call("thread/start", { cwd: "/tmp", ephemeral: true })).thread.id;
    const fill = (value: string): string => value.replace("$T", fresh).replace("$E", ephemeral);
    for (const [method, params, code, message] of ROWS) {
      const given: unknown = params === undefined ? undefined : JSON.parse(fill(JSON.stringify(params)));
      const { error } = await client.request(method, given);
      const shown = `${method} ${JSON.stringify(given)}`;
      expect([shown, error?.code], shown).toEqual([shown, code]);
      if (typeof message === "string") expect([shown, error?.message]).toEqual([shown, fill(message)]);
      else expect(error?.message).toMatch(message);
    }
  });

  test("before initialize: the parameters are judged first, then the state", async () => {
    const client = await connect();
    expect((await client.request("thread/list", {})).error).toEqual({ code: -32600, message: "Not initialized" });
    expect((await client.request("thread/read", {})).error?.message).toBe("Invalid request: missing field `threadId`");
    expect((await client.request("nope/nope", {})).error?.message).toMatch(/unknown variant `nope\/nope`/);
  });

  test("experimental methods and members need the capability; null and false do not count", async () => {
    const client = await (await connect()).initialize({ capabilities: { experimentalApi: false } });
    const message = async (method: string, params: unknown): Promise<string | undefined> => (await client.request(method, params)).error?.message;
    expect(await message("collaborationMode/list", {})).toBe("collaborationMode/list requires experimentalApi capability");
    expect(await message("thread/start", { mockExperimentalField: "x" })).toBe("thread/start.mockExperimentalField requires experimentalApi capability");
    expect(await message("thread/start", { dynamicTools: [] })).toBe("thread/start.dynamicTools requires experimentalApi capability");
    expect(await message("thread/start", { mockExperimentalField: null, experimentalRawEvents: false })).toBeUndefined();
  });

  test("an input over the limit says how long it was", async () => {
    const client = await (await connect()).initialize();
    const { thread } = await client.call("thread/start", { cwd: "/tmp" });
    expect((await client.request("turn/start", { threadId: thread.id, input: text("😀".repeat(1_048_577)) })).error).toEqual({
      code: -32602,
      message: "Input exceeds the maximum length of 1048576 characters.",
      data: { input_error_code: "input_too_large", max_chars: 1_048_576, actual_chars: 1_048_577 },
    });
  });

  test("garbage gets no answer and the connection stays usable", async () => {
    const client = await (await connect()).initialize();
    const before = client.frames.length;
    for (const line of ['{"method": "thread/list", id: 1', '[{"method":"thread/list","id":901,"params":{}}]', "42", '""', "null", '{"method":"thread/list","id":null,"params":{}}', '{"method":"thread/list","id":1.5,"params":{}}', '{"id":902}', '{"id":903,"result":{}}', '{"method":"nope/notification","params":{}}', "\u0000\u0001"]) {
      client.sendRaw(line);
    }
    client.sendRaw('{"jsonrpc":"2.0","id":-7,"method":"thread/loaded/list","params":{}}');
    await client.until("the one answer", () => client.frames.find((frame) => frame["id"] === -7));
    const answers = client.frames.slice(before).filter((frame) => "id" in frame);
    expect(answers).toEqual([{ id: -7, result: { data: [], nextCursor: null } }]);
  });

  test("too many open requests are refused, the others are answered", async () => {
    const client = await (await connect()).initialize();
    for (let id = 10_000; id < 15_000; id += 1) client.sendRaw(JSON.stringify({ id, method: "thread/list", params: {} }));
    await client.until("all answers", () => (client.frames.filter((frame) => "id" in frame).length >= 5_001 ? true : undefined), 20_000);
    const overloaded = client.frames.filter((frame) => (frame["error"] as { code?: number } | undefined)?.code === -32001);
    const fine = client.frames.filter((frame) => "result" in frame);
    expect(fine.length).toBeGreaterThanOrEqual(1024);
    expect(overloaded.length + fine.length).toBe(5_001);
    if (overloaded.length > 0) expect(overloaded[0]!["error"]).toEqual({ code: -32001, message: "Server overloaded; retry later." });
  });
});
