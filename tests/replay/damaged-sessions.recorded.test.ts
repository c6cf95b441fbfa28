import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { history } from "@foldcast/adapter-claude-code";
import { countLines } from "./count-prompts.ts";
import { DATA, messages, replayFile, rowsOf, writeSession } from "./support.ts";

const FILES = [
  "sessions/claude/07-tool-denial-and-esc-db57d2ab.jsonl",
  "sessions/claude/1-4_session-resume.jsonl",
  "sessions/claude/13-full-lifecycle-continue-8a525d27.jsonl",
  "sessions/claude/13-full-lifecycle-continue-8a525d27-2.jsonl",
  "sessions/claude/2-12_context-compaction.jsonl",
  "sessions/claude/2-3_task-list.jsonl",
  "sessions/claude/2-7_autonomous-loop.jsonl",
  "claude/history/sdk/be997cde-9e5a-4db3-b021-b177f1790147.jsonl",
];
const sessions = FILES.map((file) => readFileSync(join(DATA, file), "utf8").trimEnd().split("\n"));

const damage = fc.record({
  session: fc.nat(sessions.length - 1),
  hits: fc.array(fc.record({
    how: fc.constantFrom("remove", "double", "truncate", "swap", "garble", "foreign"),
    at: fc.nat(1_000_000),
    other: fc.nat(1_000_000),
  }), { minLength: 1, maxLength: 4 }),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

const FOREIGN = ["", "   ", "null", "[1,2]", "\"text\"", "{}", "{\"type\":7}", "{\"type\":\"user\"}", "{\"type\":\"assistant\",\"message\":null}", "// a comment", "{\"type\":\"assistant\",\"message\":{\"content\":[null,3,{}]}}"];

function damaged({ session, hits }: Damage): string[] {
  const lines = [...sessions[session]!];
  for (const { how, at, other } of hits) {
    const line = at % lines.length;
    const text = lines[line]!;
    if (how === "remove") lines.splice(line, 1);
    else if (how === "double") lines.splice(other % (lines.length + 1), 0, text);
    else if (how === "truncate") lines[line] = text.slice(0, other % Math.max(1, text.length));
    else if (how === "swap") [lines[line], lines[other % lines.length]] = [lines[other % lines.length]!, text];
    else if (how === "garble") lines[line] = `${text.slice(0, other % Math.max(1, text.length))}\u0000\"${text.slice((other % Math.max(1, text.length)) + 1)}`;
    else lines.splice(line, 0, FOREIGN[other % FOREIGN.length]!);
    if (lines.length < 3) break;
  }
  return lines;
}

describe("a damaged session", () => {
  test("still shows every text that is left exactly once", { timeout: 120_000 }, async () => {
    await fc.assert(fc.asyncProperty(damage, async (what) => {
      const lines = damaged(what);
      const counted = countLines(lines);
      const { items, turns, errors, diagnostics } = await replayFile(writeSession(lines.join("\n")));
      expect(errors).toEqual([]);
      expect(messages(items).sort()).toEqual([...counted.texts].sort());
      // Whether a command was for the agent is told by what follows, which the damage may have changed.
      const prompts = counted.prompts.filter((prompt) => !/^\s*<command-/.test(prompt));
      expect(turns.filter((turn) => turn.prompt !== "" && !turn.prompt.startsWith("/"))).toHaveLength(prompts.length);
      const broken = lines.filter((line) => line.startsWith("{") && !isJson(line)).length;
      const noted = diagnostics.filter((row) => row.code === "line.malformed" || row.code === "line.unfinished").reduce((sum, row) => sum + row.count, 0);
      expect(noted).toBeGreaterThanOrEqual(broken);
    }), { numRuns: 400, seed: 32 });
  });

  test("keeps the whole line that a later process wrote behind half a line", async () => {
    const lines = sessions[0]!;
    const at = lines.findIndex((line) => line.includes("Finished — output was"));
    const joined = [...lines.slice(0, at), `${lines[at - 1]!.slice(0, 90)}${lines[at]!}`, ...lines.slice(at + 1)];
    const { items, diagnostics } = await replayFile(writeSession(joined.join("\n")));
    expect(messages(items)).toEqual(messages((await replayFile(writeSession(lines.join("\n")))).items));
    expect(diagnostics.map((row) => row.code)).toContain("line.malformed");
  });

  test("reads with CRLF line ends and a byte order mark as without", async () => {
    for (const lines of sessions.slice(0, 4)) {
      const plain = await replayFile(writeSession(lines.join("\n")));
      const other = await replayFile(writeSession(`\ufeff${lines.join("\r\n")}\r\n`));
      expect(other.turns).toEqual(plain.turns);
    }
  });

  test("of any bytes never throws more than that it is no session", { timeout: 60_000 }, async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc.array(fc.oneof(fc.constantFrom(...sessions[0]!, ...FOREIGN), fc.string(), fc.json()), { maxLength: 12 }).map((parts) => Buffer.from(parts.join("\n"))),
    );
    await fc.assert(fc.asyncProperty(bytes, async (content) => {
      const rows = await rowsOf(writeSession(Buffer.from(content)));
      expect(rows.at(-1)?.type).toBe("total");
      await history.open(writeSession(Buffer.from(content))).catch((error: unknown) => {
        expect((error as Error).message).toContain("holds no Claude Code session");
      });
    }), { numRuns: 300, seed: 31 });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
