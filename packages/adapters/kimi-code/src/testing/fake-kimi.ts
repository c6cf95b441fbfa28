import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, FakeAgent } from "@foldcast/adapter-kit/acp/fake-agent";
import { FakeSession, FakeTurn } from "./fake-session.ts";

/** A program in the place of `kimi`. What a prompt says decides what happens; its session is written as the real one's. */

const home = process.env["KIMI_CODE_HOME"]!;
const sessions = new Map<string, FakeSession>();
const option = (id: string, category: string, currentValue: string, values: string[]) => ({ type: "select", id, name: id, category, currentValue, options: values.map((value) => ({ value, name: value })) });

type Play = (turn: FakeTurn, text: string) => Promise<string> | string;

/** Each gives the stop reason. */
const plays: Record<string, Play> = {
  "use tools": (turn) => {
    const path = join(turn.session.cwd, "made.txt");
    turn.begin();
    turn.think("Two things.");
    turn.say("I read and write.");
    turn.announce("r1", "Read", { path: "notes.txt" });
    turn.announce("w1", "Write", { path, content: "new\n" });
    turn.run("r1", "Read", { path: "notes.txt" });
    turn.run("w1", "Write", { path, content: "new\n" });
    turn.session.record({ type: "file_history.tracked", turnId: turn.id, path: "made.txt", entry: { key: null, version: 1 } });
    writeFileSync(path, "new\n");
    turn.result("w1", `Wrote 4 bytes to ${path}`);
    turn.result("r1", "\"notes.txt\" does not exist.", true);
    turn.finish("tool_use");
    return answer(turn, "Written.");
  },
  "go on long": async (turn) => {
    turn.begin();
    turn.say("It begins", "");
    await turn.cancelled;
    turn.finish("interrupted");
    turn.end("cancelled");
    return "cancelled";
  },
  "approve it": async (turn) => {
    const args = { command: "touch it", description: "Makes it" };
    turn.begin();
    turn.announce("a1", "Bash", args);
    const options = [["approve_once", "allow_once"], ["approve_always", "allow_always"], ["reject", "reject_once"]].map(([optionId, kind]) => ({ optionId, name: optionId, kind }));
    const asked = turn.session.agent.request("session/request_permission", { sessionId: turn.session.id, options, toolCall: { toolCallId: `${turn.id}:a1`, title: "Bash", content: [{ type: "content", content: { type: "text", text: "Running: touch it" } }] } });
    const { optionId } = ((await asked)["result"] as { outcome: { optionId?: string } }).outcome;
    if (optionId === undefined) {
      turn.finish("interrupted");
      turn.end("cancelled");
      return "cancelled";
    }
    turn.session.record({ type: "permission.record_approval_result", turnId: turn.id, toolCallId: "a1", toolName: "Bash", action: "Running: touch it", result: { decision: optionId === "reject" ? "rejected" : "approved" } });
    turn.run("a1", "Bash", args);
    if (optionId === "reject") turn.result("a1", "Tool \"Bash\" was not run because the user rejected the approval request.", true);
    else turn.result("a1", "Command executed successfully.");
    turn.finish("tool_use");
    return answer(turn, "Done with it.");
  },
  "ask me": async (turn) => {
    const args = { questions: [{ question: "Which colour?", header: "Colour", options: [{ label: "Red" }, { label: "Blue" }] }] };
    turn.begin();
    turn.announce("q1", "AskUserQuestion", args);
    turn.run("q1", "AskUserQuestion", args);
    const requestedSchema = { type: "object", properties: { q0: { type: "string", title: "Colour", oneOf: [{ const: "Red", title: "Red" }, { const: "Blue", title: "Blue" }] } } };
    const { result } = await turn.session.agent.request("elicitation/create", { sessionId: turn.session.id, toolCallId: `${turn.id}:q1`, mode: "form", message: "Which colour?", requestedSchema });
    turn.result("q1", JSON.stringify({ answers: (result as { content?: object }).content ?? {} }));
    turn.finish("tool_use");
    return answer(turn, "So be it.");
  },
  "crash now": async (turn) => {
    turn.begin();
    turn.say("I fall.");
    turn.session.flush();
    await sleep(40);
    process.stderr.write("something broke inside\n");
    process.exit(7);
  },
  "fail now": (turn) => {
    turn.begin();
    turn.finish("error");
    turn.end("failed", { error: { code: "provider.api_error", message: "429 It is too much.", name: "ProviderError", details: { statusCode: 429 } } });
    return "end_turn";
  },
  "start a job": (turn) => {
    const { session } = turn;
    const info = { taskId: "bash-1", kind: "process", status: "running", detached: true, description: "A job" };
    turn.begin();
    turn.announce("j1", "Bash", { command: "job", run_in_background: true });
    turn.run("j1", "Bash", { command: "job", run_in_background: true });
    session.record({ type: "task.started", info });
    turn.result("j1", "task_id: bash-1");
    turn.finish("tool_use");
    setTimeout(() => {
      session.record({ type: "task.terminated", info: { ...info, status: "completed" } });
      const own = new FakeTurn(session, [{ type: "text", text: "<notification id=\"task:bash-1:completed\" category=\"task\" type=\"task.completed\" source_kind=\"background_task\" source_id=\"bash-1\">\nTitle: Background process completed\n</notification>" }], { kind: "task", taskId: "bash-1", status: "completed", notificationId: "task:bash-1:completed" });
      own.begin();
      void (async () => {
        await sleep(60);
        if (session.running !== own) return;
        answer(own, "The job is done.");
      })();
    }, 60);
    return answer(turn, "Started.");
  },
};

function answer(turn: FakeTurn, text: string): string {
  turn.begin();
  turn.say(text);
  turn.finish("end_turn");
  turn.end("completed");
  return "end_turn";
}

async function prompt(session: FakeSession, blocks: readonly { type: string; text?: string }[]): Promise<object> {
  const text = blocks.map((block) => block.text ?? "").join("");
  const chunk = (words: string): void => session.agent.update(session.id, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } });
  if (session.running !== null) throw new AgentError(-32600, "a turn is running", { code: "turn.agent_busy" });
  if (text.startsWith("/status")) {
    chunk("Model: fake");
    return { stopReason: "end_turn" };
  }
  if (text.startsWith("/compact")) {
    session.record({ type: "full_compaction.begin", source: "manual" });
    session.record({ type: "context.apply_compaction", summary: "Short.", compactedCount: 2 });
    session.record({ type: "full_compaction.complete" });
    chunk("Compaction completed.\n- Messages compacted: 2\n");
    return { stopReason: "end_turn" };
  }
  if (text === "log in") throw new AgentError(-32000, "Authentication required");
  const play = Object.entries(plays).find(([words]) => text.includes(words))?.[1] ?? ((turn, words) => answer(turn, `You said ${words}.`));
  const stopReason = await play(new FakeTurn(session, blocks), text);
  session.agent.update(session.id, { sessionUpdate: "usage_update", used: 9, size: 1000 });
  return { stopReason };
}

function opened(session: FakeSession): object {
  sessions.set(session.id, session);
  const configOptions = [option("model", "model", "fake", ["fake", "other"]), option("thinking", "thought_level", "on", ["off", "on"]), option("mode", "mode", session.mode, ["default", "plan", "auto", "yolo"])];
  return { sessionId: session.id, configOptions };
}

function sessionOf(params: Readonly<Record<string, unknown>>): FakeSession {
  const session = sessions.get(String(params["sessionId"]));
  if (session === undefined) throw new AgentError(-32002, "no such session");
  return session;
}

const [command] = process.argv.slice(2);
if (command === "--version") process.stdout.write("2.1.0\n");
else if (command === "provider") process.stdout.write(`${JSON.stringify({ models: { fake: { provider: "p", model: "fake", capabilities: ["thinking", "image_in"] }, other: { provider: "p", model: "other" } } })}\n`);
else {
  process.once("exit", () => sessions.forEach((session) => session.flush()));
  new FakeAgent({
    initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true, promptCapabilities: { image: true }, sessionCapabilities: { resume: {}, close: {} } } }),
    "session/new": ({ cwd }, agent) => opened(FakeSession.create(agent, home, String(cwd))),
    "session/resume": ({ sessionId }, agent) => {
      const session = sessions.get(String(sessionId)) ?? FakeSession.resume(agent, home, String(sessionId));
      if (session === null) throw new AgentError(-32002, "no such session");
      return opened(session);
    },
    "session/close": (params) => {
      const { running } = sessionOf(params);
      running?.finish("interrupted");
      running?.end("cancelled");
    },
    "session/set_config_option": () => ({}),
    "session/prompt": (params) => prompt(sessionOf(params), params["prompt"] as { type: string; text?: string }[]),
    "session/cancel": (params) => sessionOf(params).running?.cancel(),
  });
}
