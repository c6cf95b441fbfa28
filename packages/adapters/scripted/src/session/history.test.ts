import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { orderFaults, readTurns, SessionListener } from "@foldcast/adapter-kit/conformance";
import type { HarnessEvent, HarnessSession } from "@foldcast/protocol-core/harness";
import { makeHarness, options, prompt, scenario, start, type TestHarness } from "../testing.ts";

const EMOJI = "👨‍👩‍👧‍👦🏳️‍🌈é\u2028\ud83d\"\\\u0000ü";
let harness: TestHarness;
beforeEach(async () => {
  harness = await makeHarness([
    scenario("hold", { steps: [{ message: "one" }, { approve: { id: "a", kind: "tool" } }, { message: "two" }] }),
    scenario("unicode", { steps: [{ message: EMOJI, chunks: 9 }, { tool: { id: "t", name: EMOJI, input: { [EMOJI]: EMOJI } } }, { output: "t", text: EMOJI }] }),
    scenario("long-line", { steps: [{ tool: { id: "t", name: "shell" } }, { output: "t", text: "ü".repeat(2_500_000) + "\n" }, { result: { id: "t" } }] }),
    scenario("lines", { steps: [
      { tool: { id: "t", name: "shell" } },
      { output: "t", text: Array.from({ length: 10_000 }, (_, index) => `${index}\n`).join(""), chunks: 10_000 },
      { result: { id: "t" } },
    ] }),
  ]);
});
afterEach(() => harness.cleanup());

const source = () => harness.adapter.history!;
const turnEvents = (text: string): HarnessEvent[] => text.trimEnd().split("\n").slice(1)
  .map((line) => JSON.parse(line) as { turn?: string; event: HarnessEvent }).filter((line) => line.turn !== undefined).map((line) => line.event);

/** A session that was left in the middle of its second turn, as a kill would leave it. */
async function killedSession(): Promise<{ id: string; file: string }> {
  const { session, listener } = await start(harness.adapter, "plain", "first");
  await listener.turnEnd(0);
  await session.select({ model: "hold" });
  await session.startTurn(prompt("second"));
  await listener.until("the request", (event) => event.type === "interaction.opened");
  const { size } = { size: readFileSync(session.file!).length };
  await session.close();
  truncateSync(session.file!, size);
  return { id: session.nativeSessionId, file: session.file! };
}

describe("the session file", () => {
  it.each(["demo", "unicode", "lines", "failure"])("holds every event of %s before it is read, and gives the same events back", async (model) => {
    const session = await harness.adapter.open({ kind: "create", options: options(model) });
    await session.startTurn(prompt(`go ${EMOJI}`, "c"));
    const live: HarnessEvent[] = [];
    let last = "";
    for await (const event of session.events) {
      // Looking at all 20,000 states of a long file would only repeat itself.
      if (live.length < 200 || event.type === "turn.completed") {
        last = readFileSync(session.file!, "utf8");
        expect(last).toContain(JSON.stringify(event));
      }
      live.push(event);
      if (event.type === "turn.completed") break;
    }
    expect(turnEvents(last)).toEqual(live.filter((event) => event.type !== "session.state"));
    const index = await source().open(session.file!);
    expect(await readTurns(index)).toEqual([live.filter((event) => event.type !== "session.state")]);
    expect(index.diagnostics).toEqual([]);
  });

  it("takes lines of 5 MB", async () => {
    const { session, listener } = await start(harness.adapter, "long-line");
    const live = await listener.turnEnd(0);
    const index = await source().open(session.file!);
    expect(await readTurns(index)).toEqual([live]);
  });

  it("begins with a header that says what and where", async () => {
    const { session } = await start(harness.adapter, "plain");
    const [header] = readFileSync(session.file!, "utf8").split("\n");
    expect(JSON.parse(header!)).toEqual({
      type: "session", version: 1, harness: "scripted", id: session.nativeSessionId, cwd: "/workspace", createdAt: expect.any(Number), model: "plain",
    });
    expect(session.file).toBe(join(harness.folder, "scripted", "sessions", `${session.nativeSessionId}.jsonl`));
  });

  it("is recognised by its first bytes, even cut ones, and not by those of others", () => {
    const head = `{"type":"session","version":1,"harness":"scripted","id":"x","cwd":"/","createdAt":1,"model":"m"}\n{"event"`;
    expect(source().recognises("/a/b.jsonl", head)).toBe(true);
    expect(source().recognises("/a/b.jsonl", head.slice(0, 60))).toBe(true);
    expect(source().recognises("/a/b.json", head)).toBe(false);
    expect(source().recognises("/a/b.jsonl", head.replace("scripted", "other"))).toBe(false);
    expect(source().recognises("/a/b.jsonl", `{"type":"session","version":3,"id":"x","cwd":"/"}\n`)).toBe(false);
    expect(source().recognises("/a/b.jsonl", "")).toBe(false);
  });
});

describe("the index", () => {
  it("tells prompt, outcome and times of each turn", async () => {
    const { session, listener } = await start(harness.adapter, "plain", `${"x".repeat(199)}😀 and more`);
    await listener.turnEnd(0);
    await session.select({ model: "failure" });
    await session.startTurn(prompt("build"));
    const second = await listener.turnEnd(1);
    const index = await source().open(session.file!);
    expect(index.turns.map(({ key, prompt: words, outcome }) => [key, words, outcome.status])).toEqual([["t1", "x".repeat(199), "succeeded"], ["t2", "build", "failed"]]);
    expect(index.turns[1]).toMatchObject({ startedAt: second[0]!.at, completedAt: second.at(-1)!.at });
    expect([index.cwd, index.title, index.parentNativeSessionId]).toEqual(["/workspace", null, null]);
  });

  it("reads a turn that still runs as it stands, and goes on with it", async () => {
    const { session, listener } = await start(harness.adapter, "hold");
    await listener.until("the request", (event) => event.type === "interaction.opened");
    const index = await source().open(session.file!);
    expect(index.turns).toMatchObject([{ key: "t1", outcome: { status: "unknown" }, completedAt: null }]);
    expect(await readTurns(index)).toEqual([listener.turn(0)]);
    await session.answer("a", { kind: "approval", decision: "accept" });
    const live = await listener.turnEnd(0);
    expect(await index.refresh()).toBe(true);
    expect(index.turns).toMatchObject([{ key: "t1", outcome: { status: "succeeded" } }]);
    expect(await readTurns(index)).toEqual([live]);
  });

  it("reads a turn that a kill broke off as cancelled, in order", async () => {
    const { file } = await killedSession();
    const index = await source().open(file);
    expect(index.turns.map((turn) => turn.outcome.status)).toEqual(["succeeded", "cancelled"]);
    const [, second] = await readTurns(index);
    expect(orderFaults(second!)).toEqual([]);
    expect(second!.slice(-2)).toEqual([
      { type: "interaction.closed", interactionId: "a", reason: "cancelled", at: null },
      { type: "turn.completed", outcome: { status: "cancelled" }, at: null },
    ]);
    expect(index.diagnostics).toEqual([{ code: "unfinishedTurn", count: 1, sample: null }]);
  });

  it("skips and counts lines that are broken, cut or foreign", async () => {
    const { session, listener } = await start(harness.adapter, "plain");
    const live = await listener.turnEnd(0);
    await session.close();
    const lines = readFileSync(session.file!, "utf8").trimEnd().split("\n");
    const [header, state, ...turn] = lines;
    const bad = ["{\"turn\":\"t1\",\"event\":{", "null", "[]", "{}", "{\"event\":7}", "", "{\"turn\":7,\"event\":{\"type\":\"x\"}}"];
    writeFileSync(session.file!, [header, state, ...turn.flatMap((line, index) => [bad[index % bad.length]!, line]), turn[0]!.slice(0, 40)].join("\n"));
    const index = await source().open(session.file!);
    expect(await readTurns(index)).toEqual([live]);
    const codes = Object.fromEntries(index.diagnostics.map(({ code, count }) => [code, count]));
    expect(codes).toEqual({ unreadableLine: turn.filter((_, at) => bad[at % bad.length] !== "").length, truncatedLine: 1 });
  });

  it("takes a cut last line up again once it is whole", async () => {
    const { session, listener } = await start(harness.adapter, "plain");
    const live = await listener.turnEnd(0);
    await session.close();
    const whole = readFileSync(session.file!, "utf8");
    const cut = whole.trimEnd().lastIndexOf("\n") + 30;
    writeFileSync(session.file!, whole.slice(0, cut));
    const index = await source().open(session.file!);
    expect(index.diagnostics.map(({ code }) => code)).toEqual(["truncatedLine", "unfinishedTurn"]);
    appendFileSync(session.file!, whole.slice(cut).trimEnd());
    expect(await index.refresh()).toBe(true);
    expect(index.diagnostics).toEqual([]);
    expect(await readTurns(index)).toEqual([live]);
    appendFileSync(session.file!, "\n");
    await index.refresh();
    expect(index.diagnostics).toEqual([]);
    expect(await readTurns(index)).toEqual([live]);
  });

  it("scans a rewritten file anew, and says when it is ours no more", async () => {
    const { session, listener } = await start(harness.adapter, "plain");
    await listener.turnEnd(0);
    await session.startTurn(prompt("again"));
    await listener.turnEnd(1);
    await session.close();
    const index = await source().open(session.file!);
    const lines = readFileSync(session.file!, "utf8").split("\n");
    writeFileSync(session.file!, lines.filter((line) => !line.startsWith("{\"turn\":\"t1\"")).join("\n"));
    expect(await index.refresh()).toBe(true);
    expect(index.turns.map((turn) => turn.key)).toEqual(["t2"]);
    writeFileSync(session.file!, "something else");
    await expect(index.refresh()).rejects.toThrow("no session of the scripted harness");
  });
});

describe("resuming", () => {
  const resume = (id: string, cwd = "/workspace"): Promise<HarnessSession> =>
    harness.adapter.open({ kind: "resume", nativeSessionId: id, options: { ...options(), cwd } });

  it("goes on in the file, behind half a line that a kill left, with the model and the numbers of before", async () => {
    const { id, file } = await killedSession();
    appendFileSync(file, "{\"turn\":\"t2\",\"ev");
    const session = await resume(id, "/elsewhere");
    const listener = new SessionListener(session);
    await session.startTurn(prompt("third"));
    const third = await listener.turnEnd(0);
    expect(third[0]).toMatchObject({ turnKey: "t3", model: "plain", cwd: "/elsewhere" });
    expect(readFileSync(file, "utf8").split("\n")).toContain("{\"turn\":\"t2\",\"ev");
    const index = await source().open(file);
    expect(index.turns.map(({ key, outcome }) => [key, outcome.status])).toEqual([["t1", "succeeded"], ["t2", "cancelled"], ["t3", "succeeded"]]);
    expect((await readTurns(index))[2]).toEqual(third);
    expect(index.diagnostics.map(({ code }) => code)).toEqual(["unreadableLine", "unfinishedTurn"]);
  });

  it("refuses a second writer until the first is closed", async () => {
    const { session } = await start(harness.adapter, "plain");
    await expect(resume(session.nativeSessionId)).rejects.toThrow("open already");
    await session.close();
    const [first, second] = await Promise.allSettled([resume(session.nativeSessionId), resume(session.nativeSessionId)]);
    expect([first.status, second.status].sort()).toEqual(["fulfilled", "rejected"]);
  });
});

describe("forking", () => {
  it("copies everything without a turn key, a turn that runs as far as it got", async () => {
    const { session, listener } = await start(harness.adapter, "hold");
    await listener.until("the request", (event) => event.type === "interaction.opened");
    const fork = await harness.adapter.open({ kind: "fork", nativeSessionId: session.nativeSessionId, options: options() });
    const copy = await source().open(fork.file!);
    expect(copy.turns).toMatchObject([{ key: "t1", outcome: { status: "cancelled" } }]);
    expect(copy.parentNativeSessionId).toBe(session.nativeSessionId);
    expect(JSON.parse(readFileSync(fork.file!, "utf8").split("\n")[0]!)).toMatchObject({ forkedFrom: { id: session.nativeSessionId }, model: "hold" });
    const forked = new SessionListener(fork);
    await fork.startTurn(prompt("on"));
    expect(await forked.until("the second turn", (event) => event.type === "turn.started")).toMatchObject({ turnKey: "t2" });
  });
});
