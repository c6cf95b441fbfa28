import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { randomUUID } from "node:crypto";
import { playRecording } from "./recorded-claude.ts";

/**
 * Stands in for `claude` in fast tests: frames and lines as 2.1.332 writes them (measured), what happens by the words of
 * the prompt. `say`, `tools`, `long`, `approve`, `ask`, `crash`, `background`.
 */
type Json = Record<string, unknown>;

const [, , ...argv] = process.argv;
const argument = (name: string): string | null => (argv.includes(name) ? (argv[argv.indexOf(name) + 1] ?? null) : null);
const resumed = argument("--resume");
const sessionId = resumed ?? argument("--session-id") ?? randomUUID();
const config = process.env["CLAUDE_CONFIG_DIR"]!;
const file = join(config, "projects", process.cwd().replace(/[^A-Za-z0-9]/g, "-"), `${sessionId}.jsonl`);
let model = argument("--model") ?? "claude-fake-1";
let mode = argument("--permission-mode") ?? "default";

const send = (frame: Json): void => void process.stdout.write(`${JSON.stringify({ ...frame, session_id: sessionId })}\n`);
const now = (): string => new Date().toISOString();
/** A record goes into the file and, in the names of the stream, to stdout. */
function record(type: "user" | "assistant", message: Json, more: { file?: Json; stream?: Json } = {}): string {
  const uuid = randomUUID();
  const timestamp = now();
  save({ type, uuid, timestamp, message, ...more.file });
  send({ type, uuid, timestamp, message, parent_tool_use_id: null, ...more.stream });
  return uuid;
}
function save(line: Json): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify({ parentUuid: null, isSidechain: false, cwd: process.cwd(), sessionId, version: "2.1.332", ...line })}\n`);
}

let answers = existsSync(file) ? readFileSync(file, "utf8").split("\n").length : 0;
let turnIndex = answers;
const waiting = new Map<string, (frame: Json) => void>();
const answered = (id: string): Promise<Json> => new Promise((resolve) => waiting.set(id, resolve));
const state = { interrupted: false };
const isInterrupted = (): boolean => state.interrupted;
let wake: () => void = () => undefined;
const steered: Json[] = [];
let running = false;

/** One block of an answer: streamed, written, ended. */
function block(messageId: string, index: number, content: Json, deltas: readonly Json[], more: { file?: Json; stream?: Json } = {}): void {
  event({ type: "content_block_start", index, content_block: { ...content, ...(content["type"] === "tool_use" ? { input: {} } : { text: "", thinking: "" }) } });
  for (const delta of deltas) event({ type: "content_block_delta", index, delta });
  record("assistant", { id: messageId, role: "assistant", model, content: [content], stop_reason: null, usage: USAGE }, more);
  event({ type: "content_block_stop", index });
}
const event = (inner: Json): void => send({ type: "stream_event", event: inner, parent_tool_use_id: null, uuid: randomUUID() });
const USAGE = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 3 };

function answer(blocks: readonly { content: Json; deltas: readonly Json[] }[]): void {
  const id = `msg_${sessionId}_${(answers += 1)}`;
  send({ type: "system", subtype: "status", status: "requesting", uuid: randomUUID() });
  event({ type: "message_start", message: { id, role: "assistant", model, content: [], usage: USAGE } });
  blocks.forEach(({ content, deltas }, index) => block(id, index, content, deltas));
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } });
  event({ type: "message_stop" });
}
const say = (text: string): { content: Json; deltas: Json[] } => ({ content: { type: "text", text }, deltas: text.split(/(?<=\s)/).map((letter) => ({ type: "text_delta", text: letter })) });
const think = (thinking: string): { content: Json; deltas: Json[] } => ({ content: { type: "thinking", thinking, signature: "c2ln" }, deltas: [{ type: "thinking_delta", thinking }] });
const call = (id: string, name: string, input: Json): { content: Json; deltas: Json[] } => ({ content: { type: "tool_use", id, name, input }, deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }] });
function result(id: string, content: string, more: { error?: boolean; structured?: unknown; denied?: string } = {}): void {
  record("user", { role: "user", content: [{ tool_use_id: id, type: "tool_result", content, ...(more.error === true ? { is_error: true } : {}) }] }, {
    file: { toolUseResult: more.structured ?? content, ...(more.denied === undefined ? {} : { toolDenialKind: more.denied }) },
    stream: { tool_use_result: more.structured ?? content, tool_result_meta: [{ id, ...(more.denied === undefined ? {} : { non_execution_kind: more.denied }) }] },
  });
}

async function question(name: string, callId: string, input: Json, suggestions: readonly Json[]): Promise<Json | null> {
  const id = randomUUID();
  const reply = answered(id);
  send({ type: "control_request", request_id: id, request: { subtype: "can_use_tool", tool_name: name, input, tool_use_id: callId, permission_suggestions: suggestions } });
  const first = await Promise.race([reply, stopped().then(() => null)]);
  if (first === null) send({ type: "control_cancel_request", request_id: id });
  return first === null ? null : (first["response"] as Json);
}
const stopped = (): Promise<void> => (state.interrupted ? Promise.resolve() : new Promise((resolve) => (wake = resolve)));

async function body(prompt: string, id: string): Promise<void> {
  const callId = (name: string): string => `toolu_${name}_${id}`;
  if (prompt.includes("tools")) {
    answer([think("Let me see."), say("I look."), call(callId("ls"), "Bash", { command: "ls" }), call(callId("read"), "Read", { file_path: "/w/a.txt" })]);
    result(callId("read"), "1\ta", { structured: { type: "text", file: { filePath: "/w/a.txt", content: "a" } } });
    result(callId("ls"), "a.txt", { structured: { stdout: "a.txt", stderr: "" } });
    answer([call(callId("edit"), "Edit", { file_path: "/w/a.txt", old_string: "a", new_string: "b" })]);
    result(callId("edit"), "The file has been updated.", { structured: { filePath: "/w/a.txt", oldString: "a", newString: "b", originalFile: "a\n", structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] }] } });
    answer([say("Changed.")]);
  } else if (prompt.includes("long")) {
    answer([call(callId("sleep"), "Bash", { command: "sleep 60" })]);
    while (!state.interrupted) {
      await stopped();
      for (const steer of steered.splice(0)) {
        save({ type: "attachment", uuid: randomUUID(), timestamp: now(), attachment: { type: "queued_command", prompt: (steer["message"] as Json)["content"], source_uuid: steer["uuid"] } });
        send({ type: "user", uuid: steer["uuid"], timestamp: now(), message: steer["message"], parent_tool_use_id: null, isReplay: true });
      }
    }
    result(callId("sleep"), "The user doesn't want to proceed with this tool use. Correction to the text above: this call was stopped while running.", { error: true });
  } else if (prompt.includes("approve")) {
    answer([call(callId("rm"), "Bash", { command: "rm -rf build" })]);
    const response = await question("Bash", callId("rm"), { command: "rm -rf build" }, [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "rm *" }], behavior: "allow", destination: "localSettings" }]);
    if (response?.["behavior"] === "allow") result(callId("rm"), JSON.stringify(response["updatedPermissions"] ?? "once"));
    else result(callId("rm"), response === null ? "The user doesn't want to proceed with this tool use." : (response["message"] as string), { error: true, denied: "user-rejected" });
    if (response?.["interrupt"] === true) state.interrupted = true;
    if (!state.interrupted) answer([say("So be it.")]);
  } else if (/\bask\b/.test(prompt)) {
    const questions = [{ question: "Which?", header: "Which", multiSelect: false, options: [{ label: "This", description: "" }, { label: "That", description: "" }] }];
    answer([call(callId("ask"), "AskUserQuestion", { questions })]);
    const response = await question("AskUserQuestion", callId("ask"), { questions }, []);
    result(callId("ask"), JSON.stringify((response?.["updatedInput"] as Json | undefined)?.["answers"] ?? "nothing"));
    answer([say("Thank you.")]);
  } else if (prompt.includes("crash")) {
    answer([say("About to")]);
    process.stderr.write("fatal: token sk-ant-secret-123456789 was refused\n");
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  } else answer([think("Hm."), say("Hello, and done.")]);
}

/** One that works on when its turn is over: it asks, and its end sets the agent to work. */
async function subAgent(): Promise<void> {
  const response = await question("Bash", "toolu_inner", { command: "make" }, []);
  send({ type: "system", subtype: "task_notification", task_id: "t1", status: response?.["behavior"] === "allow" ? "completed" : "failed", uuid: randomUUID() });
  await turn(null);
}

async function turn(frame: Json | null): Promise<void> {
  running = true;
  state.interrupted = false;
  const id = (frame?.["uuid"] as string | undefined) ?? randomUUID();
  const content = frame === null ? "<task-notification>\n<task-id>t1</task-id>\n<status>completed</status>\n<summary>Job done</summary>\n</task-notification>" : (frame["message"] as Json)["content"];
  const ids = frame === null ? {} : { user_message_uuids: [id] };
  if (frame !== null) for (const state of ["queued", "started"]) send({ type: "command_lifecycle", command_uuid: id, state });
  send({ type: "system", subtype: "init", model, permissionMode: mode, tools: [], uuid: randomUUID(), ...ids });
  const prompt = typeof content === "string" ? content : JSON.stringify(content);
  save({ type: "user", uuid: id, timestamp: now(), message: { role: "user", content }, turnPosition: { promptIndex: 0, turnIndex: (turnIndex += 1) }, ...(frame === null ? {} : { turnAttributionKey: id }) });
  if (frame !== null) send({ type: "user", uuid: id, timestamp: now(), message: frame["message"], parent_tool_use_id: null, isReplay: true });
  await body(prompt, id);
  if (isInterrupted()) record("user", { role: "user", content: [{ type: "text", text: "[Request interrupted by user for tool use]" }] });
  const end = isInterrupted() ? { subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools", errors: ["[ede_diagnostic] x"] } : { subtype: "success", is_error: false, terminal_reason: "completed", result: "" };
  running = false;
  send({ type: "result", ...end, ...ids, duration_ms: 12, queued_turn_count: 0, uuid: randomUUID() });
  if (prompt.includes("background")) setTimeout(() => void turn(null), 20);
  if (prompt.includes("sub-agent")) void subAgent();
}

function control(frame: Json): void {
  const request = frame["request"] as Json;
  const reply = (response: Json): void => send({ type: "control_response", response: { subtype: "success", request_id: frame["request_id"], response } });
  switch (request["subtype"]) {
    case "initialize":
      return reply({ claude_code_version: "2.1.332", current_permission_mode: mode, account: { apiKeySource: "ANTHROPIC_API_KEY" }, models: ["default", "opus"].map((value) => ({ value, displayName: value, description: "", supportedEffortLevels: ["low", "high"] })) });
    case "get_settings":
      return reply({ applied: { effort: "low" } });
    case "interrupt":
      state.interrupted = running;
      reply({ still_queued: [] });
      return wake();
    case "set_model":
      model = request["model"] as string;
      return reply({ model });
    case "set_permission_mode":
      mode = request["mode"] as string;
      return reply({ mode });
    default:
      return reply({});
  }
}

if (process.env["FAKE_RECORDING"] !== undefined) playRecording(process.env["FAKE_RECORDING"]);
else {
  createInterface({ input: process.stdin }).on("line", (text) => {
    const frame = JSON.parse(text) as Json;
    if (frame["type"] === "control_request") control(frame);
    else if (frame["type"] === "control_response") {
      const response = frame["response"] as Json;
      waiting.get(response["request_id"] as string)?.(response);
    } else if (running) {
      steered.push(frame);
      wake();
    } else void turn(frame);
  }).on("close", () => process.exit(0));
}
