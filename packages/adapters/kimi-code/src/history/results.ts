import type { ItemOutcome, ItemResult } from "@foldcast/protocol-core/harness";
import type { WireNote } from "./notes.ts";

const COMMANDS: ReadonlySet<string> = new Set(["Bash", "Shell", "CMD"]);
/** Kimi Code 2.1.0 and kimi-cli, of calls that were stopped. */
const STOPPED = /^(?:Tool "[^"]*" failed: )?(?:Interrupted by user|Aborted by the user|Session closed)/;
const REJECTED = /was not run because the user rejected|^The tool call is rejected by the user/;

/** How a call ended. `declined`: its approval was refused. */
export function resultOf(note: Extract<WireNote, { type: "result" }>, name: string, declined: boolean): { outcome: ItemOutcome; result: ItemResult } {
  const exitCode = note.failed && COMMANDS.has(name) ? /Command failed with exit code: (\d{1,3})\.?\s*$/.exec(note.output)?.[1] : undefined;
  return {
    outcome: outcomeOf(note, declined),
    result: {
      output: note.output,
      ...(note.content === null ? {} : { content: note.content }),
      ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }),
      ...(note.durationMs === null || note.durationMs < 0 ? {} : { durationMs: note.durationMs }),
    },
  };
}

function outcomeOf({ failed, output }: Extract<WireNote, { type: "result" }>, declined: boolean): ItemOutcome {
  if (!failed) return { status: "succeeded" };
  if (declined || REJECTED.test(output)) return { status: "declined" };
  if (STOPPED.test(output)) return { status: "cancelled" };
  const message = output.trim().slice(0, 1000);
  return message === "" ? { status: "failed" } : { status: "failed", message };
}
