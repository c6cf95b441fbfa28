import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CLAUDE_VERSION, claudeBench } from "../../../tests/support/claude.ts";
import { KIMI_VERSION, kimiBench } from "../../../tests/support/kimi.ts";
import type { Bench } from "../../../tests/support/matrix.ts";
import { isolatedEnv, temporaryDir } from "../../../tests/support/paths.ts";
import { REPO } from "../repo.ts";
import { Speaking } from "./speaking.ts";

const FOLDCAST = join(REPO, "packages/host-runtime/bin/foldcast.js");
const PROMPT = "say something";
const MEGABYTE = 1024;

/** One way to have a turn; resolves the milliseconds until its first piece of text. */
export interface Way {
  turn(): Promise<number>;
  stop(): Promise<void>;
}

/** A harness through foldcast. */
export interface ThroughFoldcast extends Way {
  /** One more session with a turn in it; resolves the host's own resident megabytes then. */
  anotherSession(): Promise<number>;
}

/** A harness alone and the same through foldcast, with one model for both. `alone` is null where there is no program of its own. */
export interface Pair extends AsyncDisposable {
  harness: string;
  alone: Way | null;
  through: ThroughFoldcast;
}

/** The harnesses whose pinned programs the tests have fetched; the scripted one, which needs none, where that is none of them. */
export async function pairs(): Promise<Pair[]> {
  const cached = (folder: string): boolean => existsSync(join(REPO, ".cache", folder, "installed"));
  const found: Pair[] = [];
  if (cached(`claude-${CLAUDE_VERSION}`)) found.push(await pair("claude-code", "claude-code/sonnet", await claudeBench(), claudeAlone));
  if (cached(`kimi-${KIMI_VERSION}`)) found.push(await pair("kimi-code", "kimi-code/__kimi_env_model__", await kimiBench(), kimiAlone));
  if (found.length > 0) return found;
  const through = await foldcast("scripted", "scripted/demo", {}, temporaryDir("bench-work"), ["--scenario-process", "--scenario-speed", "0"]);
  return [{ harness: "scripted", alone: null, through, [Symbol.asyncDispose]: () => through.stop() }];
}

async function pair(harness: string, model: string, bench: Bench, startAlone: (bench: Bench) => Promise<Way>): Promise<Pair> {
  bench.model.play({ replies: [{ times: 0, blocks: [{ text: "It says something, in a few pieces.", chunks: 4 }] }] });
  const alone = await startAlone(bench);
  const through = await foldcast(harness, model, bench.env, bench.workspace, []);
  return {
    harness, alone, through,
    async [Symbol.asyncDispose]() {
      await Promise.all([alone.stop(), through.stop()]);
      await bench[Symbol.asyncDispose]();
    },
  };
}

async function foldcast(harness: string, model: string, env: Readonly<Record<string, string>>, cwd: string, args: readonly string[]): Promise<ThroughFoldcast> {
  const home = temporaryDir("bench-home");
  const command = [process.execPath, FOLDCAST, "app-server", "--no-native", "--harness", harness, "--data-dir", join(home, "data"), ...args];
  const server = await Speaking.start(command, isolatedEnv(home, env), cwd, { delta: '"method":"item/agentMessage/delta"', end: '"method":"turn/completed"' });
  let id = 0;
  const ask = (method: string, params: object): Promise<Record<string, unknown>> => server.ask({ id: (id += 1), method, params });
  await ask("initialize", { clientInfo: { name: "bench", title: null, version: "1" }, capabilities: { experimentalApi: true } });
  const start = async (): Promise<string> => ((await ask("thread/start", { model, cwd }))["thread"] as { id: string }).id;
  const turn = (threadId: string): Promise<number> => server.turn({ id: (id += 1), method: "turn/start", params: { threadId, input: [{ type: "text", text: PROMPT, text_elements: [] }] } });
  const threadId = await start();
  return {
    turn: () => turn(threadId),
    async anotherSession() {
      await turn(await start());
      return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${String(server.pid)}/status`, "utf8"))?.[1]) / MEGABYTE;
    },
    stop: () => server.stop(),
  };
}

async function claudeAlone({ env, workspace }: Bench): Promise<Way> {
  const command = ["claude", "-p", "--model", "sonnet", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--include-partial-messages"];
  const program = await Speaking.start(command, isolatedEnv(env["HOME"]!, env), workspace, { delta: '"text_delta"', end: '"type":"result"' });
  return {
    turn: () => program.turn({ type: "user", message: { role: "user", content: PROMPT }, parent_tool_use_id: null, session_id: "" }),
    stop: () => program.stop(),
  };
}

async function kimiAlone({ env, workspace }: Bench): Promise<Way> {
  const program = await Speaking.start(["kimi", "acp"], isolatedEnv(env["HOME"]!, env), workspace, { delta: '"agent_message_chunk"', end: '"stopReason"' });
  let id = 0;
  const ask = (method: string, params: object): Promise<Record<string, unknown>> => program.ask({ id: (id += 1), method, params });
  await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await ask("session/new", { cwd: workspace, mcpServers: [] });
  return {
    turn: () => program.turn({ jsonrpc: "2.0", id: (id += 1), method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: PROMPT }] } }),
    stop: () => program.stop(),
  };
}
