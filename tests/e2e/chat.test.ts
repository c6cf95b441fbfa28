import { describe, expect, test } from "vitest";
import { foldcast, jsonLines } from "../support/command.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";

endToEnd();

type Line = Record<string, unknown> & { params?: Record<string, unknown> };
const methodsOf = (lines: readonly Line[]): unknown[] => lines.map((line) => line["method"]);
const itemsDone = (lines: readonly Line[]): { type: string; status?: string }[] =>
  lines.flatMap((line) => (line["method"] === "item/completed" ? [line.params!["item"] as { type: string; status?: string }] : []));

describe("foldcast chat through a pipe", () => {
  test("shows a whole turn, its first approval answered from the pipe, the second declined at the pipe's end", async () => {
    const { code, stdout, stderr } = await foldcast(["chat", "--json", "--model", "scripted/approval", "--scenario-speed", "0"], { input: "do the demo\n1\n" });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const lines = jsonLines(stdout) as Line[];
    expect(lines.filter((line) => "event" in line).map(({ event, state, answer }) => [event, state, answer])).toEqual([
      ["prompt", undefined, undefined],
      ["interaction", "open", undefined], ["interaction", "answered", { kind: "approval", decision: "accept" }],
      ["interaction", "open", undefined], ["interaction", "answered", { kind: "approval", decision: "decline" }],
      ["done", undefined, undefined],
    ]);
    expect(lines.at(-1)).toMatchObject({ event: "done", turns: 1, status: "completed" });
    expect(itemsDone(lines).map(({ type, status }) => [type, status])).toEqual([
      ["userMessage", undefined], ["agentMessage", undefined], ["commandExecution", "completed"], ["fileChange", "declined"], ["agentMessage", undefined],
    ]);
    expect(methodsOf(lines)).toContain("turn/completed");
  });

  test("as text, with a wrong word, an approval for good, a refusal, and a question by number", async () => {
    const { code, stdout } = await foldcast(["chat", "--model", "scripted/approval", "--scenario-speed", "0"], { input: "do the demo\nbanana\nalways\ndeny\na question\n2\n" });
    expect(code).toBe(0);
    for (const part of ["Expected: approve, deny, always", "→ acceptForSession", "💻 Ran rm -rf build", "→ decline", "→ coverage", "Thank you, I will keep to that."]) expect(stdout).toContain(part);
    expect(stdout).toMatch(/Worked for \d+s/);
    expect(stdout.match(/That is all/g)).toHaveLength(1);
  });

  test("fills in a form question by question, chooses a quick reply, and leaves nothing of it to a model", async () => {
    const { code, stdout } = await foldcast(["chat", "--json", "--model", "scripted/approval", "--scenario-speed", "0"], {
      input: "a form\nBroken build\n2\nnotify=yes\nsubmit\na quick reply\n2\nbuild\n/_interaction nobody approve\n",
    });
    const lines = jsonLines(stdout) as Line[];
    expect(lines.flatMap((line) => (line["state"] === "answered" ? [line["answer"]] : []))).toEqual([
      { kind: "elicitation", action: "accept", content: { title: "Broken build", severity: "high", notify: true } }, { kind: "question", answers: { folder: ["build"] } },
    ]);
    const prompts = lines.flatMap((line) => (line["method"] === "item/completed" ? [line.params!["item"] as { type: string; content?: [{ text: string }] }] : [])).flatMap(({ type, content }) => (type === "userMessage" ? [content![0].text] : []));
    expect(prompts).toEqual(["a form", "a quick reply", "a question"]);
    expect(lines.filter(({ event }) => event === "notice").at(-1)).toMatchObject({ text: "There is no interaction nobody." });
    // The last line could not be done.
    expect(code).toBe(1);
  });

  test("ends with code 1 after a turn that failed", async () => {
    expect((await foldcast(["chat", "--model", "scripted/failure", "--scenario-speed", "0"], { input: "go\n" })).code).toBe(1);
  });

  test("with --approve all nothing is asked", async () => {
    const { code, stdout } = await foldcast(["chat", "--json", "--approve", "all", "--model", "scripted/approval", "--scenario-speed", "0"], { input: "do the demo\n" });
    expect(code).toBe(0);
    expect(itemsDone(jsonLines(stdout)).flatMap(({ status }) => status ?? [])).toEqual(["completed", "completed"]);
  });

  test("a model that is not there is a fault, a wrong flag wrong usage", async () => {
    expect(await foldcast(["chat", "--model", "scripted/nobody"], { input: "x\n" })).toMatchObject({ code: 1, stderr: expect.stringContaining("scripted/nobody") });
    expect((await foldcast(["chat", "--approve", "maybe"])).code).toBe(2);
  });
});

test("a chat on a running server answers for another client's screen, and goes on with its thread", async () => {
  await using server = await startServer({ args: ["--scenario-speed", "0"] });
  await using other = await PlainClient.connect(server.url);
  const thread = await other.start({ model: "scripted/approval", cwd: "/w" });
  const turnId = await other.submit(thread.id, "do the demo");
  const chat = await foldcast(["chat", "--json", "--server", server.url, "--thread", thread.id], { input: "approve\napprove\n" });
  expect(chat.code).toBe(0);
  const turn = await other.ended(thread.id, turnId);
  expect(turn.items.flatMap((item) => ("status" in item ? [item.status] : []))).toEqual(["completed", "completed"]);
  expect(other.wire.requests.map(({ method }) => method)).toEqual(["item/commandExecution/requestApproval", "item/fileChange/requestApproval"]);
  expect(other.wire.notifications.filter(({ method }) => method === "serverRequest/resolved").map(({ params }) => params["requestId"])).toEqual(other.wire.requests.map(({ id }) => id));
});
