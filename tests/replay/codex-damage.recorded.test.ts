import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { history } from "@foldcast/adapter-codex";
import { messages, replayCodex } from "./codex-support.ts";
import { countCodexLines } from "./count-codex.ts";
import { DATA, writeSession } from "./support.ts";

const FILES = [
  "codex/rollouts/legacy-history-mode.jsonl", "codex/rollouts/paginated-classic-tools.jsonl", "codex/rollouts/paginated-steer-and-rejected-approval.jsonl",
  "codex/rollouts/paginated-tui-multi-turn-interrupted.jsonl", "sessions/codex/2-18_user-blocking-plan-mode-approval.jsonl", "sessions/codex/2-20_interrupted-turn.jsonl",
  "sessions/codex/fork-conversation.jsonl", "sessions/codex/1-2_session-end.jsonl",
];
const sessions = FILES.map((file) => readFileSync(join(DATA, file), "utf8").trimEnd().split("\n"));
const FOREIGN = ["", "   ", "null", "[1,2]", "\"text\"", "{}", "{\"type\":7}", "{\"type\":\"event_msg\"}", "{\"type\":\"response_item\",\"payload\":null}", "// a comment", "{\"type\":\"event_msg\",\"payload\":{\"type\":\"item_completed\",\"item\":[3]}}", "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[null,3,{}]}}"];

const damage = fc.record({
  session: fc.nat(sessions.length - 1),
  hits: fc.array(fc.record({
    how: fc.constantFrom("remove", "double", "truncate", "garble", "foreign", "join"),
    at: fc.nat(1_000_000),
    other: fc.nat(1_000_000),
  }), { minLength: 1, maxLength: 4 }),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged({ session, hits }: Damage): string[] {
  const lines = [...sessions[session]!];
  for (const { how, at, other } of hits) {
    const line = at % lines.length;
    const text = lines[line]!;
    const cut = other % Math.max(1, text.length);
    if (how === "remove") lines.splice(line, 1);
    else if (how === "double") lines.splice(line, 0, text);
    else if (how === "truncate") lines[line] = text.slice(0, cut);
    else if (how === "garble") lines[line] = `${text.slice(0, cut)}\u0000"${text.slice(cut + 1)}`;
    // Half a line, and the next one behind it.
    else if (how === "join") lines.splice(line, 2, `${text.slice(0, cut)}${lines[line + 1] ?? ""}`);
    else lines.splice(line, 0, FOREIGN[other % FOREIGN.length]!);
    if (lines.length < 3) break;
  }
  return lines;
}

/** Every text that stands in a session's lines, whatever it is. */
const wholeTexts = sessions.map((lines) => new Set(countCodexLines(lines).texts));

describe("a damaged rollout", () => {
  test("still shows every text that is left exactly once, and none that was not there", { timeout: 120_000 }, async () => {
    await fc.assert(fc.asyncProperty(damage, async (how) => {
      const lines = damaged(how);
      const { items, turns, errors } = await replayCodex(writeSession(lines.join("\n"), "damaged.jsonl"));
      expect(errors).toEqual([]);
      const shown = messages(items);
      expect([...shown].sort()).toEqual([...countCodexLines(repaired(lines)).texts].sort());
      for (const text of shown) expect(wholeTexts[how.session]).toContain(text);
      expect(new Set(items.map((item) => item.id)).size).toBe(items.length);
      expect(turns.slice(0, -1).every(({ outcome, status }) => outcome !== "unknown" || status === "completed")).toBe(true);
    }), { numRuns: 120, seed: 20_261_130 });
  });

  test("of any bytes never throws more than that it is no session", async () => {
    const head = JSON.stringify({ timestamp: "2026-01-01T00:00:00.000Z", type: "session_meta", payload: { id: "x", cwd: "/w" } });
    const value = fc.jsonValue({ maxDepth: 4 });
    const line = fc.oneof(
      fc.record({ timestamp: fc.constantFrom("2026-01-01T00:00:01.000Z", "", 7), type: fc.constantFrom("event_msg", "response_item", "turn_context", "compacted", "session_meta", "token_usage_record", "odd"), payload: fc.oneof(value, payload(value)) }).map((record) => JSON.stringify(record)),
      fc.string({ maxLength: 80 }),
    );
    await fc.assert(fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
      const { errors, turns } = await replayCodex(writeSession([head, ...lines].join("\n"), "odd.jsonl"));
      expect(errors).toEqual([]);
      for (const turn of turns) expect(["completed", "interrupted", "failed"]).toContain(turn.status);
    }), { numRuns: 150, seed: 20_261_130 });
  });

  test("gives the same after it grew as when it is opened anew", { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(fc.nat(sessions.length - 1), fc.array(fc.nat(100_000), { minLength: 1, maxLength: 4 }), async (session, cuts) => {
      const whole = `${sessions[session]!.join("\n")}\n`;
      const ends = [...new Set(cuts.map((cut) => 3000 + (cut % (whole.length - 3000))))].sort((a, b) => a - b);
      const file = writeSession(whole.slice(0, ends[0]), "growing.jsonl");
      const index = await history.open(file).catch(() => null);
      if (index === null) return;
      for (const end of [...ends.slice(1), whole.length]) {
        writeSession(whole.slice(0, end), "growing.jsonl");
        await index.refresh();
      }
      const fresh = await history.open(file);
      expect(index.turns).toEqual(fresh.turns);
      const all = async (from: typeof index): Promise<unknown[]> => {
        const read: unknown[] = [];
        for await (const turn of from.read(0, 99)) read.push(turn);
        return read;
      };
      expect(await all(index)).toEqual(await all(fresh));
    }), { numRuns: 40, seed: 20_261_130 });
  });
});

/** What a reader may find behind half a line. */
function repaired(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    try {
      JSON.parse(line);
      return [line];
    } catch {
      for (let at = line.indexOf("{\"timestamp\":", 1); at !== -1; at = line.indexOf("{\"timestamp\":", at + 1)) {
        try {
          JSON.parse(line.slice(at));
          return [line.slice(at)];
        } catch {
          continue;
        }
      }
      return [];
    }
  });
}

/** Payloads with the right types and anything else in their members. */
function payload(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const type = fc.constantFrom(
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "web_search_call", "local_shell_call", "agent_message", "user_message", "agent_reasoning", "item_completed",
    "task_started", "task_complete", "turn_aborted", "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "collab_waiting_end", "sub_agent_activity", "exited_review_mode", "entered_review_mode", "token_count", "error", "thread_rolled_back", "image_generation_end",
  );
  const short = fc.constantFrom("a", "b", "exec", "wait", "update_plan", "user", "assistant");
  return fc.record({ type, turn_id: fc.oneof(short, value), call_id: fc.oneof(short, value), id: fc.oneof(short, value), name: fc.oneof(short, value), role: short, content: fc.oneof(value, fc.array(fc.record({ type: short, text: short }))), message: fc.oneof(short, value), text: short, arguments: value, input: fc.oneof(short, value), output: value, summary: value, item: fc.oneof(value, fc.record({ type: fc.constantFrom("UserMessage", "AgentMessage", "CommandExecution", "FileChange", "McpToolCall", "WebSearch", "Plan", "Odd"), id: fc.oneof(short, value), content: value, changes: value, command: value, action: value, text: value })), changes: value, num_turns: value, statuses: value, invocation: value, result: value, info: value, review_output: value, error: value, codex_error_info: value }, { requiredKeys: ["type"] });
}
