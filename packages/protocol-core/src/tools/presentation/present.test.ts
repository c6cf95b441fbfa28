import { describe, expect, it } from "vitest";
import { detailOf, interpretCall, interpretResult, NO_RESULT, presentTool, toolDetail, type CallResult, type ToolRule } from "../index.ts";
import type { ItemOutcome } from "../../harness/index.ts";
import { ACTIONS, STATE_ICONS } from "./wording.ts";
import { titleDuration, titleText, titleUrl } from "./text.ts";

const CWD = "/w";
const DONE: ItemOutcome = { status: "succeeded" };

interface Given {
  outcome?: ItemOutcome | null;
  result?: Partial<CallResult>;
}

function titles(name: string, input: unknown, rule: ToolRule | undefined, { outcome = DONE, result = {} }: Given = {}): [string, string] {
  const reading = interpretCall({ name, input, rule, cwd: CWD });
  const read = outcome === null ? null : interpretResult(reading, { ...NO_RESULT, ...result, outcome });
  const shown = presentTool(detailOf({ callId: "1", rawName: name, rawInput: input }, reading, outcome, read), CWD);
  return [shown.title("zh"), shown.title("en")];
}

const patch = (...files: string[]): string => `*** Begin Patch\n${files.map((file) => `*** Add File: ${file}\n+x\n`).join("")}*** End Patch`;
const numbered = (lines: number): string => Array.from({ length: lines }, (_, index) => `${index + 1}\tx`).join("\n");

describe("titles", () => {
  it.each<[string, unknown, ToolRule | undefined, Given, string, string]>([
    ["Read", { file_path: "/w/src/app.ts", offset: 1, limit: 120 }, { kind: "read_file" }, { result: { output: numbered(120) } },
      "📖 读取 src/app.ts · 第 1–120 行 · 120 行", "📖 Read src/app.ts · lines 1–120 · 120 lines"],
    ["Read", { path: "/w/src/app.ts" }, { kind: "read_file" }, { result: { output: numbered(80) } }, "📖 读取 src/app.ts · 80 行", "📖 Read src/app.ts · 80 lines"],
    ["Bash", { command: "sed -n '420,520p' burrow/quokka.ts" }, { kind: "run_command" }, { result: { output: "x\n".repeat(101), exitCode: 0 } },
      "📖 读取 burrow/quokka.ts · 第 420–520 行 · 101 行", "📖 Read burrow/quokka.ts · lines 420–520 · 101 lines"],
    ["Grep", { pattern: "foo", path: "src/" }, { kind: "search_files" }, { result: { output: "Found 18 matches" } }, "🔎 搜索 “foo” · src/ · 18 处", "🔎 Searched “foo” · src/ · 18 hits"],
    ["Bash", { command: "rg quokka_call burrow" }, { kind: "run_command" }, { result: { output: "burrow/a.ts:quokka_call\n" } }, "🔎 搜索 “quokka_call” · burrow/ · 1 处", "🔎 Searched “quokka_call” · burrow/ · 1 hit"],
    ["Bash", { command: "ls src/runtime/" }, { kind: "run_command" }, {}, "📂 浏览 src/runtime/", "📂 Listed src/runtime/"],
    ["LS", { path: "/w/src/runtime" }, { kind: "list_files" }, {}, "📂 浏览 src/runtime/", "📂 Listed src/runtime/"],
    ["Bash", { command: "npm test" }, { kind: "run_command" }, { result: { exitCode: 0, durationMs: 1_234 } }, "💻 运行 npm test · 1.2s", "💻 Ran npm test · 1.2s"],
    ["apply_patch", patch("src/a.ts", "src/b.ts", "src/c.ts"), { kind: "apply_patch" }, { result: { durationMs: 1_400 } },
      "🛠️ 修改 3 个文件 · src/a.ts · src/b.ts · src/c.ts · 1.4s", "🛠️ Changed 3 files · src/a.ts · src/b.ts · src/c.ts · 1.4s"],
    ["Edit", { path: "/w/src/app.ts", old_string: "a", new_string: "b" }, { kind: "edit_file" }, {}, "🛠️ 修改 src/app.ts", "🛠️ Changed src/app.ts"],
    ["Write", { path: "/w/src/app.ts", content: "a" }, { kind: "write_file" }, {}, "📝 写入 src/app.ts", "📝 Wrote src/app.ts"],
    ["mcp__server__read", { path: "src/a.ts" }, undefined, {}, "🔧 调用 server/read · src/a.ts", "🔧 Called server/read · src/a.ts"],
    ["Odd", { url: "https://example.com/x?token=1" }, undefined, {}, "🔧 调用 Odd · example.com", "🔧 Called Odd · example.com"],
    ["FetchURL", { url: "https://u:p@example.com/a/b?token=1" }, { kind: "web_fetch" }, {}, "🌐 打开网页 example.com/a/b", "🌐 Opened example.com/a/b"],
    ["WebSearch", { query: "cats" }, { kind: "web_search" }, { result: { structured: { sources: [{ url: "https://a" }] } } },
      "🌐 搜索网页 “cats” · 1 个来源", "🌐 Searched the web for “cats” · 1 source"],
    ["TodoWrite", { todos: [{ content: "a", status: "completed" }, { content: "b" }] }, { kind: "update_plan" }, {}, "📋 更新计划 · 1/2", "📋 Updated the plan · 1/2"],
    ["Agent", { description: "Look around", prompt: "x" }, { kind: "spawn_agent" }, {}, "🤖 委派 Look around", "🤖 Delegated Look around"],
    ["close", { id: "a1" }, { kind: "spawn_agent", fields: { label: "id" }, options: { agent: "closeAgent" } }, {}, "🤖 结束代理 a1", "🤖 Closed the agent a1"],
    ["Ask", { questions: [{ question: "Which colour?" }] }, { kind: "ask_user" }, {}, "❓ 询问 “Which colour?”", "❓ Asked “Which colour?”"],
    ["view_image", { path: "/w/a.png" }, { kind: "view_image" }, {}, "🖼️ 查看图片 a.png", "🖼️ Viewed a.png"],
    ["TaskOutput", { task_id: "bash-1" }, { kind: "wait" }, {}, "⏳ 等待 bash-1", "⏳ Waited for bash-1"],
    ["Skill", { skill: "verify" }, { kind: "unknown", fields: { label: "skill" } }, {}, "🔧 调用 Skill · verify", "🔧 Called Skill · verify"],
    ["exec", 'await Promise.all([tools.exec_command({cmd: "ls"}), tools.apply_patch("x"), tools.exec_command({cmd: "pwd"})])',
      { kind: "run_command", options: { program: "javascript" } }, {}, "🔧 调用 3 个工具 · exec_command · apply_patch", "🔧 Called 3 tools · exec_command · apply_patch"],
  ])("%s %j", (name, input, rule, given, zh, en) => {
    expect(titles(name, input, rule, given)).toEqual([zh, en]);
  });

  it("gives running, failed, cancelled and declined calls the icon of their state and no word for it", () => {
    const rule: ToolRule = { kind: "run_command" };
    expect(titles("Bash", { command: "npm test" }, rule, { outcome: null })).toEqual(["⏳ 运行 npm test", "⏳ Running npm test"]);
    expect(titles("Bash", { command: "npm test" }, rule, { outcome: { status: "failed" }, result: { exitCode: 2 } })).toEqual(["❌ 运行 npm test · exit 2", "❌ Run npm test · exit 2"]);
    expect(titles("Bash", { command: "npm test" }, rule, { result: { exitCode: 2 } })[0]).toBe("❌ 运行 npm test · exit 2");
    expect(titles("Read", { path: "a" }, { kind: "read_file" }, { outcome: { status: "failed", message: "Error: no such file\nstack" } })[1]).toBe("❌ Read a · no such file");
    expect(titles("Bash", { command: "rm x" }, rule, { outcome: { status: "cancelled" } })[0]).toBe("⏹️ 运行 rm x");
    expect(titles("Bash", { command: "rm x" }, rule, { outcome: { status: "declined" } })[0]).toBe("🚫 运行 rm x");
  });

  it("takes a search without hits for an answer, not for a failure", () => {
    expect(titles("Bash", { command: "rg quokka lib" }, { kind: "run_command" }, { result: { exitCode: 1, output: "" } })[0]).toBe("🔎 搜索 “quokka” · lib · 0 处");
  });

  it("has words for every kind and state in both languages", () => {
    for (const { icon, words } of Object.values(ACTIONS)) {
      expect(icon).not.toBe("");
      for (const locale of ["zh", "en"] as const) for (const state of ["running", "succeeded", "failed", "cancelled", "declined"] as const) expect(words[locale][state]).not.toBe("");
    }
    expect(Object.keys(ACTIONS)).toHaveLength(16);
    expect(new Set(Object.values(STATE_ICONS)).size).toBe(4);
  });

  it("keeps a title on one line and free of data", () => {
    expect(titles("Bash", { command: "cat <<EOF > a\nx\nEOF" }, { kind: "run_command" })[0]).toBe("💻 运行 cat <<EOF > a …");
    expect(titles("Bash", { command: "make ${TARGET}" }, { kind: "run_command" })[0]).toBe("💻 运行 make $…");
    expect(titles("Odd", { name: '{"a":1}' }, undefined)[0]).toBe("🔧 调用 Odd · …");
  });
});

describe("title texts", () => {
  it("cuts by code points and marks the cut", () => {
    expect(titleText("😀".repeat(5), 3)).toBe("😀😀😀 …");
    expect(titleText("a".repeat(1_000_000), 3)).toBe("aaa …");
    expect(titleText("  one\ttwo\u001b[1m ")).toBe("one two [1m");
  });

  it("writes times as a person does", () => {
    expect([50, 1_234, 59_900, 60_000, 125_000, 3_725_000].map(titleDuration)).toEqual([null, "1.2s", "59.9s", "1m 00s", "2m 05s", "1h 02m"]);
  });

  it("leaves secrets out of addresses", () => {
    expect(titleUrl("https://user:pass@example.com/a/?key=1#b")).toBe("example.com/a");
  });
});

describe("toolDetail", () => {
  const command = (text: string, actions: unknown[], more: object = {}): never =>
    ({
      type: "commandExecution", id: "i", command: text, cwd: CWD, status: "completed", commandActions: actions, aggregatedOutput: null, exitCode: 0,
      durationMs: null, processId: null, source: "agent", pluginId: null, scriptPath: null, ...more,
    }) as never;

  it("presents a native command without its shell wrapper", () => {
    const detail = toolDetail(command("/bin/bash -lc 'npm test'", [{ type: "unknown", command: "npm test" }], { durationMs: 1_200 }))!;
    expect(detail).toMatchObject({ rawName: null, rawInput: null, kind: "run_command", view: { card: "terminal", command: "npm test" } });
    expect(presentTool(detail, CWD).title("zh")).toBe("💻 运行 npm test · 1.2s");
  });

  it.each<[string, unknown, ToolRule, string | null]>([
    ["Read", { file_path: "/w/src/app.ts", offset: 3, limit: 10 }, { kind: "read_file" }, numbered(10)],
    ["Read", { file_path: "/x/app.ts" }, { kind: "read_file" }, numbered(10)],
    ["Grep", { pattern: "a, b\"", path: "src/", glob: "*.ts" }, { kind: "search_files" }, "src/a.ts:1:a, b\n"],
    ["Grep", { pattern: "a", glob: "*.ts" }, { kind: "search_files" }, null],
    ["Glob", { pattern: "**/*.ts", path: "src" }, { kind: "list_files" }, "src/a.ts\nsrc/b.ts"],
    ["Glob", { pattern: "**/*.ts" }, { kind: "list_files" }, null],
    ["LS", { path: "/w/src" }, { kind: "list_files" }, null],
    ["Bash", { command: "ls src/runtime/" }, { kind: "run_command" }, null],
    ["Bash", { command: "cat quokka.ts && sed -n 1,5p burrow.ts" }, { kind: "run_command" }, null],
    ["Bash", { command: "make it" }, { kind: "run_command" }, "x"],
  ])("gives the item of %s %j the title and view of the call", (name, input, rule, output) => {
    const reading = interpretCall({ name, input, rule, cwd: CWD });
    if (reading.as.item !== "command") throw new Error("no command");
    const detail = toolDetail(command(reading.as.command, reading.as.actions, { aggregatedOutput: output, exitCode: null }))!;
    expect([presentTool(detail, CWD).title("zh"), presentTool(detail, CWD).title("en")]).toEqual(titles(name, input, rule, { result: { output } }));
    expect(detail.view).toEqual(interpretResult(reading, { ...NO_RESULT, output, outcome: DONE }).view);
  });

  it.each<[string, unknown, ToolRule | undefined, object]>([
    ["Edit", { path: "/w/a", old_string: "x", new_string: "y" }, { kind: "edit_file" },
      { type: "fileChange", status: "completed", changes: [{ path: "/w/a", kind: { type: "update", move_path: null }, diff: "" }] }],
    ["apply_patch", patch("a", "b"), { kind: "apply_patch" },
      { type: "fileChange", status: "completed", changes: [{ path: "/w/a", kind: { type: "add" }, diff: "x\n" }, { path: "/w/b", kind: { type: "add" }, diff: "x\n" }] }],
    ["mcp__gh__read", { path: "a" }, undefined, { type: "mcpToolCall", server: "gh", tool: "read", arguments: { path: "a" }, status: "completed", error: null, durationMs: null }],
    ["Odd", { query: "x" }, undefined, { type: "dynamicToolCall", tool: "Odd", arguments: { query: "x" }, status: "completed", contentItems: null, durationMs: null }],
    ["WebSearch", { query: "x" }, { kind: "web_search" }, { type: "webSearch", query: "x", action: { type: "search", query: "x", queries: null }, results: null }],
    ["WebFetch", { url: "https://a/b" }, { kind: "web_fetch" }, { type: "webSearch", query: "https://a/b", action: { type: "openPage", url: "https://a/b" }, results: null }],
    ["view_image", { path: "a.png" }, { kind: "view_image" }, { type: "imageView", path: "/w/a.png" }],
  ])("gives the item of %s its title and view", (name, input, rule, item) => {
    const detail = toolDetail({ id: "i", ...item } as never)!;
    const reading = interpretCall({ name, input, rule, cwd: CWD });
    expect([presentTool(detail, CWD).title("zh"), presentTool(detail, CWD).title("en")]).toEqual(titles(name, input, rule));
    expect(detail.view).toEqual(interpretResult(reading, { ...NO_RESULT, outcome: DONE }).view);
    expect(detail).toMatchObject({ rawName: null, rawInput: null });
  });

  it("is null for what is no tool call", () => {
    expect(toolDetail({ type: "reasoning", id: "1", summary: [], content: [] })).toBeNull();
  });
});
