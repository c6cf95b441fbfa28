import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { Turn } from "@foldcast/protocol-core/wire";
import { claudeBench, CLAUDE_VERSION } from "../support/claude.ts";
import { after, Matrix, PIXEL, text, tool, type Replies } from "../support/matrix.ts";
import { ancestorsOf, programsWith } from "../support/processes.ts";
import { endToEnd } from "../support/recording.ts";

endToEnd();

const matrix = new Matrix({ harness: "claude-code", program: `Claude Code ${CLAUDE_VERSION}`, model: "claude-code/sonnet", bench: claudeBench });
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
    const ended = await run.ended(turn.id);
    expect(run.texts(ended)).toEqual(["A single pixel."]);
  });

  scenario("stream that breaks off", () => [
    { blocks: [text("Half of an ans", 2)], error: { status: 529, type: "overloaded_error", message: "Overloaded" } }, { blocks: [text("The whole answer.")] },
  ], async (run) => {
    const turn = await run.prompt("say it");
    expect([turn.status, run.texts(turn)]).toEqual(["completed", ["The whole answer."]]);
  });

  scenario("answer that is cut at its length", () => [{ blocks: [text("One half,")], stop: "length" }, { blocks: [text("and the other.")] }], async (run) => {
    const turn = await run.prompt("a long one");
    expect([turn.status, run.texts(turn)]).toEqual(["completed", ["One half,", "and the other."]]);
  });

  scenario("refusal", () => [{ blocks: [], stop: "refusal", times: 0 }], async (run) => {
    const turn = await run.prompt("something bad");
    expect(turn.status).toBe("failed");
  });

  scenario("command of the program (/cost)", () => [{ blocks: [text("Hello.")] }], async (run) => {
    await run.prompt("hello");
    const turn = await run.prompt("/cost");
    expect(turn.status).toBe("completed");
    expect(run.texts(turn)[0]).toContain("Estimated cost");
  });
});

describe("tools", () => {
  scenario("parallel tools", () => [
    { blocks: [text("Three at once."), tool("p1", "Bash", { command: "sleep 0.4; echo slow" }), tool("p2", "Bash", { command: "echo fast" }), tool("p3", "Read", { file_path: inWorkspace("notes.txt") })] },
    { match: after("p1"), blocks: [text("All three are there.")] },
  ], async (run) => {
    writeFileSync(inWorkspace("notes.txt"), "alpha\nbeta\n");
    const turn = await run.prompt("look around");
    const commands = turn.items.flatMap((item) => (item.type === "commandExecution" ? [[item.command, item.aggregatedOutput, item.status]] : []));
    expect(commands.slice(0, 2)).toEqual([["sleep 0.4; echo slow", "slow", "completed"], ["echo fast", "fast", "completed"]]);
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "agentMessage", "commandExecution", "commandExecution", "commandExecution", "agentMessage"]);
  });

  scenario("edit and write with diffs", () => [
    { blocks: [tool("e1", "Write", { file_path: inWorkspace("poem.txt"), content: "one\ntwo\nthree\n" })] },
    { match: after("e1"), blocks: [tool("e2", "Edit", { file_path: inWorkspace("poem.txt"), old_string: "two", new_string: "2" })] },
    { match: after("e2"), blocks: [text("Written and changed.")] },
  ], async (run) => {
    const turn = await run.prompt("write a poem");
    expect(readFileSync(inWorkspace("poem.txt"), "utf8")).toBe("one\n2\nthree\n");
    const changes = turn.items.flatMap((item) => (item.type === "fileChange" ? item.changes : []));
    const path = inWorkspace("poem.txt");
    expect(changes).toMatchObject([{ path, kind: { type: "add" }, diff: "one\ntwo\nthree\n" }, { path, kind: { type: "update" }, diff: "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" }]);
    expect(turn.diff).toContain("+2");
  }, { permissions: ":workspace" });

  scenario("tool error", () => [
    { blocks: [tool("x1", "Bash", { command: "echo out; echo err >&2; exit 3" }), tool("x2", "Read", { file_path: inWorkspace("nowhere.txt") })] },
    { match: after("x1"), blocks: [text("Both failed.")] },
  ], async (run) => {
    const turn = run.prompt("try it");
    // The program asks for what it does not know to be harmless.
    await run.approve(await run.request(), "accept");
    const failed = (await turn).items.flatMap((item) => (item.type === "commandExecution" ? [[item.exitCode, item.status]] : []));
    expect(failed).toEqual([[3, "failed"], [null, "failed"]]);
  });

  scenario("sub-agent", () => [
    { match: { says: "delegate" }, blocks: [tool("a1", "Agent", { description: "Look around", prompt: "List the files and report.", subagent_type: "general-purpose", run_in_background: false })] },
    { match: { says: "List the files" }, blocks: [text("Looking."), tool("s1", "Bash", { command: "ls" })] },
    { match: after("s1"), blocks: [text("There are some files.")] },
    { match: after("a1"), blocks: [text("It found some files.")] },
  ], async (run) => {
    const turn = await run.prompt("delegate it");
    const agent = turn.items.find((item) => item.type === "collabAgentToolCall");
    expect(agent).toMatchObject({ tool: "spawnAgent", status: "completed", prompt: "List the files and report." });
    expect(Object.values(agent?.type === "collabAgentToolCall" ? agent.agentsStates : {})).toMatchObject([{ status: "completed", message: expect.stringContaining("There are some files.") }]);
  });

  scenario("sub-agent in the background, and the turn that its end sets off", () => [
    { match: { says: "delegate" }, blocks: [tool("b1", "Agent", { description: "Look later", prompt: "Count the files.", subagent_type: "general-purpose", run_in_background: true })] },
    { match: { says: "Count the files" }, hold: "the turn's end", blocks: [text("Seven files.")] },
    { match: after("b1"), blocks: [text("It runs in the background.")] },
    { match: { says: "task-notification" }, blocks: [text("It counted seven.")] },
  ], async (run) => {
    const turn = await run.prompt("delegate it and go on");
    expect(run.texts(turn)).toEqual(["It runs in the background."]);
    matrix.bench.model.release("the turn's end");
    const next = await run.turnFrom(1);
    expect(run.texts(next)).toEqual(["It counted seven."]);
  });

  let job!: ReturnType<typeof matrix.heldCommand>;
  scenario("background command, and the turn that its end sets off", () => [
    { match: { says: "start" }, blocks: [tool("c1", "Bash", { command: (job = matrix.heldCommand()).command, run_in_background: true, description: "A job" })] },
    { match: after("c1"), blocks: [text("Started.")] },
    { match: { says: "task-notification" }, blocks: [text("The job is done.")] },
  ], async (run) => {
    await run.prompt("start the job");
    await job.letGo();
    const next = await run.turnFrom(1);
    expect(next.items).toMatchObject([{ type: "dynamicToolCall", tool: "task-notification" }, { type: "agentMessage", text: "The job is done." }]);
  });
});

describe("questions", () => {
  const touch = (): Replies => [{ blocks: [tool("t1", "Bash", { command: "touch made.txt" })] }, { match: after("t1"), blocks: [text("Done with it.")] }];

  scenario("approval accepted", touch, async (run) => {
    const turn = run.prompt("make the file");
    const request = await run.request();
    expect(request).toMatchObject({ method: "item/commandExecution/requestApproval", params: { command: "touch made.txt" } });
    await run.approve(request, "accept");
    expect((await turn).items).toMatchObject([{ type: "userMessage" }, { type: "commandExecution", status: "completed" }, { type: "agentMessage", phase: "final_answer" }]);
    expect(existsSync(inWorkspace("made.txt"))).toBe(true);
  });

  scenario("approval declined", () => [{ blocks: [tool("t1", "Write", { file_path: inWorkspace("never.txt"), content: "no\n" })] }, { match: after("t1"), blocks: [text("Then not.")] }], async (run) => {
    const turn = run.prompt("write the file");
    const request = await run.request();
    expect(request.method).toBe("item/fileChange/requestApproval");
    await run.approve(request, "decline");
    expect((await turn).items).toMatchObject([{ type: "userMessage" }, { type: "fileChange", status: "declined" }, { type: "agentMessage", phase: "final_answer" }]);
    expect(existsSync(inWorkspace("never.txt"))).toBe(false);
  });

  scenario("approval always", () => [
    { blocks: [tool("t1", "Bash", { command: "mkdir -p kept" })] }, { match: after("t1"), blocks: [text("Once.")] },
    { blocks: [tool("t2", "Bash", { command: "mkdir -p kept" })] }, { match: after("t2"), blocks: [text("Twice.")] },
  ], async (run) => {
    const turn = run.prompt("make it");
    await run.approve(await run.request(), "acceptForSession");
    await turn;
    // Nobody is asked again, and nothing is written into the repository.
    expect(run.texts(await run.prompt("make it again"))).toEqual(["Twice."]);
    expect(existsSync(inWorkspace(".claude"))).toBe(false);
  });

  scenario("approval that a sub-agent asks for between two turns", () => [
    { match: { says: "delegate" }, blocks: [tool("d1", "Agent", { description: "Make it", prompt: "Make the file.", subagent_type: "general-purpose", run_in_background: true })] },
    { match: { says: "Make the file" }, hold: "the turn's end", blocks: [tool("d2", "Bash", { command: "touch by-the-agent.txt" })] },
    { match: after("d1"), blocks: [text("It is on its way.")] },
    { match: after("d2"), blocks: [text("Made.")] },
    { match: { says: "task-notification" }, blocks: [text("It made the file.")] },
  ], async (run) => {
    await run.prompt("delegate it");
    matrix.bench.model.release("the turn's end");
    const request = await run.request();
    expect(request).toMatchObject({ method: "item/commandExecution/requestApproval", params: { command: "touch by-the-agent.txt" } });
    await run.approve(request, "accept");
    await run.until("the agent's own turn", () => run.turns.find((turn) => turn.status === "completed" && run.texts(turn).includes("It made the file.")));
    expect(existsSync(inWorkspace("by-the-agent.txt"))).toBe(true);
  }, { cell: "yes, in a turn for the question alone" });

  scenario("question", () => [
    { blocks: [tool("q1", "AskUserQuestion", { questions: [
      { question: "Which colour?", header: "Colour", multiSelect: false, options: [{ label: "Red", description: "Warm" }, { label: "Blue", description: "Cold" }] },
      { question: "Which sizes?", header: "Sizes", multiSelect: true, options: [{ label: "S", description: "Small" }, { label: "L", description: "Large" }] },
    ] })] },
    { match: { says: "\"Which colour?\"=\"Blue\"" }, blocks: [text("Blue it is.")] },
  ], async (run) => {
    const turn = run.prompt("ask me");
    const request = await run.request();
    expect(request).toMatchObject({ method: "item/tool/requestUserInput", params: { questions: [{ question: "Which colour?" }, { question: "Which sizes?" }] } });
    const [one, two] = (request.params["questions"] as { id: string }[]).map(({ id }) => id);
    run.client.wire.respond(request.id, { answers: { [one!]: { answers: ["Blue"] }, [two!]: { answers: ["S", "L"] } } });
    expect(run.texts(await turn)).toEqual(["Blue it is."]);
    expect(matrix.bench.model.requests.at(-1)?.said).toContain("\"Which sizes?\"=\"S, L\"");
  });

  scenario("plan mode and its approval", () => [
    { blocks: [text("A plan."), tool("m1", "ExitPlanMode", { plan: "1. Do it." })] }, { match: after("m1"), blocks: [text("Now I can.")] },
  ], async (run) => {
    const turn = run.prompt("plan it");
    const request = await run.request();
    expect(JSON.stringify(request.params)).toContain("1. Do it.");
    run.client.wire.respond(request.id, { answers: { approval: { answers: ["Approve"] } } });
    expect((await turn).status).toBe("completed");
  }, { permissions: "plan" });
});

describe("a running turn", () => {
  scenario("interrupt while streaming", () => [{ match: { says: "go on" }, blocks: [text("It begins and", 2)], hang: true }, { blocks: [text("Here again.")] }], async (run) => {
    const turnId = await run.submit("go on for ever");
    await run.item("all of the text", (item) => item.type === "agentMessage" && item.text === "It begins and");
    await run.interrupt(turnId);
    const turn = await run.ended(turnId);
    expect(turn).toMatchObject({ status: "interrupted", items: [{ type: "userMessage" }, { type: "agentMessage", text: "It begins and", phase: "commentary" }] });
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Here again."]);
  });

  scenario("interrupt in a tool", () => [{ match: { says: "sleep" }, blocks: [text("Sleeping."), tool("i1", "Bash", { command: "echo begun; sleep 47.25" })] }, { blocks: [text("Awake.")] }], async (run) => {
    const turnId = await run.submit("sleep well");
    await run.item("the command", (item) => item.type === "commandExecution");
    await run.until("the process", () => programsWith("sleep 47.25").length > 0 || undefined);
    await run.interrupt(turnId);
    const turn = await run.ended(turnId);
    expect(turn).toMatchObject({ status: "interrupted", items: [{ type: "userMessage" }, { type: "agentMessage" }, { type: "commandExecution", status: "failed" }] });
    await run.until("the end of the process", () => programsWith("sleep 47.25").length === 0 || undefined);
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Awake."]);
  });

  scenario("interrupt at a question", () => [{ match: { says: "make" }, blocks: [tool("i2", "Bash", { command: "touch other.txt" })] }, { blocks: [text("Something else.")] }], async (run) => {
    const turnId = await run.submit("make the file");
    await run.request();
    await run.interrupt(turnId);
    expect((await run.ended(turnId)).status).toBe("interrupted");
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Something else."]);
  });

  let step!: ReturnType<typeof matrix.heldCommand>;
  scenario("steer", () => [
    { match: { says: "begin" }, blocks: [tool("g1", "Bash", { command: (step = matrix.heldCommand()).command })] },
    { match: { says: "mind the edges" }, hold: "the second message", blocks: [text("With the edges in mind.")] },
    { match: { says: "too late" }, blocks: [text("In a turn of its own.")] },
  ], async (run) => {
    const turnId = await run.submit("begin");
    await run.item("the command", (item) => item.type === "commandExecution");
    const steer = (words: string) => run.client.wire.request("turn/steer", { threadId: run.threadId, expectedTurnId: turnId, input: [{ type: "text", text: words, text_elements: [] }] });
    await steer("mind the edges");
    await run.written("mind the edges");
    await step.letGo();
    await run.item("the message in the turn", (item) => item.type === "userMessage" && JSON.stringify(item.content).includes("mind the edges"));
    // No tool follows, so that the program cannot take it into this turn.
    await steer("too late for this one");
    await run.written("too late for this one");
    matrix.bench.model.release("the second message");
    const turn = await run.ended(turnId);
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "commandExecution", "userMessage", "agentMessage"]);
    const next = await run.turnFrom(1);
    expect(next.items).toMatchObject([{ type: "userMessage" }, { type: "agentMessage", text: "In a turn of its own." }]);
  }, { cell: "yes, between two steps of the turn; else as the next turn" });

  scenario("compaction", () => [
    { match: { says: "remember" }, blocks: [text("I will.")] }, { match: { says: "what was it" }, times: 2, blocks: [text("It was seven.")] },
    { match: { says: "summary" }, times: 3, blocks: [text("<summary>Something was to be remembered.</summary>")] },
  ], async (run) => {
    await run.prompt("remember seven");
    await run.client.wire.request("thread/compact/start", { threadId: run.threadId });
    const turn = await run.turnFrom(1);
    expect(turn).toMatchObject({ status: "completed", items: [{ type: "contextCompaction" }] });
    expect(run.texts(await run.prompt("what was it?"))).toEqual(["It was seven."]);
    // As a client without a command of its own for it does: in words.
    expect((await run.prompt("/compact")).items).toMatchObject([{ type: "contextCompaction" }]);
    await run.prompt("what was it again?");
    expect((await run.prompt("/compact keep the seven")).items).toMatchObject([{ type: "userMessage" }, { type: "contextCompaction" }]);
  });
});

describe("failures", () => {
  // The program tries it again, some in other words.
  const failing = (status: number, type: string): (() => Replies) => () => [{ times: 0, error: { status, type, message: `It is a ${type}.` } }];
  const cases: [number, string, unknown][] = [
    [400, "invalid_request_error", "other"],
    [401, "authentication_error", { httpConnectionFailed: { httpStatusCode: 401 } }],
    [429, "rate_limit_error", { responseTooManyFailedAttempts: { httpStatusCode: 429 } }],
    [500, "api_error", "internalServerError"],
  ];
  for (const [status, type, code] of cases) {
    scenario(`API error ${status}`, failing(status, type), async (run) => {
      const turn = await run.prompt("fail, please");
      expect(turn.status).toBe("failed");
      expect(turn.error).toMatchObject({ message: expect.stringContaining("API Error"), codexErrorInfo: code });
      matrix.bench.model.play({ replies: [{ blocks: [text("Better now.")] }] });
      expect(run.texts(await run.prompt("and now?"))).toEqual(["Better now."]);
    });
  }

  scenario("kill of the program in a turn", () => [
    { match: { says: "sleep" }, blocks: [text("Sleeping."), tool("k1", "Bash", { command: "echo begun; sleep 48.75" })] }, { match: { says: "and now" }, blocks: [text("Back again.")] },
  ], async (run) => {
    const turnId = await run.submit("sleep well");
    await run.item("the command", (item) => item.type === "commandExecution");
    const command = await run.until("the process", () => programsWith("sleep 48.75")[0]);
    // The program writes its file a moment late; what is not in it yet dies with it.
    await run.written("echo begun");
    const { thread } = await run.client.read(run.threadId);
    const programs = programsWith(nativeId(thread.path!));
    const pid = ancestorsOf(command).findLast((each) => programs.includes(each));
    process.kill(pid!, "SIGKILL");
    const turn = await run.ended(turnId);
    expect(turn).toMatchObject({ status: "failed", error: { message: "Claude Code ended unexpectedly (signal SIGKILL)." } });
    await run.until("the end of what it started", () => programsWith("sleep 48.75").length === 0 || undefined);
    expect(run.texts(await run.prompt("and now?"))).toEqual(["Back again."]);
  });
});

describe("sessions", () => {
  scenario("fork", () => [
    { match: { says: "one" }, blocks: [text("First.")] }, { match: { says: "two" }, blocks: [text("Second.")] }, { match: { says: "instead" }, blocks: [text("Another second.")] },
  ], async (run) => {
    const one = await run.prompt("number one");
    await run.prompt("number two");
    const { thread } = await run.client.wire.request<{ thread: { id: string; path: string; turns: Turn[] } }>("thread/fork", { threadId: run.threadId, lastTurnId: one.id });
    expect(thread.turns.map((turn) => turn.status)).toEqual(["completed"]);
    await run.client.join(thread.id);
    const other = await run.client.prompt(thread.id, "this instead");
    expect(run.texts(other)).toEqual(["Another second."]);
    expect(matrix.bench.model.requests.at(-1)?.body).toMatchObject({ messages: expect.not.arrayContaining([expect.objectContaining({ content: expect.stringContaining("number two") })]) });
    const told = await run.client.read(thread.id);
    expect(told.turns.map((turn) => run.texts(turn))).toEqual([["First."], ["Another second."]]);
  });

  matrix.restart();
});

function nativeId(file: string): string {
  return /([^/]+)\.jsonl$/.exec(file)![1]!;
}
