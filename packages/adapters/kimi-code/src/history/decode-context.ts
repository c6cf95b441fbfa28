import { argumentsOf } from "./decode-code.ts";
import type { NotedLine, WireNote } from "./notes.ts";
import { inputOf, outputOf, partsOf, spokenParts, textOfInput } from "./parts.ts";
import { filledString, type JsonRecord, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";

const HARNESS_TEXT = /^\s*<(?:system|system-reminder|notification)[\s>]/;
const COMPACTED = /^\s*<system>\s*Previous context has been compacted/;

/**
 * Reads a line of kimi-cli's `context.jsonl`, the model's own view of a session: the only trace of sessions from before
 * `wire.jsonl`. It has no times, no usage of single answers and no ends of turns.
 */
export function decodeContext(record: JsonRecord): NotedLine {
  return { at: null, notes: notesOf(record) };
}

function notesOf(record: JsonRecord): WireNote[] {
  const { role, content } = record;
  switch (role) {
    case "user": {
      const first = partsOf(content).map((part) => stringOf(part["text"]) ?? "").find((text) => text !== "") ?? "";
      if (COMPACTED.test(first)) return [{ type: "compaction", phase: "done" }];
      const parts = partsOf(content).filter((part) => !HARNESS_TEXT.test(stringOf(part["text"]) ?? ""));
      const input = inputOf(parts);
      if (textOfInput(input).trim() === "" && !input.some((part) => part.type === "image")) return [];
      return [{ type: "prompt", input, byPerson: true, notice: null, turnId: null, undoable: true }];
    }
    case "assistant":
      return [
        { type: "stepBegin", step: null },
        ...spokenParts(content).map((part): WireNote => ({ type: "spoken", id: null, step: null, part })),
        ...objectsOf(record["tool_calls"]).map(callNote),
      ];
    case "tool":
      return [resultNote(record)];
    default:
      // `_system_prompt`, `_checkpoint`, `_usage`: for the program alone.
      return typeof role === "string" && (role.startsWith("_") || role === "system") ? [] : [{ type: "unknown", name: stringOf(role) ?? "line", record }];
  }
}

function callNote(call: JsonRecord): WireNote {
  const fn = objectOf(call["function"]);
  const id = filledString(call["id"]);
  if (id === null) return { type: "unknown", name: "tool_call", record: call };
  return { type: "call", call: { id, name: filledString(fn["name"]) ?? "tool", input: argumentsOf(fn["arguments"]) }, growing: false };
}

/** The program's own word on the result stands before it, in `<system>`. */
function resultNote(record: JsonRecord): WireNote {
  const parts = partsOf(record["content"]);
  const words = parts.filter((part) => HARNESS_TEXT.test(stringOf(part["text"]) ?? ""));
  const failed = words.some((part) => /^\s*<system>\s*ERROR/.test(stringOf(part["text"]) ?? ""));
  const said = words.map((part) => (stringOf(part["text"]) ?? "").replace(/<\/?system>/g, "").trim()).join("\n");
  const shown = outputOf(parts.filter((part) => !words.includes(part)));
  return {
    type: "result", callId: filledString(record["tool_call_id"]), failed, durationMs: null, diffs: [],
    output: shown.output === "" && shown.content === null ? said : shown.output, content: shown.content,
  };
}
