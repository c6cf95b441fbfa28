import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";

export const ITEMS_PER_TURN = 20;
/** The id of the session that is written here, which must be its file's name. */
export const SESSION_ID = "00000000-0000-4000-9000-000000000000";
/** Makes an item take 3.5 kB of the file on average. */
const OUTPUT_LINES = 87;
const STEPS = (ITEMS_PER_TURN - 2) / 3;

/**
 * Writes a session file in the shape of Claude Code 2.1 with about `items` items: turns of a prompt, six times thinking,
 * a command and a read file, and an answer. Returns the number of turns.
 */
export async function writeClaudeSession(file: string, items: number): Promise<number> {
  const turns = Math.round(items / ITEMS_PER_TURN);
  const out = createWriteStream(file);
  const records = new Records();
  for (let turn = 0; turn < turns; turn++) {
    const lines = [...turnRecords(records, turn)].map((record) => `${JSON.stringify(record)}\n`).join("");
    if (!out.write(lines)) await once(out, "drain");
  }
  out.end();
  await finished(out);
  return turns;
}

function* turnRecords(records: Records, turn: number): Generator<object> {
  yield records.user(`Make test ${String(turn)} pass.`);
  for (let step = 0; step < STEPS; step++) {
    const bash = `toolu_b${String(turn)}_${String(step)}`;
    const read = `toolu_r${String(turn)}_${String(step)}`;
    yield records.assistant({ type: "thinking", thinking: `Step ${String(step)}: the assertion compares two clocks.`, signature: "c2lnbmVk" });
    yield records.assistant({ type: "tool_use", id: bash, name: "Bash", input: { command: `npm test -- clock${String(step)}`, description: "Run the test" } });
    yield records.result(bash, toolOutput(turn, step, "ok clock compares the handed in time "), { stdout: "", stderr: "", interrupted: false, isImage: false });
    yield records.assistant({ type: "tool_use", id: read, name: "Read", input: { file_path: `/repo/src/clock${String(step)}.ts` } });
    yield records.result(read, toolOutput(turn, step, "const compare = (a: number, b: number) => "), { type: "text", file: { filePath: `/repo/src/clock${String(step)}.ts`, numLines: OUTPUT_LINES, startLine: 1, totalLines: OUTPUT_LINES } });
  }
  yield records.assistant({ type: "text", text: `Test ${String(turn)} passes: the clock is handed in.` });
}

/** What a tool of a step printed; `part` of its lines. */
export function toolOutput(turn: number, step: number, words: string, part = 1): string {
  return Array.from({ length: Math.round(OUTPUT_LINES * part) }, (_, line) => `${String(line + 1)}\t${words}${String(turn * 31 + step * 7 + line)}`).join("\n");
}

/** Gives records their place in the chain, and times a second apart. */
class Records {
  #count = 0;
  #parent: string | null = null;

  user(text: string): object {
    return this.#record("user", { message: { role: "user", content: text }, permissionMode: "default" });
  }

  assistant(block: object): object {
    const id = `msg_${String(this.#count)}`;
    return this.#record("assistant", { message: { id, type: "message", role: "assistant", model: "bench", content: [block], stop_reason: null, usage: { input_tokens: 900, output_tokens: 40 } } });
  }

  result(toolUseId: string, content: string, toolUseResult: object): object {
    return this.#record("user", { message: { role: "user", content: [{ type: "tool_result", tool_use_id: toolUseId, content }] }, toolUseResult });
  }

  #record(type: string, members: object): object {
    const n = this.#count++;
    const uuid = `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
    const record = {
      parentUuid: this.#parent, isSidechain: false, type, ...members, uuid, timestamp: new Date(1_790_000_000_000 + n * 1000).toISOString(),
      userType: "external", entrypoint: "cli", cwd: "/repo", sessionId: SESSION_ID, version: "2.1.332", gitBranch: "main",
    };
    this.#parent = uuid;
    return record;
  }
}
