import { describe, expect, it } from "vitest";
import { interpretCall, interpretResult, NO_RESULT, type CallResult, type ResultReading, type ToolRule } from "../index.ts";

const DONE = { status: "succeeded" } as const;
function result(name: string, input: unknown, rule: ToolRule, given: Partial<CallResult>): ResultReading {
  return interpretResult(interpretCall({ name, input, rule, cwd: "/w" }), { ...NO_RESULT, outcome: DONE, ...given });
}
const READ: ToolRule = { kind: "read_file" };
const GREP: ToolRule = { kind: "search_files" };
const GLOB: ToolRule = { kind: "list_files" };
const BASH: ToolRule = { kind: "run_command" };
const EDIT: ToolRule = { kind: "edit_file" };

describe("evidence", () => {
  it.each<[string, string, number | null]>([
    ["plain text", "a\nb\n", 2], ["text without final newline", "a\nb", 2], ["numbered lines", "1\ta\n2\tb\n3\t", 2], ["arrows", "     1→a\n     2→b\n", 2],
    ["numbered lines inside remarks", "<path>/w/a</path>\n<content>\n1: a\n2: b\n</content>", 2], ["nothing, which may be a picture", "", null],
  ])("counts the lines of a file read as %s", (_, output, lines) => {
    expect(result("Read", { path: "a" }, READ, { output }).evidence.lines).toBe(lines);
  });

  it("prefers the structured result to the text", () => {
    const file = { filePath: "/w/a", content: "a\nb\n", numLines: 3, startLine: 1, totalLines: 3 };
    expect(result("Read", { path: "a" }, READ, { output: "1\ta", structured: { type: "text", file } }).evidence.lines).toBe(2);
    expect(result("Grep", { pattern: "a" }, GREP, { structured: { mode: "content", numLines: 7, numFiles: 0 } }).evidence.hits).toBe(7);
    expect(result("Grep", { pattern: "a" }, GREP, { structured: { mode: "files_with_matches", numFiles: 3 } }).evidence).toMatchObject({ hits: null, files: 3 });
    expect(result("Glob", { pattern: "a" }, GLOB, { structured: { numFiles: 3, truncated: true } }).evidence).toMatchObject({ files: 3, truncated: true });
  });

  it.each<[string, string, object]>([
    ["rg quokka burrow", "burrow/a:quokka\nburrow/b:quokka\n", { hits: 2, directory: true }], ["grep -rl quokka burrow", "burrow/a\n", { files: 1 }],
    ["rg -c quokka", "a:2\n", { hits: null }], ["rg -C 2 quokka", "a\n--\nb\n", { hits: null }], ["rg quokka | head -n 7", "a\n", { hits: null }],
    ["rg --files burrow", "burrow/a\nburrow/b\n", { files: 2 }], ["ls", "a\nb\n", { files: null }],
  ])("counts what %j found", (command, output, found) => {
    expect(result("Bash", { command }, BASH, { output }).evidence).toMatchObject(found);
  });

  it.each<[string, object]>([
    ["Found 3 matches\na.ts:\n  Line 1: x", { hits: 3 }], ["Found 2 files\na\nb", { files: 2 }], ["No matches found", { hits: 0 }], ["a.ts:1:x\na.ts:2:y", { hits: 2 }],
    ["some prose about it", { hits: null, files: null }],
  ])("reads a searching tool's answer %j", (output, found) => {
    expect(result("Grep", { pattern: "x" }, GREP, { output }).evidence).toMatchObject(found);
  });

  it("counts nothing of a failure, nor of an output beyond the measured size", () => {
    expect(result("Read", { path: "a" }, READ, { output: "no such file", outcome: { status: "failed" } }).evidence.lines).toBeNull();
    expect(result("Read", { path: "a" }, READ, { output: "x\n".repeat(600_000) }).evidence.lines).toBeNull();
  });

  it("consumes the transport's lines of an enveloped call only", () => {
    const output = "Chunk ID: 3c4a84\nWall time: 1.5 seconds\nProcess exited with code 2\nOriginal token count: 3\nOutput:\nhi\n";
    const enveloped = result("exec_command", { cmd: "x" }, { kind: "run_command", options: { envelope: true } }, { output });
    expect(enveloped).toMatchObject({ output: "hi\n", exitCode: 2, durationMs: 1_500 });
    expect(result("Bash", { command: "x" }, BASH, { output })).toMatchObject({ output, exitCode: null, durationMs: null });
  });

  it("finds the exit code that a failed command's output tells, and none in a successful one's", () => {
    const failed = { status: "failed" } as const;
    for (const output of ["Exit code 3\nout", "out\nCommand failed with exit code: 3.", "out\n\nCommand exited with code 3"]) {
      expect(result("Bash", { command: "x" }, BASH, { output, outcome: failed }).exitCode).toBe(3);
      expect(result("Bash", { command: "x" }, BASH, { output }).exitCode).toBeNull();
    }
  });

  it("finds the id under which a command goes on", () => {
    expect(result("Bash", { command: "x" }, BASH, { structured: { backgroundTaskId: "b1" } }).backgroundId).toBe("b1");
    expect(result("Bash", { command: "x" }, BASH, { output: "Command running in background with ID: b2. Output is" }).backgroundId).toBe("b2");
    expect(result("Bash", { command: "x" }, BASH, { output: "task_id: bash-3\npid: 7\nstatus: running\n" }).backgroundId).toBe("bash-3");
    expect(result("Bash", { command: "x" }, BASH, { output: "all fine" }).backgroundId).toBeNull();
  });
});

describe("edits from results", () => {
  const input = { file_path: "/w/a", old_string: "b", new_string: "c" };
  it("uses the whole old file and the strings of the edit", () => {
    const structured = { filePath: "/w/a", oldString: "b", newString: "c", originalFile: "a\nb\n", structuredPatch: [], replaceAll: false };
    expect(result("Edit", input, EDIT, { structured }).edits).toEqual([{ path: "/w/a", before: "a\nb\n", after: "a\nc\n" }]);
    expect(result("Edit", input, EDIT, { structured: { ...structured, originalFile: "b b", replaceAll: true } }).edits).toEqual([{ path: "/w/a", before: "b b", after: "c c" }]);
  });

  it("falls back to the hunks where the place would be a guess", () => {
    const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-b", "+c"] };
    const structured = { filePath: "/w/a", oldString: "b", newString: "c", originalFile: "b b", structuredPatch: [hunk] };
    expect(result("Edit", input, EDIT, { structured }).edits).toEqual([{ path: "/w/a", hunks: [hunk] }]);
    expect(result("Edit", input, EDIT, { structured: { ...structured, structuredPatch: [{ ...hunk, lines: [7] }] } }).edits).toBeNull();
  });

  it("knows a created file from an overwritten one", () => {
    const write: ToolRule = { kind: "write_file" };
    const call = { file_path: "/w/a", content: "x\n" };
    expect(result("Write", call, write, { structured: { type: "create", filePath: "/w/a", content: "x\n", originalFile: null } }).edits).toEqual([{ path: "/w/a", before: null, after: "x\n" }]);
    expect(result("Write", call, write, { structured: { type: "update", filePath: "/w/a", content: "x\n", originalFile: "y\n" } }).edits).toEqual([{ path: "/w/a", before: "y\n", after: "x\n" }]);
  });

  it("reads a unified diff that keeps what its heads say, and no other", () => {
    const diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    expect(result("edit", input, EDIT, { structured: { diff } }).edits).toEqual([
      { path: "/w/a", hunks: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [" a", "-b", "+c"] }] },
    ]);
    expect(result("edit", input, EDIT, { structured: { diff: "@@ -1,3 +1,2 @@\n a\n-b\n+c\n" } }).edits).toBeNull();
  });

  it("keeps the harness's own edits and makes none for a failed call", () => {
    const edits = [{ path: "/w/a", before: "", after: "x" }];
    expect(result("Edit", input, EDIT, { edits }).edits).toBe(edits);
    expect(result("Edit", input, EDIT, { structured: { diff: "@@ -1 +1 @@\n-b\n+c\n" }, outcome: { status: "failed" } }).edits).toBeNull();
  });
});
