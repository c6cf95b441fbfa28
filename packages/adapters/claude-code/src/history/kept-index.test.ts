import fc from "fast-check";
import { expect, test } from "vitest";
import { describeKeptIndex } from "@foldcast/adapter-kit/conformance";
import { history } from "./source.ts";
import { assistant, call, result, text, user, write, type Line } from "./testing.ts";

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

describeKeptIndex<Line>({
  history, text, write,
  kinds: { "Claude Code": { line, first: user("first", "begin") } },
  sessions: [{ lines: [user("u1", "one"), assistant("a1", "first")], key: "u1" }, { lines: [user("u9", "another"), assistant("a9", "session")], key: "u9" }],
});

test("an index is not kept while it would hold a text of the conversation", async () => {
  const command = "<command-name>/deploy</command-name><command-args>secret</command-args>";
  const index = await history.open(write(text([user("u1", "one"), assistant("a1", "first"), user("u2", command)])));
  expect(index.snapshot!()).toBeUndefined();
});
