import { existsSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { readTurns, SessionListener } from "@foldcast/adapter-kit/conformance";
import type { ScenarioInput } from "../scenario/schema.ts";
import { bundledChild, makeHarness, options, prompt, scenario, shape, SOURCE_CHILD, start, type TestHarness } from "../testing.ts";

const childCommand = await bundledChild();
let harness: TestHarness | null = null;
afterEach(async () => {
  await harness?.cleanup();
  harness = null;
});

const crashing: ScenarioInput = scenario("test", { steps: [{ message: "before", id: "m", chunks: 2 }, { crash: true }, { message: "never" }] }, { match: "fine", steps: [{ message: "fine" }] });
const before = [
  { type: "item.started", item: { kind: "message", id: "m" } },
  { type: "item.updated", itemId: "m", update: { type: "text", append: "bef" } },
  { type: "item.updated", itemId: "m", update: { type: "text", append: "ore" } },
  { type: "item.completed", itemId: "m", outcome: { status: "succeeded" } },
];

describe.each([
  ["in this process", {}, { message: "The scripted harness crashed, as its scenario says." }],
  ["in a child process", { process: true, childCommand }, { message: "The scripted process ended unexpectedly (exit code 70).", details: null }],
])("a crash %s", (_, settings, error) => {
  it("is a fault behind all events before it, the same in the file, and the session can be resumed", async () => {
    harness = await makeHarness([crashing], settings);
    const { session, listener } = await start(harness.adapter, "test");
    await listener.untilEnded();
    const live = listener.turn(0);
    expect(shape(live)).toEqual([...before, { type: "fault", error }]);
    await expect(session.startTurn(prompt("fine"))).rejects.toThrow("has failed");
    const index = await harness.adapter.history!.open(session.file!);
    expect(await readTurns(index)).toEqual([live]);
    expect(index.turns).toMatchObject([{ key: "t1", outcome: { status: "failed", error } }]);
    const resumed = await harness.adapter.open({ kind: "resume", nativeSessionId: session.nativeSessionId, options: options() });
    const again = new SessionListener(resumed);
    await resumed.startTurn(prompt("fine"));
    expect((await again.turnEnd(0)).at(-1)).toMatchObject({ type: "turn.completed", outcome: { status: "succeeded" } });
    await index.refresh();
    expect(index.turns.map((turn) => turn.key)).toEqual(["t1", "t2"]);
  });
});

describe("the child process", () => {
  /** Empty for a process that has gone meanwhile. */
  const commandOf = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  /** Pids of the children of a session, by the only trace that they leave: the process list. */
  const childPids = (): number[] => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)
    .filter((pid) => commandOf(pid).includes(childCommand[1]!));

  it("starts from source as well as from a bundle", async () => {
    harness = await makeHarness([crashing], { process: true, childCommand: SOURCE_CHILD });
    const { listener } = await start(harness.adapter, "test", "fine");
    expect((await listener.turnEnd(0)).at(-1)).toMatchObject({ outcome: { status: "succeeded" } });
  });

  it("plays the same events as this process does", async () => {
    const played = [];
    for (const settings of [{}, { process: true, childCommand }]) {
      harness = await makeHarness([], settings);
      const { listener } = await start(harness.adapter, "demo");
      played.push(shape(await listener.turnEnd(0)));
      await harness.cleanup();
    }
    expect(played[1]).toEqual(played[0]);
  });

  it("is a fault when it is killed during a turn, and says so in the file", async () => {
    harness = await makeHarness([], { process: true, childCommand, speed: 1 });
    const { session, listener } = await start(harness.adapter, "slow");
    await listener.until("text", (event) => event.type === "item.updated");
    for (const pid of childPids()) process.kill(pid, "SIGKILL");
    await listener.untilEnded();
    expect(listener.events.at(-1)).toMatchObject({ type: "fault", error: { message: "The scripted process ended unexpectedly (signal SIGKILL)." } });
    expect(readFileSync(session.file!, "utf8").trimEnd().split("\n").at(-1)).toContain("\"fault\"");
  });

  it("is replaced with the next turn when it died between two", async () => {
    harness = await makeHarness([crashing], { process: true, childCommand });
    const { session, listener } = await start(harness.adapter, "test", "fine");
    await listener.turnEnd(0);
    const [first] = childPids();
    process.kill(first!, "SIGKILL");
    // Not only dead: this process, too, knows of its end.
    await expect.poll(() => existsSync(`/proc/${first!}`)).toBe(false);
    await session.startTurn(prompt("fine"));
    expect((await listener.turnEnd(1)).at(-1)).toMatchObject({ outcome: { status: "succeeded" } });
    expect(childPids()).not.toContain(first);
  });

  it("is gone when the session is closed, also in the middle of a turn", async () => {
    harness = await makeHarness([], { process: true, childCommand, speed: 1 });
    const { session, listener } = await start(harness.adapter, "slow");
    await listener.until("text", (event) => event.type === "item.updated");
    expect(childPids().length).toBe(1);
    await session.close();
    expect(childPids()).toEqual([]);
  });

  it("refuses the turn, not the session, when it cannot be started", async () => {
    harness = await makeHarness([], { process: true, childCommand: ["/nowhere/at-all"] });
    const session = await harness.adapter.open({ kind: "create", options: options("plain") });
    await expect(session.startTurn(prompt("go"))).rejects.toThrow("Could not start /nowhere/at-all");
    await expect(session.startTurn(prompt("go"))).rejects.toThrow("Could not start");
    const index = await harness.adapter.history!.open(session.file!);
    expect(index.turns).toEqual([]);
  });

  it("is a fault when it writes nonsense and ends, with the end of its stderr", async () => {
    const nonsense = "process.stdin.once('data', () => { console.log('nonsense'); console.error('the reason'); process.exit(1); })";
    harness = await makeHarness([], { process: true, childCommand: [process.execPath, "-e", nonsense] });
    const { listener } = await start(harness.adapter, "plain");
    await listener.untilEnded();
    expect(shape(listener.turn(0))).toEqual([{ type: "fault", error: { message: "The scripted process ended unexpectedly (exit code 1).", details: "the reason\n" } }]);
  });
});
