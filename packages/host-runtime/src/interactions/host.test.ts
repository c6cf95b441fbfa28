import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InteractionRequest } from "@foldcast/protocol-core/harness";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost, WireFrame } from "../testing/client.ts";
import type { FakeSession } from "../testing/fake-adapter.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
const APPROVAL: InteractionRequest = { id: "ask-1", kind: "approval", about: "command", itemId: "c1", reason: "Cleans up.", offers: ["accept", "decline", "cancel"] };

let setup: TestHost;
let client: TestClient;
let threadId: string;
let turnId: string;
let session: FakeSession;

const requests = (of: TestClient): WireFrame[] => of.frames.filter((frame) => "method" in frame && "id" in frame);
const asked = (of: TestClient): Promise<WireFrame> => of.until("a request", () => requests(of)[0]);
const answer = (of: TestClient, id: unknown, result: unknown): void => of.sendRaw(JSON.stringify({ id, result }));
const told = (): Promise<object> => client.until("the harness's answer", () => session.answers[0]?.answer);

/** A turn that waits for the approval of a command. */
beforeEach(async () => {
  setup = await startTestHost();
  client = await connectStdio(setup.host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
  setup.adapter.script = (made, input, key) => {
    made.begin(key, input);
    made.emit({ type: "item.started", at: made.now(), item: { kind: "command", id: "c1", command: "rm -rf build", cwd: "/w" } });
    made.emit({ type: "interaction.opened", at: made.now(), interaction: APPROVAL });
  };
  turnId = (await client.call("turn/start", { threadId, input: text("clean") })).turn.id;
  await asked(client);
  session = setup.adapter.sessions[0]!;
});
afterEach(() => setup.host.close());

const methods = (of: TestClient): string[] => of.frames.flatMap((frame) => {
  const status = (frame["params"] as { status?: { type: string; activeFlags?: string[] } } | undefined)?.status;
  return typeof frame["method"] === "string" ? [status === undefined ? frame["method"] : `${status.type} ${(status.activeFlags ?? []).join()}`.trim()] : [];
});

test("the frames come in the real server's order, and the harness gets the answer", async () => {
  const frame = await asked(client);
  expect(frame).toMatchObject({
    id: expect.stringMatching(/^foldcast:/), method: "item/commandExecution/requestApproval",
    params: { kind: "command", threadId, turnId, itemId: `${turnId}:command:1`, startedAtMs: expect.any(Number), command: "rm -rf build", cwd: "/w", reason: "Cleans up.", availableDecisions: ["accept", "decline", "cancel"] },
  });
  answer(client, frame["id"], { decision: "accept" });
  expect(await told()).toEqual({ kind: "approval", decision: "accept" });
  await client.notice("serverRequest/resolved");
  session.end({ status: "succeeded" });
  await client.turnsCompleted(1);
  const all = methods(client);
  expect(all.slice(all.indexOf("turn/started") + 3, -4)).toEqual(["item/started", "active waitingOnApproval", "item/commandExecution/requestApproval", "serverRequest/resolved", "active"]);
  expect(all.slice(-3)).toEqual(["thread/readState/changed", "idle", "turn/completed"]);
});

test("a client that joins gets the item and the request under the same id, and may answer", async () => {
  const second = await connectStdio(setup.host).initialize({ capabilities: { extensions: { foldcast: { interaction: true } } } });
  await second.call("thread/resume", { threadId });
  const frame = await asked(second);
  expect(frame["id"]).toBe((await asked(client))["id"]);
  expect(second.of("item/started").at(-1)!.params.item).toMatchObject({ type: "commandExecution", id: `${turnId}:command:1` });
  answer(second, frame["id"], { decision: "decline" });
  expect(await told()).toEqual({ kind: "approval", decision: "decline" });
  await client.notice("serverRequest/resolved");
  expect(await second.notice("foldcast/interaction/resolved")).toMatchObject({ params: { how: "answered", by: { client: "test", sender: null }, answer: { decision: "decline" } } });
  answer(client, frame["id"], { decision: "accept" });
  await client.call("thread/loaded/list", {});
  expect(session.answers).toHaveLength(1);
});

describe("every end of a turn settles it once", () => {
  const resolvedOnce = async (): Promise<void> => {
    await client.turnsCompleted(1);
    expect(client.of("serverRequest/resolved")).toHaveLength(1);
    expect(session.answers).toEqual([]);
    const order = methods(client);
    expect(order.indexOf("serverRequest/resolved")).toBeLessThan(order.indexOf("turn/completed"));
    expect(setup.host.interactions.size).toBe(0);
    expect(client.of("thread/status/changed").at(-1)!.params.status.type).not.toBe("active");
  };

  test("interrupt: a late yes does not reach the harness", async () => {
    setup.adapter.onCancel = () => undefined;
    const { id } = await asked(client);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.notice("serverRequest/resolved");
    answer(client, id, { decision: "accept" });
    await client.call("thread/loaded/list", {});
    session.end({ status: "cancelled" });
    await resolvedOnce();
  });
  test("the harness ends the turn", async () => {
    session.end({ status: "succeeded" });
    await resolvedOnce();
  });
  test("the harness closes the request itself", async () => {
    session.emit({ type: "interaction.closed", interactionId: "ask-1", reason: "superseded", at: null });
    await client.notice("serverRequest/resolved");
    session.end({ status: "succeeded" });
    await resolvedOnce();
  });
  test("the harness dies", async () => {
    session.breakOff(new Error("gone"));
    await resolvedOnce();
  });
  test("the host stops", async () => {
    await setup.host.close();
    expect(setup.host.interactions.size).toBe(0);
    expect(session.answers).toEqual([]);
  });
});

describe("a typed answer", () => {
  const steer = (value: string) => client.request("turn/steer", { threadId, expectedTurnId: turnId, input: text(value) });

  test("settles, by steer or by start, and never reaches the harness as text", async () => {
    const { id } = await asked(client);
    expect(await steer(`/_interaction ${String(id)} nonsense`)).toMatchObject({ error: { message: expect.stringContaining("Expected: approve, deny") } });
    expect(await client.call("turn/start", { threadId, input: text(`/_interaction ${String(id)} approve`) })).toMatchObject({ turn: { id: turnId } });
    expect(await told()).toEqual({ kind: "approval", decision: "accept" });
    expect(await steer(`/_interaction ${String(id)} approve`)).toMatchObject({ error: { message: expect.stringContaining("answered already") } });
    expect(session.steered).toEqual([]);
  });

  test("with an unknown id is answered by a turn of the host when nothing runs", async () => {
    session.end({ status: "succeeded" });
    await client.turnsCompleted(1);
    await client.call("turn/start", { threadId, input: text("/_interaction nobody approve") });
    await client.turnsCompleted(2);
    expect(client.of("item/completed").at(-1)!.params.item.text).toBe("There is no interaction nobody on this thread.");
    expect(setup.adapter.turns).toBe(1);
  });
});
