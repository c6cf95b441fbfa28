import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What was said in a saved session, oldest first: prompts and answers in turn. */
export interface SavedTurn {
  prompt: string;
  answer: string;
}

const START = Date.UTC(2026, 0, 1);
const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, "0");

/** The id of the n-th session that is written here, and its file's name. */
export const claudeId = (n: number): string => `${hex(n, 8)}-0000-4000-8000-c1a0de000000`;
export const scriptedId = (n: number): string => `scripted-${String(n).padStart(6, "0")}`;

export interface ClaudeLinesOptions {
  cwd?: string;
  /** The number of the first of these turns, where others stand before it. */
  from?: number;
  /** Commands that each turn runs between its prompt and its answer. */
  commands?: number;
  /** Characters of each turn that are nobody's words. */
  padding?: number;
}

/** Lines of a Claude Code session; session `n` begins n minutes after the first, each turn a second after the last. */
export function claudeLines(n: number, turns: readonly SavedTurn[], { cwd = "/repo", from = 0, commands = 0, padding = 0 }: ClaudeLinesOptions = {}): string {
  const sessionId = claudeId(n);
  const lines: object[] = [];
  const common = { isSidechain: false, cwd, sessionId, version: "2.1.332", gitBranch: "main", userType: "external", entrypoint: "cli" };
  const LAST = 0xffff;
  for (const [at, { prompt, answer }] of turns.entries()) {
    const turn = from + at;
    const id = (part: number, of = turn): string => `${hex(n, 8)}-${hex(of, 4)}-4000-8000-${hex(part, 12)}`;
    const timestamp = (ms: number): string => new Date(START + n * 60_000 + turn * 1_000 + ms).toISOString();
    const said = (part: number, parent: number, block: object, stop_reason: string | null): object => ({
      parentUuid: id(parent), ...common, type: "assistant", uuid: id(part), timestamp: timestamp(500),
      message: { id: `msg_${n}_${turn}_${part}`, type: "message", role: "assistant", model: "m", content: [block], stop_reason, usage: { input_tokens: 9, output_tokens: 9 } },
    });
    lines.push(
      { type: "queue-operation", operation: "enqueue", sessionId, timestamp: timestamp(0), content: prompt },
      { parentUuid: turn === 0 ? null : id(LAST, turn - 1), ...common, type: "user", message: { role: "user", content: prompt }, uuid: id(0), timestamp: timestamp(0) },
    );
    if (padding > 0) lines.push({ parentUuid: id(0), ...common, type: "attachment", attachment: { type: "skill_listing", content: "x".repeat(padding) }, uuid: id(LAST - 1), timestamp: timestamp(10) });
    for (let command = 0; command < commands; command += 1) {
      const toolUse = `toolu_${n}_${turn}_${command}`;
      const [asked, done] = [1 + 2 * command, 2 + 2 * command];
      lines.push(
        said(asked, asked - 1, { type: "tool_use", id: toolUse, name: "Bash", input: { command: `make part-${command}`, description: "Make it" } }, null),
        {
          parentUuid: id(asked), ...common, type: "user", uuid: id(done), timestamp: timestamp(600),
          message: { role: "user", content: [{ type: "tool_result", tool_use_id: toolUse, content: `made ${turn}.${command}` }] },
          toolUseResult: { stdout: `made ${turn}.${command}`, stderr: "", interrupted: false, isImage: false },
        },
      );
    }
    lines.push(said(LAST, 2 * commands, { type: "text", text: answer }, "end_turn"));
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Lines of a session of the scripted harness, with its header where it begins. */
export function scriptedLines(n: number, turns: readonly SavedTurn[], { cwd = "/repo", from = 0 }: { cwd?: string; from?: number } = {}): string {
  const at = START + n * 60_000;
  const lines: object[] = from > 0 ? [] : [{ type: "session", version: 1, harness: "scripted", id: scriptedId(n), cwd, createdAt: at, model: "demo" }];
  for (const [index, { prompt, answer }] of turns.entries()) {
    const turn = `t${from + index + 1}`;
    const time = at + (from + index) * 1_000;
    const events: object[] = [
      { type: "turn.started", turnKey: turn, at: time, input: [{ type: "text", text: prompt, text_elements: [] }], clientId: null },
      { type: "item.started", item: { kind: "message", id: `${turn}-m` }, at: time + 1 },
      // As it was streamed: no word of it need stand whole in the file.
      ...[answer.slice(0, answer.length / 2), answer.slice(answer.length / 2)].map((append) => ({ type: "item.updated", itemId: `${turn}-m`, update: { type: "text", append }, at: time + 2 })),
      { type: "item.completed", itemId: `${turn}-m`, outcome: { status: "succeeded" }, at: time + 3 },
      { type: "turn.completed", outcome: { status: "succeeded" }, at: time + 500 },
    ];
    for (const event of events) lines.push({ turn, event });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Where the sessions of these harnesses lie for a server with this home and data folder. */
export const claudeFile = (home: string, n: number): string => join(home, ".claude", "projects", `-repo-${n % 50}`, `${claudeId(n)}.jsonl`);
export const scriptedFile = (dataDir: string, n: number): string => join(dataDir, "harness", "scripted", "scripted", "sessions", `${scriptedId(n)}.jsonl`);

/** Writes a session file that was last changed when its session ended. */
export function writeSession(file: string, content: string, n: number): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  const seconds = (START + n * 60_000 + 60_000) / 1000;
  utimesSync(file, seconds, seconds);
}
