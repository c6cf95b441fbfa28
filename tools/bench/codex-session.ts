import { createWriteStream, mkdirSync } from "node:fs";
import { once } from "node:events";
import { dirname } from "node:path";
import { finished } from "node:stream/promises";
import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { ITEMS_PER_TURN, toolOutput } from "./claude-session.ts";

const STEPS = (ITEMS_PER_TURN - 2) / 3;
const START = 1_790_000_000_000;
const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, "0");
const idOf = (kind: number, n: number): string => `01a0f0b6-${hex(kind, 4)}-7000-8000-${hex(n, 12)}`;

/** The n-th thread that is written here begins n seconds after the first. */
const threadOf = (n: number): { id: string; at: number } => ({ id: idOf(0, n), at: START + n * 1_000 });

export const CODEX_THREAD = threadOf(0).id;

/** Where the file of the n-th thread stands in a Codex home. */
export function rolloutFile(codexHome: string, n = 0): string {
  const { id, at } = threadOf(n);
  const time = new Date(at).toISOString().slice(0, 19);
  return `${codexHome}/sessions/${time.slice(0, 10).replaceAll("-", "/")}/rollout-${time.replaceAll(":", "-")}-${id}.jsonl`;
}

/**
 * Writes the same conversation as `writeClaudeSession` in the shape of a paginated rollout of the pinned Codex release,
 * with its items and, as it does, what was sent to the model beside them; about as many bytes. Returns the number of turns.
 */
export async function writeRollout(file: string, items: number): Promise<number> {
  const turns = Math.round(items / ITEMS_PER_TURN);
  mkdirSync(dirname(file), { recursive: true });
  const out = createWriteStream(file);
  const rollout = new Rollout(0);
  for (let turn = 0; turn < turns; turn++) {
    if (!out.write(textOf([...(turn === 0 ? [rollout.meta()] : []), ...rollout.turn(turn, STEPS)]))) await once(out, "drain");
  }
  out.end();
  await finished(out);
  return turns;
}

/** The rollout of the n-th thread, with a prompt and an answer. */
export function shortRollout(n: number): string {
  const rollout = new Rollout(n);
  return textOf([rollout.meta(), ...rollout.turn(0, 0)]);
}

const textOf = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

class Rollout {
  readonly #thread: string;
  readonly #start: number;
  #ordinal = 0;

  constructor(n: number) {
    ({ id: this.#thread, at: this.#start } = threadOf(n));
  }

  meta(): object {
    const payload = {
      session_id: this.#thread, id: this.#thread, timestamp: new Date(this.#start).toISOString(), cwd: "/repo", runtime_workspace_roots: ["/repo"], originator: "bench",
      cli_version: PROTOCOL_VERSION, source: "cli", model_provider: "openai", history_mode: "paginated", base_instructions: { text: "", provenance: { type: "model", model: "bench" } },
    };
    return this.#line("session_meta", payload);
  }

  *turn(n: number, steps: number): Generator<object> {
    const turnId = idOf(1, n);
    const at = this.#start + n * 60_000;
    const item = (each: object, kind: number, step: number): object =>
      this.#line("event_msg", { type: "item_completed", thread_id: this.#thread, turn_id: turnId, item: { id: idOf(kind, n * 100 + step), ...each }, started_at_ms: at, completed_at_ms: at + 500 });
    yield this.#line("event_msg", { type: "task_started", turn_id: turnId, root_turn_id: turnId, started_at: at / 1000, model_context_window: 258_400, collaboration_mode_kind: "default" });
    const prompt = `Make test ${String(n)} pass.`;
    yield this.#response({ type: "message", role: "user", content: [{ type: "input_text", text: prompt }] });
    yield item({ type: "UserMessage", content: [{ type: "text", text: prompt, text_elements: [] }] }, 2, 0);
    for (let step = 0; step < steps; step++) {
      yield item({ type: "Reasoning", summary_text: [`Step ${String(step)}: the assertion compares two clocks.`], raw_content: [] }, 3, step);
      for (const [call, words] of [[`npm test -- clock${String(step)}`, "ok clock compares the handed in time "], [`cat src/clock${String(step)}.ts`, "const compare = (a: number, b: number) => "]] as const) {
        const output = toolOutput(n, step, words, 0.5);
        const kind = call.startsWith("npm") ? 4 : 5;
        const id = idOf(kind, n * 100 + step);
        yield this.#response({ type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd: call }), call_id: id });
        yield item({
          type: "CommandExecution", process_id: "1", command: ["/bin/bash", "-lc", call], cwd: "file:///repo", parsed_cmd: [{ type: "unknown", cmd: call }],
          source: "unified_exec_startup", status: "completed", aggregated_output: output, exit_code: 0, duration: { secs: 0, nanos: 500_000_000 },
        }, kind, step);
        yield this.#response({ type: "function_call_output", call_id: id, output });
      }
    }
    const answer = `Test ${String(n)} passes: the clock is handed in.`;
    yield this.#response({ type: "message", role: "assistant", content: [{ type: "output_text", text: answer }], phase: "final_answer" });
    yield item({ type: "AgentMessage", content: [{ type: "Text", text: answer }], phase: "final_answer" }, 6, 0);
    yield this.#line("event_msg", { type: "task_complete", turn_id: turnId, root_turn_id: turnId, last_agent_message: answer, started_at: at / 1000, completed_at: at / 1000 + 30, duration_ms: 30_000 });
  }

  #response(payload: object): object {
    return this.#line("response_item", payload);
  }

  #line(type: string, payload: object): object {
    return { timestamp: new Date(this.#start + this.#ordinal * 1_000).toISOString(), ordinal: this.#ordinal++, type, payload };
  }
}
