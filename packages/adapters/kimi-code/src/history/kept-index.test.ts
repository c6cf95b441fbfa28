import fc from "fast-check";
import { describeKeptIndex } from "@foldcast/adapter-kit/conformance";
import { history } from "./source.ts";
import { begin, calls, copy, ended, finish, type Line, prompt, result, says, text, wire, write } from "./testing.ts";

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

describeKeptIndex<Line>({
  history, text, write,
  kinds: { "kimi-code": { line: code, first: prompt("begin") }, "kimi-cli": { line: cli, first: wire("TurnBegin", { user_input: "begin" }) } },
  sessions: [{ lines: [prompt("one", { turnId: 0 })], key: "turn-0" }, { lines: [prompt("another", { turnId: 5 }), begin("1")], key: "turn-5" }],
});
