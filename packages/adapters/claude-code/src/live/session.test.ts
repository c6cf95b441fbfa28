import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { orderFaults, readTurns, SessionListener, summarizeTurn } from "@foldcast/adapter-kit/conformance";
import type { HarnessEvent, HarnessSession, InteractionAnswer } from "@foldcast/protocol-core/harness";
import { history } from "../history/source.ts";
import { fakeClaude, options, prompt, testAdapter, type TestAdapter } from "../testing/harness.ts";

const bin = await fakeClaude();
let bench: TestAdapter | null = null;
afterEach(async () => {
  await bench?.adapter.close();
  bench?.cleanup();
});

async function open(more: Parameters<typeof options>[1] = {}): Promise<{ session: HarnessSession; listener: SessionListener }> {
  bench = testAdapter(bin);
  const session = await bench.adapter.open({ kind: "create", options: options(bench.workspace, more) });
  return { session, listener: new SessionListener(session) };
}

async function answered(words: string, answer: InteractionAnswer): Promise<readonly HarnessEvent[]> {
  const { session, listener } = await open();
  await session.startTurn(prompt(words));
  const opened = await listener.until("a request", ({ type }) => type === "interaction.opened");
  if (opened.type !== "interaction.opened") throw new Error("no request");
  await session.answer(opened.interaction.id, answer);
  return listener.turnEnd(0);
}

const outputs = (events: readonly HarnessEvent[]): string[] => summarizeTurn(events).items.map(({ output }) => output).filter((output) => output !== "");

describe("answers as the program gets them", () => {
  test("always is for this session, whatever place the program suggests", async () => {
    const [output] = outputs(await answered("approve it", { kind: "approval", decision: "acceptForSession" }));
    expect(JSON.parse(output!)).toEqual([{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "rm *" }], behavior: "allow", destination: "session" }]);
  });

  test("a refusal brings its words", async () => {
    const events = await answered("approve it", { kind: "approval", decision: "decline", text: "not like this" });
    expect(outputs(events)).toEqual(["not like this"]);
    expect(summarizeTurn(events)).toMatchObject({ outcome: "succeeded", items: [{ status: "declined" }, { kind: "message" }] });
  });

  test("a refusal that ends the turn", async () => {
    expect(summarizeTurn(await answered("approve it", { kind: "approval", decision: "cancel" })).outcome).toBe("cancelled");
  });

  test("a question is answered under its own text", async () => {
    expect(outputs(await answered("ask me", { kind: "question", answers: { q1: ["This", "my own"] } }))).toEqual(["{\"Which?\":\"This, my own\"}"]);
  });
});

test("a turn that the agent starts by itself has its key and its news from the file", async () => {
  const { session, listener } = await open();
  await session.startTurn(prompt("background job"));
  const events = await listener.turnEnd(1);
  expect(orderFaults(events)).toEqual([]);
  expect(events[0]).toMatchObject({ type: "turn.started", origin: "agent", input: [] });
  expect(summarizeTurn(events).items.map(({ kind, name }) => name ?? kind)).toEqual(["task-notification", "reasoning", "message"]);
  const index = await history.open(session.file!);
  expect(index.turns.map(({ key }) => key)).toEqual([0, 1].map((n) => (listener.turn(n)[0] as { turnKey: string }).turnKey));
  const [, saved] = await readTurns(index);
  expect(summarizeTurn(saved!).items).toEqual(summarizeTurn(events).items);
});

describe("what a sub-agent asks when no turn runs", () => {
  const asked = async (words: string): Promise<{ session: HarnessSession; listener: SessionListener; id: string }> => {
    const { session, listener } = await open();
    await session.startTurn(prompt(words));
    await listener.turnEnd(0);
    const opened = await listener.until("a request", ({ type }) => type === "interaction.opened");
    return { session, listener, id: opened.type === "interaction.opened" ? opened.interaction.id : "" };
  };

  test("is asked in a turn of its own, which ends with the answer", async () => {
    const { session, listener, id } = await asked("use a sub-agent");
    await session.answer(id, { kind: "approval", decision: "accept" });
    const events = await listener.turnEnd(1);
    expect(orderFaults(events)).toEqual([]);
    expect(summarizeTurn(events)).toMatchObject({ items: [], outcome: "succeeded" });
    expect(summarizeTurn(await listener.turnEnd(2)).items.map(({ name, kind }) => name ?? kind)).toEqual(["task-notification", "reasoning", "message"]);
  });

  test("is refused when that turn is cancelled", async () => {
    const { session, listener } = await asked("use a sub-agent");
    await session.cancel();
    expect(summarizeTurn(await listener.turnEnd(1)).outcome).toBe("cancelled");
    await listener.turnEnd(2);
  });

  test("goes on in the turn that begins meanwhile", async () => {
    const { session, listener, id } = await asked("use a sub-agent");
    await session.steer(prompt("go on long"));
    const first = await listener.turnEnd(1);
    const second = await listener.until("the next turn", ({ type }) => type === "item.started", listener.events.indexOf(first.at(-1)!));
    expect(first).toContainEqual(expect.objectContaining({ type: "interaction.closed", interactionId: id, reason: "superseded" }));
    expect(second).toMatchObject({ item: { kind: "tool" } });
    await session.answer(id, { kind: "approval", decision: "accept" });
    await session.cancel();
    const events = await listener.turnEnd(2);
    expect(orderFaults(events)).toEqual([]);
    expect(events[0]).toMatchObject({ input: [{ text: "go on long" }] });
  });
});

test("a program that dies says how, with its last words and without its secrets", async () => {
  const { session, listener } = await open();
  await session.startTurn(prompt("crash now"));
  await listener.untilEnded();
  expect(listener.events.at(-1)).toMatchObject({
    type: "fault", error: { message: "Claude Code ended unexpectedly (signal SIGKILL).", details: "fatal: token [redacted] was refused" },
  });
  const again = await bench!.adapter.open({ kind: "resume", nativeSessionId: session.nativeSessionId, options: options(bench!.workspace) });
  const next = new SessionListener(again);
  await again.startTurn(prompt("hello again"));
  expect(summarizeTurn(await next.turnEnd(0)).outcome).toBe("succeeded");
});

test("model and mode are what the program confirms, from the start and later", async () => {
  const { session, listener } = await open({ model: "opus", thinking: "high", permissionMode: "plan" });
  await session.startTurn(prompt("hello"));
  await listener.turnEnd(0);
  await session.select({ model: "default", permissionMode: ":workspace" });
  await session.startTurn(prompt("hello"));
  await listener.turnEnd(1);
  const states = listener.events.flatMap((event) => (event.type === "session.state" ? [event.state] : []));
  expect(states.map(({ model }) => model).filter((model) => model !== undefined)).toEqual(["opus", "default"]);
  expect(states.map(({ permissionMode }) => permissionMode).filter((mode) => mode !== undefined)).toEqual(["plan", "acceptEdits"]);
});

test("a copy of a session has other ids and the same lines, and says what it is a copy of", async () => {
  const { session, listener } = await open();
  await session.startTurn(prompt("hello"));
  await listener.turnEnd(0);
  const fork = await bench!.adapter.open({ kind: "fork", nativeSessionId: session.nativeSessionId, options: options(bench!.workspace) });
  const lines = (file: string): Record<string, unknown>[] => readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
  const [source, copy] = [lines(session.file!), lines(fork.file!)];
  expect(copy.map(({ uuid }) => uuid)).toEqual(source.map(({ uuid }) => uuid));
  for (const line of copy) expect(line).toMatchObject({ sessionId: fork.nativeSessionId, forkedFrom: { sessionId: session.nativeSessionId } });
});

test("a command that would leave the session is refused", async () => {
  const { session } = await open();
  await expect(session.startTurn(prompt("/clear"))).rejects.toThrow("start a new thread");
  await expect(session.startTurn(prompt("/clearly a prompt"))).resolves.toBeUndefined();
});

test("images go to the program as they are, or as what they hold", async () => {
  const { session, listener } = await open();
  const image = { type: "image" as const, url: "data:image/png;base64,QUJD" };
  await session.startTurn({ input: [{ type: "text", text: "look", text_elements: [] }, image], clientId: null });
  await listener.turnEnd(0);
  const [saved] = await readTurns(await history.open(session.file!));
  expect(saved![0]).toMatchObject({ type: "turn.started", input: [{ type: "text", text: "look" }, image] });
  await expect(session.startTurn({ input: [{ type: "localImage", path: "/nowhere/a.png" }], clientId: null })).rejects.toThrow("cannot be read");
  await expect(session.startTurn({ input: [{ type: "localImage", path: "/nowhere/a.tiff" }], clientId: null })).rejects.toThrow("none of them");
});
