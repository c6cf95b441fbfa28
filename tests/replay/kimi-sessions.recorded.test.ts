import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { history } from "@foldcast/adapter-kimi-code";
import { countKimiFile, countKimiLines } from "./count-kimi.ts";
import { kimiFiles, replayKimi } from "./kimi-support.ts";
import { DATA, messages, writeSession } from "./support.ts";

/** Turns that neither a prompt nor news began: compactions between turns. */
const COMPACTIONS: Readonly<Record<string, number>> = { "kimi/history/acp-compact/session_4114f575-69bb-42e8-85b6-1639bfd0e839/agents/main/wire.jsonl": 1 };

const files = kimiFiles();

describe("every saved Kimi session", () => {
  test("is there to be read", () => {
    expect(files.length).toBeGreaterThanOrEqual(66);
  });

  test.for(files.map((file) => [relative(DATA, file), file] as const))("%s: turns, texts, calls and outcomes", async ([name, file]) => {
    const counted = countKimiFile(file);
    const { session, turns, items, diagnostics, errors } = await replayKimi(file);
    // A session that was made and never used is no session to read: it opens, and has no turns.
    expect(errors).toEqual([]);
    expect(diagnostics).toEqual([]);
    expect(session).not.toBeNull();
    const prompts = turns.filter((turn) => turn.prompt !== "");
    expect(prompts).toHaveLength(counted.prompts);
    expect(turns.length - prompts.length).toBe(counted.notices + (COMPACTIONS[name] ?? 0));
    expect(messages(items).sort()).toEqual([...counted.texts].sort());
    expect(items.filter((item) => item.type === "userMessage")).toHaveLength(counted.prompts);
    expect(turns.filter((turn) => turn.status === "failed")).toHaveLength(counted.failed);
    expect(turns.filter((turn) => turn.status === "interrupted")).toHaveLength(counted.cancelled);
    const called = items.filter((item) => ["commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageView"].includes(item.type));
    // A call that was stopped before its approval is not written as a call; an edit that failed without a change is not shown.
    expect(called.length).toBeGreaterThanOrEqual(counted.calls.length);
    expect(called.length).toBeLessThanOrEqual(counted.calls.length + counted.cancelled + counted.notices);
    expect(new Set(items.map((item) => item.id)).size).toBe(items.length);
    for (const turn of turns) {
      const shown = turn.threadItems ?? [];
      const answers = shown.filter((item) => item.type === "agentMessage" && item.phase === "final_answer");
      const last = shown.at(-1);
      const answered = turn.status === "completed" && last?.type === "agentMessage";
      expect(answers.map((item) => item.id)).toEqual(answered ? [last.id] : []);
      expect(turn.fold.folds).toBe(answered && shown.some((item) => item.type !== "userMessage" && item !== last));
    }
  });

  test("a list shows the same of it as the whole file says", async () => {
    for (const file of files) {
      const index = await history.open(file);
      const peek = await history.peek!(file);
      if (index.turns.length === 0) expect(peek, file).toBeNull();
      else {
        expect(peek, file).toMatchObject({
          nativeSessionId: index.nativeSessionId, cwd: index.cwd, title: index.title, parentNativeSessionId: index.parentNativeSessionId,
          prompt: index.turns.find((turn) => turn.prompt !== "")!.prompt, startedAt: index.turns[0]!.startedAt,
          kind: file.includes("/agents/agent-") ? "child" : "session",
        });
      }
      await index.close();
    }
  });
});

const SAMPLES = files.filter((file) => /sessions\/kimi\/|acp-tools|acp-cancel|acp-compact|print-retry|agentbg.*main|acp-image/.test(file));
const sessions = SAMPLES.map((file) => readFileSync(file, "utf8").trimEnd().split("\n").map((line) => (line.length > 20_000 ? line.slice(0, 200) : line)));
const FOREIGN = ["", "   ", "null", "[1,2]", "\"text\"", "{}", "{\"type\":7}", "{\"type\":\"turn.prompt\"}", "{\"type\":\"context.append_loop_event\"}", "// a comment", "{\"timestamp\":1,\"message\":{\"type\":\"ToolResult\"}}", "{\"type\":\"context.append_message\",\"message\":{\"role\":\"user\",\"content\":[null,3,{}]}}"];

const damage = fc.record({
  session: fc.nat(sessions.length - 1),
  hits: fc.array(fc.record({ how: fc.constantFrom("remove", "double", "truncate", "swap", "foreign"), at: fc.nat(1_000_000), other: fc.nat(1_000_000) }), { minLength: 1, maxLength: 4 }),
});

function damaged({ session, hits }: typeof damage extends fc.Arbitrary<infer T> ? T : never): string[] {
  const lines = [...sessions[session]!];
  for (const { how, at, other } of hits) {
    const line = at % lines.length;
    const text = lines[line]!;
    if (how === "remove") lines.splice(line, 1);
    else if (how === "double") lines.splice(other % (lines.length + 1), 0, text);
    else if (how === "truncate") lines[line] = text.slice(0, other % Math.max(1, text.length));
    else if (how === "swap") [lines[line], lines[other % lines.length]] = [lines[other % lines.length]!, text];
    else lines.splice(line, 0, FOREIGN[other % FOREIGN.length]!);
    if (lines.length < 3) break;
  }
  return lines;
}

describe("a damaged Kimi session", () => {
  test("still shows every text that is left exactly once, and what is wrong is counted", { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(damage, async (what) => {
      const lines = damaged(what);
      const counted = countKimiLines(lines);
      const { items, errors, diagnostics, session } = await replayKimi(writeSession(lines.join("\n")));
      if (session === null) return expect(errors).toHaveLength(1);
      expect(errors).toEqual([]);
      // The parts of a step that broke off are also kept in a copy behind it: they may be all that is left.
      const left = [...messages(items)];
      for (const text of counted.texts) {
        const found = left.indexOf(text);
        expect(found, text).not.toBe(-1);
        left.splice(found, 1);
      }
      expect(left.every((text) => lines.some((line) => line.includes("salvaged") && line.includes(JSON.stringify(text))))).toBe(true);
      const broken = lines.filter((line) => line.startsWith("{") && !isJson(line)).length;
      const noted = diagnostics.filter((row) => row.code === "line.malformed" || row.code === "line.unfinished").reduce((sum, row) => sum + row.count, 0);
      expect(noted).toBeGreaterThanOrEqual(broken);
    }), { numRuns: 100, seed: 9 });
  });

  test("of any bytes never throws more than that it is no session", async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 1000 }),
      fc.array(fc.oneof(fc.constantFrom(...sessions[0]!, ...FOREIGN), fc.string(), fc.json()), { maxLength: 12 }).map((parts) => Buffer.from(parts.join("\n"))),
    );
    await fc.assert(fc.asyncProperty(bytes, async (content) => {
      const file = writeSession(Buffer.from(content));
      const index = await history.open(file).catch((error: unknown) => {
        expect((error as Error).message).toContain("holds no Kimi session");
        return null;
      });
      if (index === null) return;
      for await (const { events } of index.read(0, 99)) expect(events.at(-1)?.type).toBe("turn.completed");
    }), { numRuns: 100, seed: 9 });
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

test("files of other harnesses are not taken for Kimi's", () => {
  const others = readdirSync(join(DATA, "sessions"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl") && !name.startsWith("kimi/"));
  expect(others.length).toBeGreaterThan(20);
  for (const name of others) {
    const file = join(DATA, "sessions", name);
    expect(history.recognises(file, readFileSync(file, "utf8").slice(0, 65536)), name).toBe(false);
  }
});
