import type { HarnessError, QuestionSpec, TurnOutcome, UsageReport } from "@foldcast/protocol-core/harness";
import type { ToolContentItem, UserInput } from "@foldcast/protocol-core/wire";
import type { JsonRecord } from "@foldcast/adapter-kit";

/** A piece of what the model said in one step. */
export interface SpokenPart {
  kind: "text" | "think";
  text: string;
}

export interface KnownCall {
  id: string;
  name: string;
  /** An object, or the text of arguments that are no JSON. */
  input: unknown;
}

/** News that set the agent to work by itself: a task in the background ended, a timer fired. */
export interface Notice {
  name: string;
  input: JsonRecord;
  text: string;
  failed: boolean;
}

/** A change of a file as the harness shows it beside a result. */
export interface ShownDiff {
  path: string;
  old: string;
  new: string;
}

/**
 * What one line says, whichever of Kimi's formats it is written in. The formats differ in words, not in what happens:
 * turns of steps; a step is what the model said, calls, and their results.
 */
export type WireNote =
  /** A turn begins. `input` is what is shown as sent; a notice is shown as an item. */
  | { type: "prompt"; input: UserInput[]; byPerson: boolean; notice: Notice | null; turnId: number | null; undoable: boolean }
  /** The copy of a prompt in the model's context; begins a turn only where no `prompt` came before it. */
  | { type: "contextPrompt"; input: UserInput[]; undoable: boolean }
  /** A command of the person's own shell, and its output. */
  | { type: "shellInput"; command: string }
  | { type: "shellOutput"; text: string; failed: boolean }
  /** Input that came while the turn ran. */
  | { type: "steer"; input: UserInput[] }
  | { type: "stepBegin"; step: string | null }
  /** `finish` in the words of kimi-code: `tool_use`, `end_turn`, `max_tokens`, `interrupted`, `error` … */
  | { type: "stepEnd"; step: string | null; finish: string | null; usage: UsageReport | null }
  | { type: "spoken"; id: string | null; step: string | null; part: SpokenPart }
  /** An assistant message of the model's context; says something new only where no step says the same. */
  | { type: "contextAnswer"; parts: SpokenPart[]; calls: KnownCall[] }
  /** Written behind the turn as a copy of it; holds what an interrupted step lost. */
  | { type: "twin"; parts: SpokenPart[]; calls: KnownCall[]; salvaged: boolean }
  /** `growing`: more of its arguments may follow as `callPart`. */
  | { type: "call"; call: KnownCall; growing: boolean }
  | { type: "callPart"; append: string }
  | { type: "result"; callId: string | null; output: string; content: ToolContentItem[] | null; failed: boolean; durationMs: number | null; diffs: ShownDiff[] }
  | { type: "approval"; id: string; callId: string | null; toolName: string | null; title: string | null; display: JsonRecord }
  | { type: "question"; id: string; callId: string | null; questions: QuestionSpec[] }
  | { type: "answered"; id: string; how: "accepted" | "declined" | "answered" | "cancelled" }
  | { type: "usage"; usage: UsageReport }
  | { type: "retry"; error: HarnessError }
  /** A step broke off; `error` where that was a failure. */
  | { type: "interrupted"; error: HarnessError | null }
  | { type: "cancel" }
  | { type: "end"; outcome: TurnOutcome; durationMs: number | null }
  | { type: "compaction"; phase: "begin" | "done" | "cancelled" }
  | { type: "undo"; count: number }
  | { type: "clear" }
  | { type: "childStarted"; callId: string | null; agentId: string; name: string | null; role: string | null; background: boolean }
  | { type: "childEnded"; agentId: string; status: "completed" | "errored" | "interrupted"; message: string | null }
  /** Something that a sub-agent did, written into its parent's file (kimi-cli). */
  | { type: "childNote"; callId: string | null; agentId: string | null; role: string | null; note: WireNote | null }
  /** Work that goes on in the background. */
  | { type: "task"; id: string; running: boolean }
  /** What a file held before the turn changed it; `key` names the copy, null = there was no such file. */
  | { type: "fileBefore"; path: string; key: string | null }
  | { type: "plan"; text: string }
  | { type: "model"; model: string }
  /** Shown with its own name and content. */
  | { type: "aside"; name: string; input: unknown; output: string | null; failed: boolean }
  /** A kind of line that is not known. */
  | { type: "unknown"; name: string; record: JsonRecord };

/** A line's notes, and when it was written: Unix milliseconds, null = not recorded. */
export interface NotedLine {
  at: number | null;
  notes: readonly WireNote[];
}
