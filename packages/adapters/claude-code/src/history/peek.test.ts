import { mkdirSync, mkdtempSync, readdirSync, readFileSync, existsSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { history } from "./source.ts";
import { assistant, call, result, text, user, write, type Line } from "./testing.ts";

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const B = "bbbbbbbb-0000-4000-8000-000000000002";
const C = "cccccccc-0000-4000-8000-000000000003";
const at = (second: number): Line => ({ timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() });
const peek = (file: string) => history.peek!(file);

function folder(): string {
  return mkdtempSync(join(tmpdir(), "claude-peek-"));
}
function put(file: string, lines: readonly Line[]): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text(lines));
  return file;
}

/** Bytes that this process has read from files so far, as Linux counts them; elsewhere nothing is counted. */
function bytesRead(): number {
  const io = existsSync("/proc/self/io") ? readFileSync("/proc/self/io", "utf8") : "";
  return Number(/^rchar: (\d+)$/m.exec(io)?.[1] ?? 0);
}

describe("a look at a session", () => {
  test("tells what the whole index tells", async () => {
    const file = write(text([
      { type: "queue-operation", operation: "enqueue", sessionId: "session-1", timestamp: "2026-01-01T00:00:00.000Z" },
      user("u1", "fix the clock", at(1)), assistant("a1", "done", at(3)), user("u2", "and the bell", at(10)), assistant("a2", "done too", at(12)),
      { type: "ai-title", aiTitle: "Clocks and bells", sessionId: "session-1" },
    ]));
    const seen = await peek(file);
    const index = await history.open(file);
    expect(seen).toMatchObject({
      nativeSessionId: index.nativeSessionId, cwd: "/w", title: "Clocks and bells", prompt: "fix the clock", kind: "session", parentNativeSessionId: null,
      startedAt: Date.UTC(2026, 0, 1, 0, 0, 1), updatedAt: Date.UTC(2026, 0, 1, 0, 0, 12),
    });
  });

  test("reads the ends of a huge file and not its middle", async () => {
    const big = "x".repeat(10_000);
    const middle = Array.from({ length: 3_000 }, (_, n) => [call(`c${n}`, `t${n}`, "Bash", { command: "ls" }), result(`r${n}`, `t${n}`, big)]).flat();
    const file = write(text([user("u1", "start", at(1)), ...middle, user("u2", "stop", at(50)), assistant("a2", "stopped", at(51)), { type: "custom-title", customTitle: "Long", sessionId: "s" }]));
    expect(statSync(file).size).toBeGreaterThan(30_000_000);
    const before = bytesRead();
    expect(await peek(file)).toMatchObject({ title: "Long", prompt: "start", startedAt: Date.UTC(2026, 0, 1, 0, 0, 1), updatedAt: Date.UTC(2026, 0, 1, 0, 0, 51) });
    expect(bytesRead() - before).toBeLessThan(3_000_000);
  });

  test("finds a first prompt that is longer than what is looked at as a rule", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(3_000_000) } };
    const state = { type: "state", blob: "s".repeat(100_000) };
    const file = write(text([user("u1", [image, { type: "text", text: "what is this?" }], at(1)), assistant("a1", "a cat", at(2)), state]));
    expect(await peek(file)).toMatchObject({ prompt: "what is this?", startedAt: Date.UTC(2026, 0, 1, 0, 0, 1) });
  });

  test("finds a first prompt behind much else, and takes the file's time where its last line is too long to look at", async () => {
    const file = write(text([assistant("x1", "y".repeat(200_000)), user("u1", "here it is"), assistant("a1", "z".repeat(300_000))]));
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    expect(await peek(file)).toMatchObject({ prompt: "here it is", updatedAt: 1_700_000_000_000 });
  });

  test("of many damaged lines, each is searched for what is left of it and no further", async () => {
    const file = write(`${"no line of anything\n".repeat(10_000)}${text([user("u1", "here it is"), assistant("a1", "done")])}`);
    const searched = vi.spyOn(Buffer.prototype, "indexOf");
    expect(await peek(file)).toMatchObject({ prompt: "here it is" });
    const bytes = searched.mock.calls.reduce((sum, [what], at) => sum + (typeof what === "string" ? (searched.mock.contexts[at] as Buffer).length : 0), 0);
    searched.mockRestore();
    expect(bytes).toBeLessThan(4 * statSync(file).size);
  });

  test("knows a sub-agent's file by its lines, and files that hold no turn or are none of ours", async () => {
    const root = folder();
    const side = (uuid: string, content: string): Line => user(uuid, content, { isSidechain: true, agentId: "a1b2", sessionId: A });
    expect(await peek(put(join(root, A, "subagents", "agent-a1b2.jsonl"), [side("s1", "look around")]))).toMatchObject({ kind: "child", parentNativeSessionId: A });
    expect(await peek(put(join(root, `${B}.jsonl`), [{ type: "permission-mode", sessionId: B }]))).toBeNull();
    expect(await peek(put(join(root, "notes.jsonl"), [{ hello: 1 }]))).toBeNull();
    expect(await peek(join(root, "never-there.txt"))).toBeNull();
    await expect(peek(join(root, "never-there.jsonl"))).rejects.toThrow(/ENOENT/);
  });

  test("is where Claude Code keeps its sessions", () => {
    const roots = (env: Record<string, string>) => history.roots!({ env, home: "/home/me", dataDir: "/d" }).map((root) => root.folder);
    expect(roots({})).toEqual(["/home/me/.claude/projects"]);
    expect(roots({ CLAUDE_CONFIG_DIR: "" })).toEqual(["/home/me/.claude/projects"]);
    expect(roots({ CLAUDE_CONFIG_DIR: "/c" })).toEqual(["/c/projects"]);
  });
});

describe("copies", () => {
  const said = (version: string, sessionId: string): Line[] => [user("u1", "one", { version, sessionId }), assistant("a1", "first", { version, sessionId })];
  async function copiesOf(files: Readonly<Record<string, readonly Line[]>>): Promise<string[]> {
    const root = folder();
    const found = [];
    for (const [id, lines] of Object.entries(files)) {
      const file = put(join(root, `${id}.jsonl`), lines);
      found.push({ file, peek: (await peek(file))! });
    }
    return [...(await history.copies!(found))].map((file) => file.slice(root.length + 1, -".jsonl".length)).sort();
  }

  test("a session that an old resume went on with in a new file gives way to it, through a chain of them", async () => {
    const next = (uuid: string, sessionId: string): Line[] => [user(`u${uuid}`, "more", { version: "1.0.65", sessionId }), assistant(`a${uuid}`, "again", { version: "1.0.65", sessionId })];
    expect(await copiesOf({
      [A]: said("1.0.65", A),
      [B]: [...said("1.0.65", B), ...next("2", B)],
      [C]: [...said("1.0.65", C), ...next("2", C), ...next("3", C)],
    })).toEqual([A, B]);
  });

  test("two that went on differently from the same beginning are both sessions; their common beginning is not", async () => {
    const other = (uuid: string): Line[] => [user(uuid, "else", { version: "1.0.65" })];
    expect(await copiesOf({ [A]: said("1.0.65", A), [B]: [...said("1.0.65", B), ...other("x")], [C]: [...said("1.0.65", C), ...other("y")] })).toEqual([A]);
  });

  test("a fork and what it was forked from are both sessions", async () => {
    expect(await copiesOf({ [A]: said("2.1.332", A), [B]: [...said("2.1.332", B), user("u2", "other way", { version: "2.1.332", sessionId: B })] })).toEqual([]);
    expect(await copiesOf({ [A]: said("2.0.1", A), [B]: [...said("2.0.1", B), user("u2", "other way", { version: "2.0.1", forkedFrom: { sessionId: A, messageUuid: "a1" } })] })).toEqual([]);
  });

  test("of two files with the same conversation the first stays; others have nothing to do with each other", async () => {
    expect(await copiesOf({ [A]: said("1.0.65", A), [B]: said("1.0.65", A), [C]: [user("z1", "something else")] })).toEqual([B]);
  });

  test("files of a bad maker, whose lines have the same ids and say other things, are all sessions", async () => {
    const version = "1.0.65";
    expect(await copiesOf({ [A]: [user("u0", "one", { version }), assistant("u1", "first", { version })], [B]: [user("u0", "two", { version }), assistant("u1", "second", { version }), user("u2", "more", { version })] })).toEqual([]);
  });

  test("each file of a long family is read once, and none again that has not changed", async () => {
    const root = folder();
    const found = [];
    const lines = said("1.0.65", A);
    for (let at = 0; at < 40; at += 1) {
      lines.push(user(`n${at}`, "x".repeat(20_000), { version: "1.0.65" }));
      const file = put(join(root, `${at}.jsonl`), lines);
      found.push({ file, peek: (await peek(file))! });
    }
    const all = found.reduce((sum, { file }) => sum + statSync(file).size, 0);
    const before = bytesRead();
    expect((await history.copies!(found)).size).toBe(39);
    expect(bytesRead() - before).toBeLessThan(1.5 * all);
    expect((await history.copies!(found)).size).toBe(39);
    expect(bytesRead() - before).toBeLessThan(1.5 * all);
  });

  const SDK = fileURLToPath(new URL("../../../../../../shared/data/claude/history/sdk", import.meta.url));
  test.skipIf(!existsSync(SDK))("of recorded sessions a fork made by the SDK stays", async () => {
    const files = readdirSync(SDK).filter((name) => name.endsWith(".jsonl")).map((name) => join(SDK, name));
    const found = await Promise.all(files.map(async (file) => ({ file, peek: (await peek(file))! })));
    expect(found.map(({ peek: { lineage } }) => lineage?.[0])).not.toHaveLength(new Set(found.map(({ peek: { lineage } }) => lineage?.[0])).size);
    expect(await history.copies!(found)).toEqual(new Set());
  });
});
