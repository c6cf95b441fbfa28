import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { withoutSecrets } from "@foldcast/adapter-kit";
import { askOf } from "./asks.ts";
import { joinedInput } from "./input.ts";
import { effortOf, modeOf, optionArgs, optionRequests } from "./modes.ts";
import { openingLines } from "./opening-lines.ts";
import { outcomeOf } from "./outcome.ts";

describe("the end of a turn", () => {
  const failed = { message: "API Error: 400", code: "other" };
  test.each([
    [{ subtype: "success", is_error: false, terminal_reason: "completed" }, { status: "succeeded" }],
    [{ subtype: "success", is_error: true, terminal_reason: "api_error", result: "API Error: 400 x" }, { status: "failed", error: failed }],
    [{ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming", errors: ["[ede_diagnostic] y"] }, { status: "cancelled" }],
    [{ subtype: "error_max_turns", is_error: true, terminal_reason: "max_turns", errors: ["Reached maximum number of turns (2)"] }, { status: "failed", error: failed }],
  ])("%j", (result, outcome) => expect(outcomeOf(result, failed, false)).toEqual(outcome));

  test("in the program's own words where no record has any, and never in its diagnostics", () => {
    const message = (result: object): unknown => outcomeOf({ is_error: true, ...result }, null, false);
    expect(message({ subtype: "error_max_turns", errors: ["Reached maximum number of turns (2)"] })).toMatchObject({ error: { message: "Reached maximum number of turns (2)" } });
    expect(message({ subtype: "error_during_execution", errors: ["[ede_diagnostic] z"] })).toMatchObject({ error: { message: "The turn failed." } });
    expect(message({ subtype: "success", result: "Not logged in" })).toMatchObject({ error: { message: "Not logged in" } });
  });
});

describe("questions", () => {
  const ask = (request: object, calls: Parameters<typeof askOf>[1] = new Map()): NonNullable<ReturnType<typeof askOf>> => askOf({ id: "r", subtype: "can_use_tool", request: { ...request } }, calls)!;

  test("an edit is shown as what it changes; a mode is widened for the session only", () => {
    const input = { file_path: "/w/a", old_string: "x", new_string: "y" };
    const { interaction, reply } = ask({ tool_name: "Edit", input, permission_suggestions: [{ type: "setMode", mode: "acceptEdits", destination: "projectSettings" }] });
    expect(interaction).toMatchObject({ about: "fileChange", edits: [{ path: "/w/a", fragments: [{ old: "x", new: "y" }] }] });
    expect(reply({ kind: "approval", decision: "acceptForSession" })).toEqual({ behavior: "allow", updatedInput: input, updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }] });
  });

  test("always is not on offer where the program suggests nothing, or forbids it", () => {
    expect(ask({ tool_name: "Bash", input: { command: "ls" } }).interaction).toMatchObject({ offers: ["accept", "decline", "cancel"] });
    expect(ask({ tool_name: "Bash", input: {}, permission_suggestions: [{ type: "addRules" }], suppress_always_allow_rule: true }).interaction).toMatchObject({ offers: ["accept", "decline", "cancel"] });
  });

  test("a plan that the program took out of the input is found in the call", () => {
    const calls = new Map([["c", { itemId: "c", name: "ExitPlanMode", input: { plan: "1. Do it." }, agent: null }]]);
    expect(ask({ tool_name: "ExitPlanMode", input: {}, tool_use_id: "c" }, calls).interaction).toMatchObject({ itemId: "c", about: "tool", reason: "1. Do it." });
  });

  test("a tool that is not known is named, with its input; a call of a sub-agent is none of the turn's items", () => {
    const { interaction } = ask({ tool_name: "mcp__a__b", input: { x: 1 }, tool_use_id: "elsewhere" });
    expect(interaction).toMatchObject({ about: "tool", title: "Use mcp__a__b?", reason: "{\n  \"x\": 1\n}" });
    expect(interaction).not.toHaveProperty("itemId");
  });
});

describe("questions of MCP servers", () => {
  const elicit = (request: object): ReturnType<typeof askOf> => askOf({ id: "r", subtype: "elicitation", request: { mcp_server_name: "shop", message: "Which size?", ...request } }, new Map());

  test("are forms or pages, with MCP's own answers", () => {
    const form = elicit({ requested_schema: { type: "object", properties: { size: { type: "string" } }, required: ["size"] } })!;
    expect(form.interaction).toMatchObject({ kind: "elicitation", mode: "form", server: "shop", schema: { properties: { size: { type: "string" } }, required: ["size"] } });
    expect(form.reply({ kind: "elicitation", action: "accept", content: { size: "L" } })).toEqual({ action: "accept", content: { size: "L" } });
    expect(form.reply({ kind: "elicitation", action: "decline" })).toEqual({ action: "decline" });
    expect(elicit({ mode: "url", url: "https://shop.example/pay", elicitation_id: "e" })?.interaction).toMatchObject({ mode: "url", url: "https://shop.example/pay", elicitationId: "e" });
  });

  test("that no person could fill in are not put", () => {
    expect(elicit({ requested_schema: { type: "object", properties: { nested: { type: "object" } } } })).toBeNull();
  });
});

describe("options", () => {
  test("Codex's names are read where they mean something here, the rest changes nothing", () => {
    expect(["minimal", "high", "max", "none", null].map(effortOf)).toEqual(["low", "high", "max", null, null]);
    expect([":workspace", ":danger-full-access", "plan", "no such mode", null].map(modeOf)).toEqual(["acceptEdits", "bypassPermissions", "plan", null, null]);
  });

  test("what nobody chose is left to the user's own settings", () => {
    expect(optionArgs({ cwd: "/w", model: null, thinking: null, permissionMode: null })).toEqual([]);
    expect(optionArgs({ cwd: "/w", model: "default", thinking: "none", permissionMode: ":read-only" })).toEqual(["--permission-mode", "manual"]);
    expect(optionRequests({})).toEqual([]);
    expect(optionRequests({ model: null, thinking: "low" })).toEqual([{ subtype: "set_model", model: "default" }, { subtype: "apply_flag_settings", settings: { effortLevel: "low" } }]);
  });
});

test("messages that are answered as one are joined as the program joins them", () => {
  const text = (words: string) => [{ type: "text" as const, text: words, text_elements: [] }];
  expect(joinedInput([text("a"), text("b")])).toEqual(text("a\nb"));
  expect(joinedInput([text("a")])).toEqual(text("a"));
});

test("words that look like credentials do not leave", () => {
  const env = { ANTHROPIC_AUTH_TOKEN: "plain-looking-words", HOME: "/home/someone-long" };
  expect(withoutSecrets("Bearer abcdefghijk at /home/someone-long with sk-ant-abc12345 and plain-looking-words; https://u:pass@host/", env))
    .toBe("Bearer [redacted] at /home/someone-long with [redacted] and [redacted]; https://u:[redacted]@host/");
});

describe("lines that set the agent to work", () => {
  const folder = mkdtempSync(join(tmpdir(), "claude-opening-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const notice = (uuid: string) => ({ type: "user", uuid, turnPosition: {}, message: { content: "<task-notification><task-id>x</task-id></task-notification>" } });
  const answer = (uuid: string) => ({ type: "assistant", uuid, message: { content: [{ type: "text", text: "yes" }] } });
  const prompt = (uuid: string) => ({ type: "user", uuid, turnPosition: {}, turnAttributionKey: uuid, message: { content: "hello" } });
  const find = async (lines: readonly object[], lastSeen: string | null): Promise<unknown[]> => {
    const file = join(folder, "session.jsonl");
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return (await openingLines(file, lastSeen)).map(({ uuid }) => uuid);
  };

  test("stand behind the last line that was told, with or without their answer, several together", async () => {
    expect(await find([prompt("p"), answer("a"), { type: "attachment", uuid: "t" }, notice("n1"), notice("n2")], "a")).toEqual(["n1", "n2"]);
    expect(await find([prompt("p"), answer("a"), notice("n"), { type: "api-request" }, answer("b")], "a")).toEqual(["n"]);
    expect(await find([notice("old"), answer("o"), prompt("p"), answer("a"), notice("n")], null)).toEqual(["n"]);
  });

  test("are not there yet, or nowhere", async () => {
    expect(await find([prompt("p"), answer("a")], "a")).toEqual([]);
    expect(await find([notice("old"), answer("o"), prompt("p")], "o")).toEqual([]);
    expect(await openingLines(join(folder, "none.jsonl"), null)).toEqual([]);
  });
});
