import { appendFileSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { historySource } from "./history.ts";

const folder = mkdtempSync(join(tmpdir(), "scripted-peek-"));
const history = historySource(folder, () => null);
let files = 0;

const header = (more: object = {}): string => `${JSON.stringify({ type: "session", version: 1, harness: "scripted", id: "s1", cwd: "/w", createdAt: 5, model: "demo", ...more })}\n`;
const lines = (turn: string, events: readonly HarnessEvent[]): string => events.map((event) => `${JSON.stringify({ turn, event })}\n`).join("");
const turn = (key: string, prompt: string, at: number, output = ""): string => lines(key, [
  { type: "turn.started", turnKey: key, at, input: [{ type: "text", text: prompt, text_elements: [] }] },
  { type: "item.started", item: { kind: "message", id: `m${key}`, text: output }, at: at + 1 },
  { type: "item.completed", itemId: `m${key}`, outcome: { status: "succeeded" }, at: at + 2 },
  { type: "turn.completed", outcome: { status: "succeeded" }, at: at + 3 },
]);
function write(content: string): string {
  const file = join(folder, `${files++}.jsonl`);
  writeFileSync(file, content);
  return file;
}

describe("a look at a session", () => {
  test("tells its first prompt and its times, however long the file is", async () => {
    const file = write(header({ forkedFrom: { id: "s0" } }) + turn("t1", "begin", 10) + turn("t2", "x", 20, "y".repeat(3_000_000)) + turn("t3", "end", 30));
    expect(statSync(file).size).toBeGreaterThan(3_000_000);
    expect(await history.peek!(file)).toEqual({
      nativeSessionId: "s1", cwd: "/w", title: null, prompt: "begin", startedAt: 10, updatedAt: 33, kind: "session", parentNativeSessionId: "s0",
    });
  });

  test("is null without a turn, and for files of others", async () => {
    expect(await history.peek!(write(header()))).toBeNull();
    expect(await history.peek!(write("{}\n"))).toBeNull();
    expect(await history.peek!("/nowhere/x.txt")).toBeNull();
  });
});

describe("an index that goes on from a kept one", () => {
  test("knows what an index of the whole file knows", async () => {
    const file = write(header() + turn("t1", "one", 10) + turn("t2", "two", 20).slice(0, 300));
    const kept: unknown = JSON.parse(JSON.stringify((await history.open(file)).snapshot!()));
    appendFileSync(file, turn("t2", "two", 20).slice(300) + turn("t3", "three", 30));
    const [index, whole] = await Promise.all([history.open(file, kept), history.open(file)]);
    expect(index.turns).toEqual(whole.turns);
    writeFileSync(file, header({ id: "other" }) + turn("t9", "nine", 90));
    expect((await history.open(file, kept)).turns.map(({ key }) => key)).toEqual(["t9"]);
  });
});
