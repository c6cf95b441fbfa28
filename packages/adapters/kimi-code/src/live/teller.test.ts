import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { PromptAnswer } from "@foldcast/adapter-kit/acp";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import type { HarnessEvent, TurnInput } from "@foldcast/protocol-core/harness";
import { SideFiles } from "../history/side-files.ts";
import { begin, calls, copy, ended, finish, type Line, prompt, result, says, shown, text } from "../history/testing.ts";
import { WireTeller } from "./teller.ts";

const PATIENT = { timeout: 15_000, interval: 20 };
const SUCCEEDED: PromptAnswer = { outcome: { status: "succeeded" }, usage: null, end: () => [], last: false };
const typed = (words: string): TurnInput => ({ input: [{ type: "text", text: words, text_elements: [] }], clientId: "c" });
const streams = (id: string, words: string): HarnessEvent[] => [
  { type: "item.started", item: { kind: "message", id }, at: 1 }, { type: "item.updated", itemId: id, update: { type: "text", append: words }, at: 1 }, { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at: 1 },
];
const answer = (words: string): Line[] => [begin(`s-${words}`), says(`s-${words}`, words), finish(`s-${words}`, "end_turn")];

const bench = { folders: [] as string[], tellers: [] as WireTeller[] };
afterEach(async () => {
  for (const teller of bench.tellers.splice(0)) await teller.close();
  for (const folder of bench.folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A session whose file is there, and what its teller tells. */
async function session(lines: readonly Line[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "kimi-teller-"));
  bench.folders.push(folder);
  const file = join(folder, "agents/main/wire.jsonl");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text([{ type: "metadata", protocol_version: "1.5" }, ...lines]));
  const events: HarnessEvent[] = [];
  const asked: string[] = [];
  let ids = 0;
  const teller = await WireTeller.start({
    now: Date.now, newId: () => `id-${(ids += 1)}`, emit: (given) => void events.push(...given), contextWindow: () => 1000,
    request: (method) => {
      asked.push(method);
      return Promise.resolve({});
    },
  }, { sessionId: "session_x", file, cwd: folder }, new SideFiles(file));
  bench.tellers.push(teller);
  return {
    teller, events, asked,
    write: (...more: Line[]) => appendFileSync(file, text(more)),
    /** Events of each turn so far; every one that is over must be lawful. */
    turns: (): HarnessEvent[][] => {
      const turns: HarnessEvent[][] = [];
      for (const event of events) {
        if (event.type === "turn.started") turns.push([]);
        if (event.type !== "session.state") turns.at(-1)?.push(event);
      }
      for (const turn of turns) expect(orderFaults(turn, { ended: turn.at(-1)?.type === "turn.completed" })).toEqual([]);
      return turns;
    },
    told: (wanted: number) => vi.waitFor(() => expect(events.filter(({ type }) => type === "turn.completed").length).toBe(wanted), PATIENT),
  };
}

describe("a prompt", () => {
  it("begins its turn at once, under the number that comes next", async () => {
    const { teller, events } = await session([prompt("before", { turnId: 6 }), ended("completed")]);
    teller.begin(typed("hello"));
    expect(events).toMatchObject([{ type: "turn.started", turnKey: "turn-7", input: [{ text: "hello" }], clientId: "c", origin: "user" }]);
  });

  it("is told as it streams, with what only the file knows", async () => {
    const { teller, write, turns } = await session();
    teller.begin(typed("hello"));
    teller.told(streams("a", "Hello."));
    write(prompt("hello", { turnId: 0 }), copy("hello"), ...answer("Hello."), { type: "usage.record", usageScope: "turn", usage: { inputOther: 3, output: 2 } }, ended("completed", { durationMs: 40 }));
    await teller.answered(SUCCEEDED);
    const [turn] = turns();
    expect(shown(turn!)).toEqual(["message -> succeeded", "succeeded"]);
    expect(turn!.at(-1)).toMatchObject({ type: "turn.completed", durationMs: 40 });
  });

  it("that failed is answered like a good one, and fails as the file says", async () => {
    const { teller, write, turns } = await session();
    teller.begin(typed("hello"));
    write(prompt("hello", { turnId: 0 }), begin("1"), finish("1", "error"), ended("failed", { error: { code: "provider.rate_limit", message: "429 Too many.", details: { statusCode: 429 } } }));
    await teller.answered(SUCCEEDED);
    expect(turns()[0]!.at(-1)).toMatchObject({ outcome: { status: "failed", error: { message: expect.stringContaining("Too many."), code: { responseTooManyFailedAttempts: { httpStatusCode: 429 } } } } });
  });

  it("that the program answers by itself is a turn without the file", async () => {
    const { teller, turns } = await session();
    teller.begin(typed("/status"));
    expect(turns()).toEqual([]);
    teller.told(streams("a", "Model: x"));
    await teller.answered(SUCCEEDED);
    expect(shown(turns()[0]!)).toEqual(["message -> succeeded", "succeeded"]);
  });
});

describe("a compaction", () => {
  it("whose last word comes in the next turn is not told again there", async () => {
    const { teller, write, turns } = await session();
    teller.begin(null);
    write({ type: "full_compaction.begin", source: "manual" }, { type: "context.apply_compaction", summary: "Short." });
    await teller.answered(SUCCEEDED);
    teller.begin(typed("what was it?"));
    write({ type: "full_compaction.complete" }, prompt("what was it?", { turnId: 0 }), ...answer("Seven."), ended("completed"));
    await teller.answered(SUCCEEDED);
    expect(turns().map(shown)).toEqual([["compaction -> succeeded", "succeeded"], ["message Seven. -> succeeded", "succeeded"]]);
  });

  it.each([["/compact", [], "agent"], ["/compact keep the names", [{ text: "/compact keep the names" }], "user"]])("that is typed as %s is one turn", async (words, input, origin) => {
    const { teller, write, turns } = await session();
    teller.begin(typed(words));
    write({ type: "full_compaction.begin", source: "manual" }, { type: "context.apply_compaction", summary: "Short." }, { type: "full_compaction.complete" });
    await teller.answered(SUCCEEDED);
    expect(turns().map(shown)).toEqual([["compaction -> succeeded", "succeeded"]]);
    expect(turns()[0]![0]).toMatchObject({ input, origin });
  });

  it("in the middle of a turn is an item of it", async () => {
    const { teller, write, turns } = await session();
    teller.begin(typed("go on"));
    write(prompt("go on", { turnId: 0 }), { type: "full_compaction.begin", source: "auto" }, { type: "context.apply_compaction" }, { type: "full_compaction.complete" }, ...answer("On."), ended("completed"));
    await teller.answered(SUCCEEDED);
    expect(turns().map(shown)).toEqual([["compaction -> succeeded", "message On. -> succeeded", "succeeded"]]);
  });
});

describe("what the agent does by itself", () => {
  const NEWS = "<notification id=\"task:t1:completed\" category=\"task\" type=\"task.completed\" source_kind=\"background_task\" source_id=\"t1\">\nTitle: done\n</notification>";
  const news: Line = { type: "turn.prompt", turnId: 1, input: [{ type: "text", text: NEWS }], origin: { kind: "task", taskId: "t1", status: "completed", notificationId: "task:t1:completed" } };

  it("is a turn of its own, and its tasks are counted meanwhile", async () => {
    const { teller, write, turns, told, events } = await session();
    teller.begin(typed("start"));
    write(prompt("start", { turnId: 0 }), { type: "task.started", info: { taskId: "t1", status: "running", detached: true } }, ...answer("Started."), ended("completed"));
    await teller.answered(SUCCEEDED);
    write({ type: "task.terminated", info: { taskId: "t1", status: "completed", detached: true } }, news, ...answer("It is done."), ended("completed"));
    await told(2);
    expect(turns()[1]![0]).toMatchObject({ turnKey: "turn-1", origin: "agent", input: [] });
    expect(shown(turns()[1]!).slice(-2)).toEqual(["message It is done. -> succeeded", "succeeded"]);
    expect(events.flatMap((event) => (event.type === "session.state" ? [event.state.backgroundTasks] : []))).toEqual([1, 0]);
  });

  it("is stopped by closing the session, which goes on at once", async () => {
    const { teller, write, asked, turns, told } = await session();
    write(news, begin("1"), calls("1", "c", "Bash", { command: "sleep 9" }));
    await vi.waitFor(() => expect(teller.busy).toBe(true), PATIENT);
    const stopping = teller.cancelOwn();
    write(result("c", "Interrupted by user", { isError: true }), finish("1", "interrupted"), ended("cancelled"));
    await stopping;
    await told(1);
    expect(asked).toEqual(["session/close", "session/resume"]);
    expect(turns()[0]!.at(-1)).toMatchObject({ outcome: { status: "cancelled" } });
  });
});

it("a program that died has told all that its file holds", async () => {
  const { teller, write, turns } = await session();
  teller.begin(typed("hello"));
  write(prompt("hello", { turnId: 0 }), begin("1"), says("1", "Half"));
  await teller.settle();
  expect(shown(turns()[0]!)).toEqual(["message Half -> succeeded"]);
});
