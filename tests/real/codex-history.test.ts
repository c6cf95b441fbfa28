import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { startModelServer, type ScenarioInput } from "../model-server/index.ts";
import { differences, type Difference } from "../support/codex-differences.ts";
import { CodexThreads, projected } from "../support/codex-threads.ts";
import { SHARED } from "../support/paths.ts";
import exceptions from "./codex-history-exceptions.json" with { type: "json" };

/** Where a difference may be, and why it is right there. */
interface Exception {
  difference: string;
  /** Names of recordings and of tests. */
  in: string[];
  reason: string;
}

const met = new Set<string>();
const known = new Set((exceptions as Exception[]).flatMap((exception) => exception.in.map((place) => `${place}: ${exception.difference}`)));

/** Every difference that stands in no exception. */
function unexplained(place: string, found: readonly Difference[]): Difference[] {
  for (const { kind } of found) met.add(`${place}: ${kind}`);
  return found.filter(({ kind }) => !known.has(`${place}: ${kind}`));
}

/** What the model says: each key of the prompt has its answer, each call's result the next one. */
const SCENARIO: ScenarioInput = {
  replies: [
    { match: { says: "use the tools" }, blocks: [{ thinking: "**Look**\n\nFirst." }, { text: "I look." }, { tool: { id: "c1", name: "exec_command", input: { cmd: "cat a.txt && ls" } } }], times: 0 },
    { match: { resultOf: "c1" }, blocks: [{ tool: { id: "c2", name: "update_plan", input: { plan: [{ step: "Edit", status: "in_progress" }] } } }], times: 0 },
    { match: { resultOf: "c2" }, blocks: [{ tool: { id: "c3", name: "apply_patch", input: "*** Begin Patch\n*** Add File: new.txt\n+hi\n*** Update File: a.txt\n@@\n-one\n+ONE\n two\n*** End Patch" } }], times: 0 },
    { match: { resultOf: "c3" }, blocks: [{ tool: { id: "c4", name: "view_image", input: { path: "none.png" } } }, { tool: { id: "c5", name: "exec_command", input: { cmd: "exit 3" } } }], times: 0 },
    { match: { resultOf: "c5" }, blocks: [{ text: "Done with the tools." }], times: 0 },
    { match: { says: "use a program" }, blocks: [{ text: "A program." }, { tool: { id: "p1", name: "exec", input: "const [a, b] = await Promise.all([tools.exec_command({cmd: \"sleep 0.2; echo a\"}), tools.exec_command({cmd: \"echo b\"})]); text(a.output + b.output)" } }], times: 0 },
    { match: { resultOf: "p1" }, blocks: [{ tool: { id: "p2", name: "exec", input: "await tools.apply_patch(\"*** Begin Patch\\n*** Add File: p.txt\\n+p\\n*** End Patch\")" } }], times: 0 },
    { match: { resultOf: "p2" }, blocks: [{ tool: { id: "p3", name: "exec", input: "text(ALL_TOOLS.length > 0); await tools.nothing({})" } }], times: 0 },
    { match: { resultOf: "p3" }, blocks: [{ tool: { id: "p4", name: "exec", input: "await tools.update_plan({plan: [{step: \"a\", status: \"completed\"}]})" } }], times: 0 },
    { match: { resultOf: "p4" }, blocks: [{ text: "Done with programs." }], times: 0 },
    { match: { says: "fail now" }, error: { status: 400, type: "invalid_request_error", message: "no such thing" }, times: 0 },
    { match: { says: "go on for long" }, blocks: [{ text: "I begin." }, { tool: { id: "l1", name: "exec_command", input: { cmd: "echo started; until [ -e end ]; do sleep 0.1; done", yield_time_ms: 30_000 } } }], times: 0 },
    { blocks: [{ text: "All good." }], times: 0 },
  ],
};

describe.runIf(existsSync(SHARED))("recorded rollouts, as the real app-server tells them", () => {
  const files = ["data/codex/rollouts", "data/sessions/codex"].flatMap((folder) => readdirSync(join(SHARED, folder)).filter((name) => name.endsWith(".jsonl")).map((name) => join(SHARED, folder, name)));

  test("every one that it can open", async () => {
    await using codex = await CodexThreads.prepare();
    const refused: string[] = [];
    for (const file of files) {
      const name = basename(file);
      const text = readFileSync(file, "utf8");
      const { payload } = JSON.parse(text.slice(0, text.indexOf("\n"))) as { payload: { id: string; timestamp: string } };
      const placed = codex.place(text, payload.id, payload.timestamp);
      const native = await codex.read(payload.id).catch(() => null);
      if (native === null) refused.push(name);
      else expect.soft(unexplained(name, differences(native, (await projected(placed)).turns)), name).toEqual([]);
    }
    // It refers to a place in its parent's file by bytes, and the recording of that one is shortened.
    expect(refused).toEqual(["paginated-forked-archived.jsonl"]);
  });
});

describe("rollouts that the real app-server writes", () => {
  async function compareAll(codex: CodexThreads, ids: readonly string[]): Promise<void> {
    const place = expect.getState().currentTestName!.split(" > ").at(-1)!;
    await codex.restart();
    for (const id of ids) {
      const native = await codex.read(id);
      expect(native.length).toBeGreaterThan(0);
      // Of several parts the last one counts.
      const file = codex.rollouts().findLast((path) => new RegExp(`-${id}(?:_[0-9a-f-]+)?\\.jsonl$`).test(path))!;
      const ours = await projected(file);
      expect(ours.id).toBe(id);
      expect.soft(unexplained(place, differences(native, ours.turns)), file).toEqual([]);
    }
  }

  async function prepared(replies: ScenarioInput["replies"] = []): Promise<{ codex: CodexThreads; close: () => Promise<void> }> {
    const model = await startModelServer({ scenario: { replies: [...replies, ...SCENARIO.replies] } });
    const codex = await CodexThreads.prepare(model.url);
    writeFileSync(join(codex.cwd, "a.txt"), "one\ntwo\n");
    return { codex, close: async () => { await codex[Symbol.asyncDispose](); await model.close(); } };
  }

  test("tools, failures, compaction, a shell command, images; forks, a fork of a fork, reverts", async () => {
    const { codex, close } = await prepared();
    const a = await codex.start();
    await codex.turn(a, "use the tools");
    await codex.turn(a, "plain", { input: [{ type: "text", text: "plain" }, { type: "localImage", path: join(codex.cwd, "no.png") }] });
    await codex.turn(a, "fail now");
    await codex.run(a, "thread/shellCommand", { command: "echo by hand" });
    const fork = (await codex.client.request<{ thread: { id: string } }>("thread/fork", { threadId: a })).thread.id;
    await codex.turn(fork, "in the fork");
    const second = (await codex.client.request<{ thread: { id: string } }>("thread/fork", { threadId: fork })).thread.id;
    await codex.turn(second, "in the fork of the fork");
    await codex.run(a, "thread/compact/start");
    await codex.turn(a, "after the compaction");
    await compareAll(codex, [a, fork, second]);
    for (const [at, prompt] of [[3, "other fourth"], [1, "other second"]] as const) {
      await codex.client.request("thread/revert", { threadId: a, beforeTurnId: (await codex.read(a))[at]!.id });
      await codex.turn(a, prompt);
    }
    await compareAll(codex, [a, fork]);
    await close();
  });

  test("programs of code mode", async () => {
    const { codex, close } = await prepared();
    const a = await codex.start({ model: "gpt-5.6-sol" });
    await codex.turn(a, "use a program");
    await codex.turn(a, "plain");
    await compareAll(codex, [a]);
    // As a busy machine writes it: of the two that ran side by side the one that ended last began first.
    const [file] = codex.rollouts();
    const lines = readFileSync(file!, "utf8").split("\n");
    const [quick, slow] = ["echo b", "sleep 0.2; echo a"].map((words) => lines.findIndex((line) => line.includes('"type":"CommandExecution"') && line.includes(`"${words}"`)));
    const { payload } = JSON.parse(lines[Math.min(quick!, slow!)]!) as { payload: { started_at_ms: number } };
    const last = Math.max(quick!, slow!);
    lines[last] = lines[last]!.replace(/"started_at_ms":\d+/, `"started_at_ms":${payload.started_at_ms - 1}`);
    writeFileSync(file!, lines.join("\n"));
    await compareAll(codex, [a]);
    await close();
  });

  /** Until a command runs whose end is the test's to say, and its turn is interrupted: the command goes on without it. */
  async function interrupted(codex: CodexThreads): Promise<string> {
    const a = await codex.start();
    const running = codex.turn(a, "go on for long");
    await commandRuns(codex);
    const { turn } = (await codex.client.waitFor("turn/started")) as { turn: { id: string } };
    await codex.client.request("turn/interrupt", { threadId: a, turnId: turn.id });
    await running;
    await codex.turn(a, "plain");
    // It tells of a turn before that is in the file.
    await ended(codex);
    return a;
  }

  // Codex writes the item of such a command when the command ends. A server that ends kills it, and may or may not write that.
  test("a turn that is interrupted while a command runs, which ends later", async () => {
    const { codex, close } = await prepared();
    const a = await interrupted(codex);
    writeFileSync(join(codex.cwd, "end"), "");
    await vi.waitFor(() => expect(readFileSync(codex.rollouts()[0]!, "utf8")).toContain("\"type\":\"CommandExecution\""), { timeout: 60_000, interval: 50 });
    await compareAll(codex, [a]);
    await close();
  });

  test("a turn that is interrupted while a command runs, and a server that is killed", async () => {
    const { codex, close } = await prepared();
    const a = await interrupted(codex);
    await codex.kill();
    writeFileSync(join(codex.cwd, "end"), "");
    await compareAll(codex, [a]);
    await close();
  });

  function threadsOf(codex: CodexThreads): string[] {
    return codex.rollouts().map((path) => path.slice(-"00000000-0000-0000-0000-000000000000.jsonl".length, -".jsonl".length));
  }

  /** The threads that a thread has started, as soon as so many have a file. */
  function startedBy(codex: CodexThreads, parent: string, count: number): Promise<string[]> {
    return vi.waitFor(() => {
      const children = threadsOf(codex).filter((id) => id !== parent);
      expect(children).toHaveLength(count);
      return children;
    }, { timeout: 60_000, interval: 50 });
  }

  /** Until no rollout's last turn goes on. */
  function ended(codex: CodexThreads): Promise<void> {
    return vi.waitFor(() => {
      for (const file of codex.rollouts()) {
        const [start = -1, ...ends] = ["task_started", "task_complete", "turn_aborted"].map((type) => readFileSync(file, "utf8").lastIndexOf(`"type":"${type}"`));
        expect(Math.max(...ends), file).toBeGreaterThan(start);
      }
    }, { timeout: 60_000, interval: 100 });
  }

  function commandRuns(codex: CodexThreads): Promise<unknown> {
    return codex.client.waitFor("item/started", (params) => (params["item"] as { type: string }).type === "commandExecution");
  }

  test.each(["paginated", "legacy"])("sub-agents (%s)", async (historyMode) => {
    const namespace = "multi_agent_v1";
    const { codex, close } = await prepared([
      { match: { says: "ask others" }, blocks: [
        { text: "I ask." }, { tool: { id: "s1", namespace, name: "spawn_agent", input: { message: "use the tools", agent_type: "explorer" } } },
        { tool: { id: "s2", namespace, name: "spawn_agent", input: { message: "with all before", fork_context: true } } },
      ] },
      { match: { resultOf: "s2" }, blocks: [{ text: "They work." }] },
    ]);
    const a = await codex.start({ historyMode });
    await codex.turn(a, "ask others");
    const children = await startedBy(codex, a, 2);
    await ended(codex);
    const later = await startModelServer({ scenario: { replies: [
      { match: { says: "talk to them" }, blocks: [
        { tool: { id: "w1", namespace, name: "wait_agent", input: { targets: children } } },
        { tool: { id: "w2", namespace, name: "send_input", input: { target: children[0], message: "more" } } },
        { tool: { id: "w3", namespace, name: "close_agent", input: { target: children[1] } } },
        { tool: { id: "w4", namespace, name: "close_agent", input: { target: "nobody" } } },
      ] },
      ...SCENARIO.replies,
    ] } });
    await codex.restart(later.url);
    await codex.client.request("thread/resume", { threadId: a });
    await codex.turn(a, "talk to them");
    await ended(codex);
    await compareAll(codex, [a, ...children]);
    await close();
    await later.close();
  });

  test("named sub-agents", async () => {
    const namespace = "collaboration";
    const { codex, close } = await prepared([
      { match: { says: "ask others" }, blocks: [{ tool: { id: "s1", namespace, name: "spawn_agent", input: { task_name: "reader", message: "use the tools", fork_turns: "none" } } }] },
      { match: { resultOf: "s1" }, blocks: [{ tool: { id: "s2", namespace, name: "wait_agent", input: {} } }, { tool: { id: "s3", namespace, name: "send_message", input: { target: "reader", message: "more" } } }] },
      { match: { resultOf: "s3" }, blocks: [{ tool: { id: "s4", namespace, name: "list_agents", input: {} } }] },
    ]);
    const a = await codex.start({ model: "gpt-5.6-sol" });
    await codex.turn(a, "ask others");
    const children = await startedBy(codex, a, 1);
    await ended(codex);
    await compareAll(codex, [a, ...children]);
    await close();
  });

  test.each(["gpt-5.5", "gpt-5.6-sol"])("the old history mode (%s): items for some calls only, forks that copy", async (model) => {
    const { codex, close } = await prepared();
    const a = await codex.start({ historyMode: "legacy", model });
    await codex.turn(a, model === "gpt-5.5" ? "use the tools" : "use a program");
    await codex.turn(a, "fail now");
    await codex.run(a, "thread/compact/start");
    const fork = (await codex.client.request<{ thread: { id: string } }>("thread/fork", { threadId: a })).thread.id;
    await codex.turn(fork, "in the fork");
    await compareAll(codex, [a, fork]);
    await close();
  });
});

afterAll(() => {
  // An exception that is never met explains nothing.
  if (existsSync(SHARED)) expect([...known].filter((each) => !met.has(each))).toEqual([]);
});
