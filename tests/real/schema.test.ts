import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { SHARED } from "../support/paths.ts";
import { judge, readRecording, recordings, report, type Judgement, type RecordedFrame } from "../support/recording.ts";
import { WireSchema } from "../support/schema.ts";

let schema: WireSchema;
beforeAll(async () => {
  schema = await WireSchema.load();
});

const initialize: RecordedFrame = { dir: "c2s", msg: { id: 1, method: "initialize", params: { clientInfo: { name: "t" } } } };
const message = { type: "agentMessage", id: "m", text: "hello", phase: "final_answer", moderation: null, memoryCitation: null, delivery: null, questions: null };
const completed = (item: object, more: object = {}): RecordedFrame => ({
  dir: "s2c",
  msg: { method: "item/completed", params: { threadId: "t", turnId: "u", item, completedAtMs: 1 }, ...more },
});
const faults = (...frames: RecordedFrame[]): string[] => judge([initialize, ...frames], schema).faults;

describe("the judge", () => {
  test("knows a result type for every request method", () => {
    expect(schema.withoutResultType).toEqual([]);
  });

  test("passes a sound frame", () => {
    expect(faults(completed(message))).toEqual([]);
    expect(faults(completed(message, { emittedAtMs: 5 }))).toEqual([]);
  });

  test("refuses a member that the schema does not list", () => {
    expect(faults(completed({ ...message, foldcast: {} })).join()).toMatch(/foldcast/);
    expect(faults(completed(message, { jsonrpc: "2.0" })).join()).toMatch(/jsonrpc/);
  });

  test("refuses a value outside of an enumeration", () => {
    expect(faults(completed({ ...message, phase: "finalAnswer" })).join()).toMatch(/phase/);
  });

  test("refuses a frame that lacks a required member", () => {
    expect(faults(completed({ ...message, text: undefined })).join()).toMatch(/'text'/);
  });

  test("checks a response by the request that it answers", () => {
    const request: RecordedFrame = { dir: "c2s", msg: { id: 2, method: "turn/interrupt", params: {} } };
    expect(faults(request, { dir: "s2c", msg: { id: 2, result: {} } })).toEqual([]);
    expect(faults(request, { dir: "s2c", msg: { id: 2, result: { ok: true } } }).join()).toMatch(/ok/);
    expect(faults({ dir: "s2c", msg: { id: 9, result: {} } }).join()).toMatch(/unknown request/);
  });

  test("refuses an unknown method and an error code that Codex does not use", () => {
    expect(faults({ dir: "s2c", msg: { method: "item/finished", params: {} } }).join()).toMatch(/no such method/);
    expect(faults({ dir: "s2c", msg: { id: 1, error: { code: 4, message: "no" } } }).join()).toMatch(/code/);
  });

  test("allows the foldcast member to a client that asked for it", () => {
    const asking: RecordedFrame = {
      dir: "c2s",
      msg: { id: 1, method: "initialize", params: { clientInfo: { name: "t" }, capabilities: { extensions: { foldcast: { detail: true } } } } },
    };
    const withMember = (foldcast: unknown): string[] => judge([asking, completed({ ...message, foldcast })], schema).faults;
    expect(withMember({ rawName: "Bash", rawInput: {}, truncated: true })).toEqual([]);
    expect(withMember(1)).not.toEqual([]);
    expect(withMember({ rawname: "Bash" })).not.toEqual([]);
  });

  test("agrees with what the real server sent", () => {
    const dir = join(SHARED, "data/codex/transcripts");
    const judged: Judgement = { counts: new Map(), faults: [] };
    for (const file of readdirSync(dir).filter((name) => name.startsWith("stdio-") || name.startsWith("tui-"))) {
      const byConnection = new Map<unknown, RecordedFrame[]>();
      for (const line of readFileSync(join(dir, file), "utf8").split("\n").filter(Boolean)) {
        const { conn, ...frame } = JSON.parse(line) as RecordedFrame & { conn: unknown };
        byConnection.set(conn, [...(byConnection.get(conn) ?? []), frame]);
      }
      for (const frames of byConnection.values()) judge(frames, schema, judged);
    }
    console.log(report(judged));
    expect(judged.faults).toEqual([]);
  });
});

test("every frame of the recorded test connections is lawful", () => {
  const judged: Judgement = { counts: new Map(), faults: [] };
  const files = recordings();
  for (const file of files) judge(readRecording(file), schema, judged);
  console.log(`${files.length} connections\n${report(judged)}`);
  expect(judged.faults).toEqual([]);
});
