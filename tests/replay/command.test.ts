import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { Writable } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../packages/host-runtime/src/cli/run.ts";
import { COMMANDS } from "../../packages/host-runtime/src/cli/table/commands.ts";
import { runCaptured } from "../../packages/host-runtime/src/testing/command.ts";
import { calls, handSession, result, says, user, writeSession } from "./support.ts";

async function run(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string; rows: Record<string, unknown>[] }> {
  const done = await runCaptured(["replay", ...argv]);
  const rows = argv.includes("--json") ? done.stdout.trimEnd().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>) : [];
  return { ...done, rows };
}

const SESSION = [
  user("修复 the \u001b[31mtest\u001b[0m"), says("m1", "Looking."), calls("m1", "t1", "Bash", { command: "npm test" }), result("t1", "ok"), says("m2", "All green.\nNothing else."),
  user("stop"), user([{ type: "text", text: "[Request interrupted by user]" }]),
];

describe("foldcast replay", () => {
  test("gives the rows of one file as JSON Lines", async () => {
    const file = handSession(SESSION);
    const { code, rows } = await run(file, "--json", "--items");
    expect(code).toBe(0);
    expect(rows.map((row) => row["type"])).toEqual(["session", "turn", "turn", "total"]);
    expect(Object.keys(rows[0]!)).toEqual(["type", "schema", "file", "harness", "nativeId", "threadId", "cwd"]);
    expect(Object.keys(rows[1]!)).toEqual(["type", "turnId", "index", "prompt", "status", "outcome", "startedAt", "durationMs", "items", "visible", "fold", "finalAnswer", "threadItems"]);
    expect(rows[1]).toMatchObject({
      index: 0, status: "completed", outcome: "unknown", items: 4, visible: 4, startedAt: 1_700_000_000,
      fold: { folds: true, reason: null, divider: { kind: "workedFor" } }, finalAnswer: { firstLine: "All green." },
    });
    expect(rows[2]).toMatchObject({ index: 1, status: "interrupted", outcome: "cancelled", fold: { folds: false, reason: "cancelled", foldedItemIds: [], divider: null }, finalAnswer: null });
    expect(rows[3]).toEqual({ type: "total", files: 1, unreadable: 0, turns: 2, folded: 1, open: { cancelled: 1 } });
    expect((await run(file, "--json")).rows[1]).not.toHaveProperty("threadItems");
  });

  test("prints a table for people that cannot move their cursor", async () => {
    const { code, stdout, stderr } = await run(handSession(SESSION));
    expect(code).toBe(0);
    expect(stderr).toBe("");
    expect(stdout).not.toContain("\u001b");
    const lines = stdout.split("\n");
    expect(lines.find((line) => line.includes("All green."))).toMatch(/^ {3}1 {2}修复 the .+completed +4 +2 {2}Worked for 4s +All green\.$/);
    expect(stdout).toContain("open: cancelled");
    expect(stdout).toContain("1 file, 0 not read; 2 turns: 1 fold, 1 stay open (1 cancelled)");
  });

  test("goes through a folder in the order of names, and says which files it could not read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "replay-folder-"));
    const session = (name: string) => writeFileSync(join(folder, name), JSON.stringify({ type: "user", uuid: name, sessionId: name, message: { role: "user", content: name } }));
    session("b.jsonl");
    session("a.jsonl");
    writeFileSync(join(folder, "notes.md"), "# Notes");
    expect((await run(folder, "--json")).code).toBe(0);
    writeFileSync(join(folder, "c.jsonl"), "{\"something\":\"else\"}\n");
    const { code, rows } = await run(folder, "--json");
    expect(code).toBe(1);
    expect(rows.map((row) => row["type"])).toEqual(["session", "turn", "session", "turn", "error", "total"]);
    expect(rows.flatMap((row) => (row["type"] === "turn" ? [row["prompt"]] : []))).toEqual(["a.jsonl", "b.jsonl"]);
    expect(rows[4]).toMatchObject({ file: join(folder, "c.jsonl"), code: "notASession" });
    expect(rows.at(-1)).toMatchObject({ files: 3, unreadable: 1 });
  });

  // Nothing is closed to root.
  test.skipIf(process.getuid?.() === 0)("says which folders it could not read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "replay-closed-"));
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o000 });
    const { code, rows } = await run(folder, "--json");
    expect(code).toBe(1);
    expect(rows).toMatchObject([{ file: closed, code: "unreadable", message: expect.stringContaining("EACCES") }, { type: "total", files: 1, unreadable: 1 }]);
  });

  test.for([
    ["a file that is no session", [writeSession("hello\n")], "is not a saved session"],
    ["a file that is no session of the harness asked for", [writeSession("hello\n"), "--harness", "claude-code"], "holds no Claude Code session"],
    ["an empty folder", [mkdtempSync(join(tmpdir(), "replay-empty-"))], "no saved session found"],
    ["a device", ["/dev/null"], "neither a file nor a folder"],
    ["a path that does not exist", ["/nowhere/at/all"], "there is no file or folder /nowhere/at/all"],
    ["no path", [], "a PATH is needed"],
    ["--items without --json", [writeSession("x"), "--items"], "give both"],
    ["two paths", ["a", "b"], "only one PATH"],
    ["an unknown option", ["--yaml", "x"], "--yaml"],
    ["an unknown harness", [writeSession("x"), "--harness", "nobody"], "there is no harness nobody"],
  ] as const)("exits 2 with a clear message for %s", async ([, argv, message]) => {
    const { code, stderr } = await run(...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test("stops quietly when its reader goes away", async () => {
    const gone = new Writable({ write: (_chunk, _encoding, done) => done(new Error("EPIPE")) });
    const lines = Array.from({ length: 3000 }, (_, at) => user(`prompt ${at}`));
    expect(await runCommand("replay", COMMANDS["replay"]!, [handSession(lines), "--json"], { stdout: gone, stderr: gone, env: {}, cwd: "/" })).toBe(0);
  });
});
