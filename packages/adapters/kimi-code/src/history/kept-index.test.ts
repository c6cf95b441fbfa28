import { appendFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { history } from "./source.ts";
import { begin, calls, copy, ended, eventsOf, finish, type Line, prompt, result, says, text, wire, write } from "./testing.ts";

const code = fc.integer({ min: 0, max: 9999 }).map((n): Line => {
  const id = String(n % 30);
  switch (n % 12) {
    case 0: return prompt(`prompt ${n}`, { turnId: n % 7, promptId: `p${n % 5}` });
    case 1: return copy(`prompt ${n}`);
    case 2: return begin(id);
    case 3: return says(id, `answer ${n}`);
    case 4: return calls(id, `c${id}`, "Bash", { command: "ls" });
    case 5: return result(`c${id}`, "out");
    case 6: return finish(id, n % 2 === 0 ? "end_turn" : "tool_use");
    case 7: return ended(n % 2 === 0 ? "completed" : "cancelled");
    case 8: return { type: "full_compaction.begin" };
    case 9: return { type: "full_compaction.complete" };
    case 10: return { type: "context.undo", count: 1 + (n % 2) };
    default: return { type: "something.new", n };
  }
});
const cli = fc.integer({ min: 0, max: 9999 }).map((n): Line => {
  switch (n % 4) {
    case 0: return wire("TurnBegin", { user_input: `prompt ${n}` });
    case 1: return wire("StepBegin", { n: 1 });
    case 2: return wire("ContentPart", { type: "text", text: `answer ${n}` });
    default: return wire("CompactionBegin");
  }
});
const kept = (index: { snapshot?(): unknown }): unknown => JSON.parse(JSON.stringify(index.snapshot!() ?? null));

describe("an index that goes on from a kept one", () => {
  it.each([["kimi-code", code, prompt("begin")], ["kimi-cli", cli, wire("TurnBegin", { user_input: "begin" })]])("knows what an index of the whole file knows, wherever the file was when it was kept: %s", async (_, line, first) => {
    await fc.assert(fc.asyncProperty(fc.array(line, { minLength: 2, maxLength: 40 }), fc.double({ min: 0, max: 1, noNaN: true }), async (lines, part) => {
      const content = Buffer.from(text([first, ...lines]));
      const least = Buffer.byteLength(text([first]));
      const cut = least + Math.floor((content.length - least) * part);
      const file = write("");
      writeFileSync(file, content.subarray(0, cut));
      const earlier = kept(await history.open(file));
      appendFileSync(file, content.subarray(cut));
      const index = await history.open(file, earlier);
      const whole = await history.open(file);
      expect(index.turns).toEqual(whole.turns);
      expect([index.nativeSessionId, index.cwd]).toEqual([whole.nativeSessionId, whole.cwd]);
      expect(await eventsOf(index)).toEqual(await eventsOf(whole));
    }), { numRuns: 60, seed: 9 });
  });

  it("starts anew where the file was rewritten, is another one, or the kept one is of no use", async () => {
    const file = write(text([prompt("one", { turnId: 0 })]));
    const earlier = kept(await history.open(file));
    writeFileSync(file, text([prompt("another", { turnId: 5 }), begin("1")]));
    for (const known of [earlier, null, "?", { version: 1 }, { version: 0, file }]) expect((await history.open(file, known)).turns.map((turn) => turn.key)).toEqual(["turn-5"]);
    const other = write(text([prompt("one", { turnId: 3 })]));
    expect((await history.open(other, earlier)).turns.map((turn) => turn.key)).toEqual(["turn-3"]);
  });
});
