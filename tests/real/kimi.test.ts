import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Turn } from "@foldcast/protocol-core/wire";
import { kimiBench, KIMI_VERSION } from "../support/kimi.ts";
import { after, Matrix, PIXEL, text, tool, type Replies } from "../support/matrix.ts";
import { ancestorsOf, programsWith } from "../support/processes.ts";
import { endToEnd } from "../support/recording.ts";

endToEnd();

const matrix = new Matrix({ harness: "kimi-code", program: `Kimi Code ${KIMI_VERSION}`, model: "kimi-code/__kimi_env_model__", bench: kimiBench });
const scenario = matrix.scenario.bind(matrix);
const inWorkspace = (name: string): string => join(matrix.bench.workspace, name);

describe("answers", () => {
  scenario("plain reply", () => [{ match: { says: "first" }, blocks: [text("The first answer.")] }, { blocks: [text("The second answer.")] }], async (run) => {
    const one = await run.prompt("the first question");
    expect(one.items).toMatchObject([{ type: "userMessage" }, { type: "agentMessage", text: "The first answer.", phase: "final_answer" }]);
    const two = await run.prompt("another question");
    expect([two.status, run.texts(two)]).toEqual(["completed", ["The second answer."]]);
  });

  scenario("thinking", () => [{ blocks: [{ thinking: "A question of numbers.", chunks: 4 }, text("Forty-two.")] }], async (run) => {
    const turn = await run.prompt("how many?");
    expect(turn.items).toMatchObject([{ type: "userMessage" }, { type: "reasoning", summary: ["A question of numbers."] }, { type: "agentMessage", text: "Forty-two.", phase: "final_answer" }]);
  });

  scenario("image in", () => [{ match: { images: 1 }, blocks: [text("A single pixel.")] }], async (run) => {
    const input = [{ type: "text", text: "what is this?", text_elements: [] }, { type: "image", url: `data:image/png;base64,${PIXEL}` }];
    const { turn } = await run.client.wire.request<{ turn: Turn }>("turn/start", { threadId: run.threadId, input });
    expect(run.texts(await run.ended(turn.id))).toEqual(["A single pixel."]);
  });

  scenario("stream that breaks off", () => [
    { blocks: [text("Half of an ans", 2)], error: { status: 529, type: "overloaded_error", message: "Overloaded" } }, { hold: "the file", blocks: [text("The whole answer.")] },
  ], async (run) => {
    const turnId = await run.submit("say it");
    // Only the file says that it broke off.
    await run.client.wire.waitFor("error", ({ threadId, willRetry }) => threadId === run.threadId && willRetry === true);
    matrix.bench.model.release("the file");
    const turn = await run.ended(turnId);
    expect([turn.status, run.texts(turn).at(-1)]).toEqual(["completed", "The whole answer."]);
  });

  scenario("answer that is cut at its length", () => [{ blocks: [text("One half,")], stop: "length" }], async (run) => {
    const turn = await run.prompt("a long one");
    expect([turn.status, run.texts(turn)]).toEqual(["completed", ["One half,"]]);
  });

  scenario("refusal", () => [{ blocks: [], stop: "refusal", times: 0 }], async (run) => {
    const turn = await run.prompt("something bad");
    expect(turn.status).toBe("failed");
  });

  scenario("command of the program (/status)", () => [{ blocks: [text("Hello.")] }], async (run) => {
    await run.prompt("hello");
    const turn = await run.prompt("/status");
    expect(turn.status).toBe("completed");
    expect(run.texts(turn)[0]).toContain("Model");
  });
});

describe("tools", () => {
  scenario("parallel tools", () => [
    { blocks: [text("Three at once."), tool("p1", "Bash", { command: "sleep 0.4; echo slow" }), tool("p2", "Bash", { command: "echo fast" }), tool("p3", "Read", { path: inWorkspace("notes.txt") })] },
    { match: after("p1"), blocks: [text("All three are there.")] },
  ], async (run) => {
    writeFileSync(inWorkspace("notes.txt"), "alpha\nbeta\n");
    const turn = await run.prompt("look around");
    const commands = turn.items.flatMap((item) => (item.type === "commandExecution" ? [[item.command, item.aggregatedOutput, item.status]] : []));
    expect(commands.slice(0, 2)).toEqual([["sleep 0.4; echo slow", "slow\n", "completed"], ["echo fast", "fast\n", "completed"]]);
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "agentMessage", "commandExecution", "commandExecution", "commandExecution", "agentMessage"]);
  }, { permissions: ":danger-full-access" });

  scenario("edit and write with diffs", () => [
    { blocks: [tool("e1", "Write", { path: inWorkspace("poem.txt"), content: "one\ntwo\nthree\n" })] },
    { match: after("e1"), blocks: [tool("e2", "Edit", { path: inWorkspace("poem.txt"), old_string: "two", new_string: "2" })] },
    { match: after("e2"), blocks: [text("Written and changed.")] },
  ], async (run) => {
    const turn = await run.prompt("write a poem");
    expect(readFileSync(inWorkspace("poem.txt"), "utf8")).toBe("one\n2\nthree\n");
    const changes = turn.items.flatMap((item) => (item.type === "fileChange" ? item.changes : []));
    const path = inWorkspace("poem.txt");
    expect(changes).toMatchObject([{ path, kind: { type: "add" }, diff: "one\ntwo\nthree\n" }, { path, kind: { type: "update" }, diff: "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" }]);
    expect(turn.diff).toContain("+2");
  }, { permissions: ":workspace" });

  scenario("edit of a file that was there", () => [
    { blocks: [tool("f0", "Bash", { command: "echo first" })] },
    { match: after("f0"), blocks: [tool("f1", "Edit", { path: inWorkspace("song.txt"), old_string: "two", new_string: "2" })] },
    { match: after("f1"), blocks: [text("Changed.")] },
  ], async (run) => {
    writeFileSync(inWorkspace("song.txt"), "one\ntwo\nthree\n");
    const changes = (await run.prompt("change the song")).items.flatMap((item) => (item.type === "fileChange" ? item.changes : []));
    expect(changes).toMatchObject([{ path: inWorkspace("song.txt"), kind: { type: "update" }, diff: "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" }]);
  }, { permissions: ":danger-full-access" });

  scenario("tool error", () => [
    { blocks: [tool("x1", "Bash", { command: "echo out; echo err >&2; exit 3" }), tool("x2", "Read", { path: inWorkspace("nowhere.txt") })] },
    { match: after("x1"), blocks: [text("Both failed.")] },
  ], async (run) => {
    const turn = run.prompt("try it");
    await run.approve(await run.request(), "accept");
    const failed = (await turn).items.flatMap((item) => (item.type === "commandExecution" ? [[item.exitCode, item.status]] : []));
    expect(failed).toEqual([[3, "failed"], [null, "failed"]]);
  });

  scenario("sub-agent", () => [
    { match: { says: "delegate" }, blocks: [tool("a1", "Agent", { description: "Look around", prompt: "List the files and report." })] },
    { match: { says: "List the files" }, blocks: [text("Looking."), tool("s1", "Glob", { pattern: "*" })] },
    { match: after("s1"), blocks: [text("There are some files, and I have looked at each of them in turn: nothing of note in any of them, and nothing that would need a change. All names are plain, all sizes are small, and there is no folder among them that would hide more of the same kind.")] },
    { match: after("a1"), blocks: [text("It found some files.")] },
  ], async (run) => {
    const turn = await run.prompt("delegate it");
    const agent = turn.items.find((item) => item.type === "collabAgentToolCall");
    expect(agent).toMatchObject({ tool: "spawnAgent", status: "completed", prompt: "List the files and report." });
    expect(Object.values(agent?.type === "collabAgentToolCall" ? agent.agentsStates : {})).toMatchObject([{ status: "completed", message: expect.stringContaining("There are some files") }]);
  }, { permissions: ":danger-full-access" });

  scenario("sub-agent in the background, and the turn that its end sets off", () => [
    { match: { says: "delegate" }, blocks: [tool("b1", "Agent", { description: "Look later", prompt: "Count the files.", run_in_background: true })] },
    { match: { says: "Count the files" }, hold: "the turn's end", blocks: [text("Seven files. ".repeat(30))] },
    { match: after("b1"), blocks: [text("It runs in the background.")] },
    { match: { says: "<notification" }, blocks: [text("It counted seven.")] },
  ], async (run) => {
    const turn = await run.prompt("delegate it and go on");
    expect(run.texts(turn)).toEqual(["It runs in the background."]);
    matrix.bench.model.release("the turn's end");
    expect(run.texts(await run.turnFrom(1))).toEqual(["It counted seven."]);
  }, { permissions: ":danger-full-access" });

  let job!: ReturnType<typeof matrix.heldCommand>;
  scenario("background command, and the turn that its end sets off", () => [
    { match: { says: "start" }, blocks: [tool("c1", "Bash", { command: (job = matrix.heldCommand()).command, run_in_background: true, description: "A job" })] },
    { match: after("c1"), blocks: [text("Started.")] },
    { match: { says: "<notification" }, blocks: [text("The job is done.")] },
  ], async (run) => {
    await run.prompt("start the job");
    await job.letGo();
    expect(run.texts(await run.turnFrom(1))).toEqual(["The job is done."]);
  }, { permissions: ":danger-full-access" });
});

describe("questions", () => {
  const touch = (name: string): (() => Replies) => () => [{ blocks: [tool("t1", "Bash", { command: `touch ${name}` })] }, { match: after("t1"), blocks: [text("Done with it.")] }];

  scenario("approval accepted", touch("made.txt"), async (run) => {
    const turn = run.prompt("make the file");
    const request = await run.request();
    expect(request).toMatchObject({ method: "item/commandExecution/requestApproval", params: { command: "touch made.txt" } });
    await run.approve(request, "accept");
    expect((await turn).items).toMatchObject([{ type: "userMessage" }, { type: "commandExecution", status: "completed" }, { type: "agentMessage", phase: "final_answer" }]);
    expect(existsSync(inWorkspace("made.txt"))).toBe(true);
  });

  scenario("approval declined", touch("never.txt"), async (run) => {
    const turn = run.prompt("make the file");
    await run.approve(await run.request(), "decline");
    expect((await turn).items).toMatchObject([{ type: "userMessage" }, { type: "commandExecution", status: "declined" }, { type: "agentMessage", phase: "final_answer" }]);
    expect(existsSync(inWorkspace("never.txt"))).toBe(false);
  });

  scenario("approval always", () => [
    { blocks: [tool("t1", "Bash", { command: "mkdir -p kept" })] }, { match: after("t1"), blocks: [text("Once.")] },
    { blocks: [tool("t2", "Bash", { command: "mkdir -p kept" })] }, { match: after("t2"), blocks: [text("Twice.")] },
  ], async (run) => {
    const turn = run.prompt("make it");
    await run.approve(await run.request(), "acceptForSession");
    await turn;
    expect(run.texts(await run.prompt("make it again"))).toEqual(["Twice."]);
  });

  scenario("question", () => [
    { blocks: [tool("q1", "AskUserQuestion", { questions: [
      { question: "Which colour?", header: "Colour", multi_select: false, options: [{ label: "Red", description: "Warm" }, { label: "Blue", description: "Cold" }] },
      { question: "Which sizes?", header: "Sizes", multi_select: true, options: [{ label: "S", description: "Small" }, { label: "L", description: "Large" }] },
    ] })] },
    { match: { says: "Blue" }, blocks: [text("Blue it is.")] },
  ], async (run) => {
    const turn = run.prompt("ask me");
    const request = await run.request();
    expect(request).toMatchObject({ method: "item/tool/requestUserInput", params: { questions: [{ question: "Which colour?" }, { question: "Which sizes?" }] } });
    const [one, two] = (request.params["questions"] as { id: string }[]).map(({ id }) => id);
    run.client.wire.respond(request.id, { answers: { [one!]: { answers: ["Blue"] }, [two!]: { answers: ["S", "L"] } } });
    expect(run.texts(await turn)).toEqual(["Blue it is."]);
    expect(matrix.bench.model.requests.at(-1)?.said).toMatch(/S, ?L/);
  });
});

describe("a running turn", () => {
  scenario("interrupt while streaming", () => [{ match: { says: "go on" }, blocks: [text("It begins and", 2)], hang: true }, { blocks: [text("Here again.")] }], async (run) => {
    const turnId = await run.submit("go on for ever");
    await run.item("some text", (item) => item.type === "agentMessage" && item.text !== "");
    await run.interrupt(turnId);
    const turn = await run.ended(turnId);
    expect(turn).toMatchObject({ status: "interrupted", items: [{ type: "userMessage" }, { type: "agentMessage", phase: "commentary" }] });
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Here again."]);
  });

  scenario("interrupt in a tool", () => [{ match: { says: "sleep" }, blocks: [text("Sleeping."), tool("i1", "Bash", { command: "echo begun; sleep 47.5" })] }, { blocks: [text("Awake.")] }], async (run) => {
    const turnId = await run.submit("sleep well");
    await run.item("the command", (item) => item.type === "commandExecution");
    await run.until("the process", () => programsWith("sleep 47.5").length > 0 || undefined);
    await run.interrupt(turnId);
    const turn = await run.ended(turnId);
    expect(turn).toMatchObject({ status: "interrupted", items: [{ type: "userMessage" }, { type: "agentMessage" }, { type: "commandExecution", status: "failed" }] });
    await run.until("the end of the process", () => programsWith("sleep 47.5").length === 0 || undefined);
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Awake."]);
  }, { permissions: ":danger-full-access" });

  scenario("interrupt at a question", () => [{ match: { says: "make" }, blocks: [tool("i2", "Bash", { command: "touch other.txt" })] }, { blocks: [text("Something else.")] }], async (run) => {
    const turnId = await run.submit("make the file");
    await run.request();
    await run.interrupt(turnId);
    expect((await run.ended(turnId)).status).toBe("interrupted");
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Something else."]);
  });

  let job!: ReturnType<typeof matrix.heldCommand>;
  scenario("interrupt in a turn of the agent's own", () => [
    { match: { says: "start" }, blocks: [tool("o1", "Bash", { command: (job = matrix.heldCommand()).command, run_in_background: true, description: "A job" })] },
    { match: after("o1"), blocks: [text("Started.")] },
    { match: { says: "<notification" }, blocks: [text("I look.", 1), tool("o2", "Bash", { command: "sleep 46.5" })] },
    { blocks: [text("Back.")] },
  ], async (run) => {
    await run.prompt("start the job");
    await job.letGo();
    await run.until("the process", () => programsWith("sleep 46.5").length > 0 || undefined);
    const own = await run.until("the agent's own turn", () => run.turns[1]);
    await run.interrupt(own.id!);
    expect((await run.ended(own.id!)).status).toBe("interrupted");
    await run.until("the end of the process", () => programsWith("sleep 46.5").length === 0 || undefined);
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Back."]);
  }, { permissions: ":danger-full-access" });

  scenario("steer", () => [{ match: { says: "begin" }, blocks: [text("First.", 2)], hold: "the second message" }, { match: { says: "mind the edges" }, blocks: [text("Second.")] }], async (run) => {
    const turnId = await run.submit("begin");
    await run.client.wire.request("turn/steer", { threadId: run.threadId, expectedTurnId: turnId, input: [{ type: "text", text: "mind the edges", text_elements: [] }] });
    matrix.bench.model.release("the second message");
    expect((await run.ended(turnId)).items).toMatchObject([{ type: "userMessage" }, { type: "agentMessage", text: "First." }]);
    expect((await run.turnFrom(1)).items).toMatchObject([{ type: "userMessage" }, { type: "agentMessage", text: "Second." }]);
  }, { cell: "as the next turn: `kimi acp` answers a second prompt with -32600 `turn.agent_busy`" });

  scenario("compaction", () => [
    { match: { says: "remember" }, blocks: [text("I will.")] }, { match: { says: "Respond with text only" }, times: 2, blocks: [text("Something was to be remembered.")] }, { match: { says: "what was it" }, blocks: [text("It was seven.")] },
  ], async (run) => {
    await run.prompt("remember seven");
    await run.client.wire.request("thread/compact/start", { threadId: run.threadId });
    expect(await run.turnFrom(1)).toMatchObject({ status: "completed", items: [{ type: "contextCompaction" }] });
    expect(run.texts(await run.prompt("what was it?"))).toEqual(["It was seven."]);
    // As a client without a command of its own for it does: in words.
    expect((await run.prompt("/compact")).items).toMatchObject([{ type: "contextCompaction" }]);
  });
});

describe("failures", () => {
  const cases: [number, string, unknown][] = [
    [400, "invalid_request_error", "other"],
    [401, "authentication_error", { httpConnectionFailed: { httpStatusCode: 401 } }],
    [429, "rate_limit_error", { responseTooManyFailedAttempts: { httpStatusCode: 429 } }],
    [500, "api_error", "internalServerError"],
  ];
  for (const [status, type, code] of cases) {
    scenario(`API error ${status}`, () => [{ times: 0, error: { status, type, message: `It is a ${type}.` } }], async (run) => {
      const turn = await run.prompt("fail, please");
      expect(turn.status).toBe("failed");
      expect(turn.error).toMatchObject({ message: expect.stringContaining(`It is a ${type}.`), codexErrorInfo: code });
      matrix.bench.model.play({ replies: [{ blocks: [text("Better now.")] }] });
      expect(run.texts(await run.prompt("and now?"))).toEqual(["Better now."]);
    });
  }

  scenario("kill of the program in a turn", () => [
    { match: { says: "sleep" }, blocks: [text("Sleeping."), tool("k1", "Bash", { command: "echo begun; sleep 48.5" })] }, { match: { says: "and now" }, blocks: [text("Back again.")] },
  ], async (run) => {
    const turnId = await run.submit("sleep well");
    await run.item("the command", (item) => item.type === "commandExecution");
    const command = await run.until("the process", () => programsWith("sleep 48.5")[0]);
    // The program writes its file up to a second late; what is not in it yet dies with it.
    await run.written("echo begun");
    const programs = matrix.bench.programs();
    const pid = ancestorsOf(command).findLast((each) => programs.includes(each));
    process.kill(pid!, "SIGKILL");
    const turn = await run.ended(turnId);
    expect(turn).toMatchObject({ status: "failed", error: { message: expect.stringContaining("Kimi Code ended unexpectedly (signal SIGKILL)") } });
    await run.until("the end of what it started", () => programsWith("sleep 48.5").length === 0 || undefined);
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Back again."]);
  }, { permissions: ":danger-full-access" });
});

describe("sessions", () => {
  test("fork", async () => {
    matrix.bench.model.play({ replies: [{ blocks: [text("First.")] }] });
    const run = await matrix.open();
    const one = await run.prompt("number one");
    await expect(run.client.wire.request("thread/fork", { threadId: run.threadId, lastTurnId: one.id })).rejects.toThrow();
    matrix.cannot("fork", "ACP's `session/fork` copies a whole session and names no point in it");
  });

  matrix.restart();
});
