import { appendFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { history } from "./source.ts";
import { assistant, call, eventsOf, result, text, user, write, type Line } from "./testing.ts";

const line = fc.integer({ min: 0, max: 999_999 }).map((n): Line => {
  const id = String(n % 40);
  switch (n % 9) {
    case 0: return user(`u${n}`, `prompt ${n}`);
    case 1: return assistant(`a${n}`, `answer ${n}`, {}, { id: `m${id}` });
    case 2: return call(`c${n}`, `t${id}`, "Bash", { command: "ls" });
    case 3: return result(`r${n}`, `t${id}`, "out");
    case 4: return user(`s${n}`, "aside", { isSidechain: true, agentId: "x" });
    case 5: return { type: "system", subtype: "compact_boundary", uuid: `b${n}` };
    case 6: return { type: "ai-title", aiTitle: `Title ${n}`, sessionId: "session-1" };
    case 7: return user(`i${n}`, "[Request interrupted by user]");
    default: return { type: "summary", leafUuid: `a${n - 8}`, summary: `About ${n}` };
  }
});
const kept = (index: { snapshot?(): unknown }): unknown => JSON.parse(JSON.stringify(index.snapshot!()));

describe("an index that goes on from a kept one", () => {
  test("knows what an index of the whole file knows, wherever the file was when it was kept", async () => {
    await fc.assert(fc.asyncProperty(fc.array(line, { minLength: 2, maxLength: 40 }), fc.double({ min: 0, max: 1, noNaN: true }), async (lines, part) => {
      const content = Buffer.from(text([user("first", "begin"), ...lines]));
      const first = Buffer.byteLength(text([user("first", "begin")]));
      const cut = first + Math.floor((content.length - first) * part);
      const file = write("");
      writeFileSync(file, content.subarray(0, cut));
      const earlier = kept(await history.open(file));
      appendFileSync(file, content.subarray(cut));
      const index = await history.open(file, earlier);
      const whole = await history.open(file);
      expect(index.turns).toEqual(whole.turns);
      expect([index.title, index.cwd, index.nativeSessionId]).toEqual([whole.title, whole.cwd, whole.nativeSessionId]);
      expect(await eventsOf(index)).toEqual(await eventsOf(whole));
    }), { numRuns: 60, seed: 7 });
  });

  test("starts anew where the file was rewritten, is another one, or the kept one is of no use", async () => {
    const file = write(text([user("u1", "one"), assistant("a1", "first")]));
    const earlier = kept(await history.open(file));
    writeFileSync(file, text([user("u9", "another"), assistant("a9", "session")]));
    for (const known of [earlier, null, "?", { version: 1 }, { version: 0, file }]) expect((await history.open(file, known)).turns.map((turn) => turn.key)).toEqual(["u9"]);
    const other = write(text([user("u1", "one"), assistant("a1", "first")]));
    expect((await history.open(other, earlier)).turns.map((turn) => turn.key)).toEqual(["u1"]);
  });

  test("is not kept while it would hold a text of the conversation", async () => {
    const command = "<command-name>/deploy</command-name><command-args>secret</command-args>";
    const index = await history.open(write(text([user("u1", "one"), assistant("a1", "first"), user("u2", command)])));
    expect(index.snapshot!()).toBeUndefined();
  });
});
