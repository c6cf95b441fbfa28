import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { interpretCall, interpretResult, NO_RESULT, presentTool, detailOf, ruleOf, toolDetail, type ToolMap, type ToolRule } from "./index.ts";
import type { ToolKind } from "./tool-map.ts";

const CWD = "/w";
const read = (name: string, input: unknown, rule?: ToolRule) => interpretCall({ name, input, rule, cwd: CWD });

describe("interpretCall", () => {
  it("shows a reading tool as a command in call notation whose action has the absolute path", () => {
    const reading = read("Read", { file_path: "/w/src/app.ts", offset: 1, limit: 120 }, { kind: "read_file" });
    expect(reading.as).toEqual({
      item: "command",
      command: "Read(src/app.ts, lines 1-120)",
      cwd: null,
      actions: [{ type: "read", command: "Read(src/app.ts, lines 1-120)", name: "app.ts", path: "/w/src/app.ts" }],
    });
    expect(reading.canonicalArguments).toEqual({ path: "/w/src/app.ts", offset: 1, limit: 120 });
  });

  it("counts lines from one whatever the harness counts from", () => {
    const rule: ToolRule = { kind: "read_file", options: { lineBase: 0 } };
    expect(read("read", { path: "a", offset: 0, limit: 10 }, rule).facts.lines).toEqual({ first: 1, last: 10 });
    expect(read("view", { path: "a", view_range: [5, 9] }, { kind: "read_file" }).facts.lines).toEqual({ first: 5, last: 9 });
    expect(read("view", { path: "a", start_line: 5, end_line: 9 }, { kind: "read_file" }).facts.lines).toEqual({ first: 5, last: 9 });
  });

  it("gives searching and listing tools their actions", () => {
    expect(read("Grep", { pattern: 'a"b', path: "src/", glob: "*.ts" }, { kind: "search_files" }).as).toMatchObject({
      command: 'Grep("a\\"b", src/, *.ts)',
      actions: [{ type: "search", query: 'a"b', path: "/w/src" }],
    });
    expect(read("Glob", { pattern: "**/*.ts", path: "src" }, { kind: "list_files" }).as).toMatchObject({
      command: "Glob(**/*.ts, src)",
      actions: [{ type: "listFiles", path: "/w/src" }],
    });
  });

  it("keeps the harness's own text of a command and names its directory", () => {
    const reading = read("bash", { command: "cat a.ts", workdir: "sub" }, { kind: "run_command" });
    expect(reading.kind).toBe("read_file");
    expect(reading.canonicalName).toBe("exec_command");
    expect(reading.as).toMatchObject({ command: "cat a.ts", cwd: "/w/sub", actions: [{ type: "read", path: "/w/sub/a.ts" }] });
  });

  it("takes the script out of an argument vector", () => {
    const reading = read("shell", { command: ["bash", "-lc", "npm test"] }, { kind: "run_command" });
    expect(reading.as).toMatchObject({ item: "command", command: "npm test" });
  });

  it("takes a shell invocation of apply_patch as a patch where the harness does", () => {
    const command = "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\nEOF";
    const patched = read("exec_command", { cmd: command }, { kind: "run_command", options: { patchInShell: true } });
    expect(patched).toMatchObject({ kind: "apply_patch", as: { edits: [{ path: "/w/sub/a.txt", before: null, after: "x\n" }] } });
    expect(read("Bash", { command }, { kind: "run_command" }).as.item).toBe("command");
  });

  it.each<[string, unknown, ToolRule, unknown]>([
    ["Edit", { file_path: "/w/a", old_string: "x", new_string: "y" }, { kind: "edit_file" }, { path: "/w/a", fragments: [{ old: "x", new: "y" }] }],
    ["MultiEdit", { path: "a", edits: [{ oldText: "x", newText: "y" }, { oldText: "1", newText: "" }] }, { kind: "edit_file" },
      { path: "/w/a", fragments: [{ old: "x", new: "y" }, { old: "1", new: "" }] }],
    ["Write", { file_path: "a", content: "hi\n" }, { kind: "write_file" }, { path: "/w/a", after: "hi\n" }],
    ["Write", { path: "a", content: "hi\n", mode: "append" }, { kind: "write_file" }, { path: "/w/a", fragments: [{ old: "", new: "hi\n" }] }],
    ["search_replace", { file_path: "a", content: "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE" }, { kind: "edit_file" },
      { path: "/w/a", fragments: [{ old: "x\n", new: "y\n" }] }],
    ["edit", { input: "[src/a.ts#1f]\n2: x" }, { kind: "edit_file" }, { path: "/w/src/a.ts", kind: "update", fragments: [] }],
    ["delete_file", { path: "a" }, { kind: "edit_file", options: { effect: "delete" } }, { path: "/w/a", kind: "delete", after: null }],
  ])("reads the change of %s", (name, input, rule, edit) => {
    expect(read(name, input, rule).as).toEqual({ item: "edits", edits: [edit] });
  });

  it("claims no change for a call that writes files but does not say what", () => {
    expect(read("Write", { file_path: "a" }, { kind: "write_file" }).as).toEqual({ item: "edits", edits: null });
    expect(read("apply_patch", "*** Begin Patch\nnonsense", { kind: "apply_patch" }).as).toEqual({ item: "edits", edits: null });
  });

  it("reads a patch from free text, from an argument and from an edit tool that takes patches", () => {
    const patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n c\n-x\n+y\n*** End Patch";
    const edits = [{ path: "/w/a", movePath: "/w/b", kind: "update", fragments: [{ old: "c\nx\n", new: "c\ny\n" }] }];
    for (const input of [patch, { input: patch }, { patchText: patch }, JSON.stringify({ patch })]) {
      expect(read("apply_patch", input, { kind: "apply_patch" }).as).toEqual({ item: "edits", edits });
    }
    expect(read("edit", { input: patch }, { kind: "edit_file" })).toMatchObject({ kind: "apply_patch", as: { edits } });
  });

  it("recognises MCP names without a rule, and older ones by their server", () => {
    expect(read("mcp__my_server__read__all", { a: 1 }).as).toEqual({ item: "mcp", server: "my_server", tool: "read__all", arguments: { a: 1 } });
    const map: ToolMap = { memory__: { kind: "call_tool", options: { server: "memory" } } };
    expect(read("memory__read_graph", {}, ruleOf(map, "memory__read_graph")).as).toMatchObject({ server: "memory", tool: "read_graph" });
    expect(ruleOf(map, "other__x")).toBeUndefined();
    for (const name of ["mcp__", "mcp____tool", "mcp__server__", "mcp__server"]) expect(read(name, {}).as.item).toBe("dynamic");
  });

  it("reads plans in every dialect and never half of one", () => {
    const todos = [{ content: "a", status: "completed" }, { title: "b", status: "in_progress" }, { task_description: "c" }];
    expect(read("TodoWrite", { todos }, { kind: "update_plan" }).as).toMatchObject({
      plan: [{ step: "a", status: "completed" }, { step: "b", status: "inProgress" }, { step: "c", status: "pending" }],
    });
    expect(read("plan", { plan: "# Plan\n- [x] a\n- [ ] b" }, { kind: "update_plan" }).as).toMatchObject({
      plan: [{ step: "a", status: "completed" }, { step: "b", status: "pending" }],
    });
    expect(read("TodoWrite", { todos: [{ content: "a" }, 7] }, { kind: "update_plan" }).as.item).toBe("dynamic");
    expect(read("TodoRead", {}, { kind: "update_plan" }).as).toEqual({ item: "plan", plan: null, explanation: null });
  });

  it("takes a call without input for a wait, with input for a command that is typed into", () => {
    const rule: ToolRule = { kind: "wait", options: { waitWithoutInput: "chars" } };
    expect(read("write_stdin", { session_id: 5, chars: "" }, rule)).toMatchObject({ kind: "wait", as: { item: "wait", target: "5" } });
    expect(read("write_stdin", { session_id: 5, chars: "y\n" }, rule)).toMatchObject({ kind: "run_command", facts: { label: "y" } });
  });

  it("finds a fetch's address also inside a prompt", () => {
    const reading = read("web_fetch", { prompt: "Read https://example.com/a?b=1, please" }, { kind: "web_fetch", fields: { url: "prompt" } });
    expect(reading.as).toMatchObject({ item: "webSearch", action: { type: "openPage", url: "https://example.com/a?b=1" } });
  });

  it("reads the only call of a program as that call, and several as a parent", () => {
    const rule: ToolRule = { kind: "run_command", options: { program: "javascript" } };
    const single = read("exec", 'const r = await tools.exec_command({cmd: "npm test"}); text(r.output);', rule);
    expect(single).toMatchObject({ kind: "run_command", canonicalName: "exec_command", as: { command: "npm test" }, enveloped: true });
    const both = read("exec", 'await Promise.all([tools.exec_command({cmd: "ls"}), tools.mcp__a__b({})]);', rule);
    expect(both.children?.map(({ as }) => as.item)).toEqual(["command", "mcp"]);
    expect(both.as).toMatchObject({ item: "dynamic", tool: "exec" });
    const loop = read("exec", "for (const cmd of list) await tools.exec_command({cmd});", rule);
    expect(loop).toMatchObject({ kind: "run_command", canonicalName: null, program: { language: "javascript" } });
  });

  it("keeps raw name and input of what it cannot read", () => {
    expect(read("Mystery", { a: [1] })).toMatchObject({ kind: "unknown", canonicalName: null, as: { item: "dynamic", tool: "Mystery", arguments: { a: [1] } } });
    expect(read("Bash", { wrong: 1 }, { kind: "run_command" })).toMatchObject({ kind: "run_command", as: { item: "dynamic", tool: "Bash" } });
    expect(read("Skill", { skill: "x" }, { kind: "unknown", fields: { label: "skill" } })).toMatchObject({ kind: "call_tool", facts: { label: "x" } });
    expect(read("Shell", '{"command": "npm te', { kind: "run_command" }).as.item).toBe("dynamic");
  });

  it("never throws and always presents, whatever name, input, rule and result it gets", () => {
    const kinds: ToolKind[] = [
      "run_command", "read_file", "list_files", "search_files", "edit_file", "write_file", "apply_patch", "web_search", "web_fetch",
      "wait", "call_tool", "spawn_agent", "update_plan", "ask_user", "view_image", "unknown",
    ];
    const keys = fc.constantFrom("command", "path", "file_path", "offset", "limit", "pattern", "edits", "old_string", "content", "patch", "todos", "url", "query", "session_id", "questions", "x");
    const input = fc.oneof(fc.dictionary(keys, fc.jsonValue({ maxDepth: 3 })), fc.jsonValue({ maxDepth: 3 }), fc.string(), fc.constant(undefined));
    const options = fc.constantFrom<ToolRule["options"]>({ patchInShell: true }, { program: "javascript" }, { waitWithoutInput: "x" }, { agent: "wait" }, { effect: "delete" }, { envelope: true }, {});
    const rule = fc.option(fc.record({ kind: fc.constantFrom(...kinds), options }), { nil: undefined });
    fc.assert(
      fc.property(fc.string(), input, rule, fc.option(fc.string(), { nil: null }), fc.jsonValue({ maxDepth: 3 }), (name, raw, given, output, structured) => {
        const reading = interpretCall({ name, input: raw, rule: given as ToolRule | undefined, cwd: CWD });
        const result = interpretResult(reading, { ...NO_RESULT, output, structured, outcome: { status: "succeeded" } });
        const detail = detailOf({ callId: "1", rawName: name, rawInput: raw }, reading, { status: "succeeded" }, result);
        for (const locale of ["zh", "en"] as const) {
          const title = presentTool(detail, CWD).title(locale);
          expect(title).not.toMatch(/[\n\r{]/);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("reads a bare item of any content without throwing", () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue({ maxDepth: 4 }), (command, extra) => {
        const item = {
          type: "commandExecution", id: "1", pluginId: null, scriptPath: null, command, cwd: CWD, processId: null, source: "agent",
          status: "completed", commandActions: [{ type: "unknown", command }], aggregatedOutput: command, exitCode: 0, durationMs: 1,
        } as const;
        const detail = toolDetail({ ...item, commandActions: [...item.commandActions] }, extra);
        expect(presentTool(detail!, CWD).title("en")).not.toContain("\n");
      }),
    );
  });
});
