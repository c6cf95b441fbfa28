import { foldTurn } from "@foldcast/protocol-core/folding";
import { toolDetail, type ToolCallDetail } from "@foldcast/protocol-core/tools";
import { turnOfView, type TurnView } from "@foldcast/protocol-core/view";
import type { FoldVerdict } from "@foldcast/protocol-core/folding";
import type { ThreadItem, UserInput } from "@foldcast/protocol-core/wire";

/** One thing that a turn's card shows. `key` is unique in the turn and stays the same while the turn goes on. */
export type Unit =
  | { readonly kind: "tool"; readonly key: string; readonly item: ThreadItem; readonly detail: ToolCallDetail }
  | { readonly kind: "text"; readonly key: string; readonly text: string; readonly role: "commentary" | "answer" | "live" | "steer" | "plan" }
  | { readonly kind: "reasoning"; readonly key: string; readonly text: string }
  | { readonly kind: "compaction"; readonly key: string }
  /** An item of a type that this version does not know. */
  | { readonly kind: "other"; readonly key: string; readonly type: string; readonly item: unknown };

export interface TurnUnits {
  readonly units: readonly Unit[];
  readonly verdict: FoldVerdict;
}

/**
 * What of a turn is shown, in order, and how it folds: exactly by the fold that Desktop draws. The first user message
 * is the prompt and stands in the chat already; later ones were added while the turn ran.
 */
export function unitsOf(turn: TurnView): TurnUnits {
  const verdict = foldTurn(turnOfView(turn));
  const units: Unit[] = [];
  let isPrompt = true;
  let ordinal = 0;
  const last = [...turn.items.values()].at(-1)?.item;
  for (const { item } of turn.items.values()) {
    const key = `i${ordinal}`;
    ordinal += 1;
    if (item.type === "userMessage") {
      if (!isPrompt) units.push({ kind: "text", key, text: textOfInput(item.content), role: "steer" });
      isPrompt = false;
      continue;
    }
    const unit = unitOf(item, key, turn, item === last);
    if (unit !== null) units.push(unit);
  }
  return { units, verdict };
}

/** Stays visible when the work before the answer is folded. */
export function isOutside(unit: Unit): boolean {
  return unit.kind === "text" && (unit.role === "answer" || unit.role === "live" || unit.role === "steer");
}

/** Whether two drawings of a turn show the same here. An item that changes in what is shown of it is another object. */
export function isSameUnit(one: Unit, other: Unit): boolean {
  if (one.key !== other.key) return false;
  switch (one.kind) {
    case "tool":
      return other.kind === "tool" && one.item === other.item;
    case "other":
      return other.kind === "other" && one.item === other.item;
    case "text":
      return other.kind === "text" && one.role === other.role && one.text === other.text;
    case "reasoning":
      return other.kind === "reasoning" && one.text === other.text;
    case "compaction":
      return other.kind === "compaction";
  }
}

function unitOf(item: ThreadItem, key: string, turn: TurnView, isLast: boolean): Unit | null {
  switch (item.type) {
    case "agentMessage": {
      if (item.text.trim() === "") return null;
      // What is written at this moment may become the answer; it moves into the history when something follows it.
      const isLive = turn.status === "inProgress" && isLast && item.phase !== "commentary";
      return { kind: "text", key, text: item.text, role: item.phase === "final_answer" ? "answer" : isLive ? "live" : "commentary" };
    }
    case "reasoning": {
      const text = item.summary.filter((part) => part.trim() !== "").join("\n\n");
      return text === "" ? null : { kind: "reasoning", key, text };
    }
    case "plan":
      return item.text.trim() === "" ? null : { kind: "text", key, text: item.text, role: "plan" };
    case "contextCompaction":
      return { kind: "compaction", key };
    case "userMessage":
      return null;
    default: {
      const known: ThreadItem = item;
      const detail = detailOf(known);
      if (detail !== null) return { kind: "tool", key, item: known, detail };
      return { kind: "other", key, type: (known as { type: string }).type, item: known };
    }
  }
}

/** Kept by item: a call that changes comes as a new item, and a turn is drawn many times. */
const DETAILS = new WeakMap<ThreadItem, ToolCallDetail | null>();

function detailOf(item: ThreadItem): ToolCallDetail | null {
  const kept = DETAILS.get(item);
  if (kept !== undefined) return kept;
  const detail = toolDetail(item, (item as { foldcast?: unknown }).foldcast);
  DETAILS.set(item, detail);
  return detail;
}

function textOfInput(content: readonly UserInput[]): string {
  return content.map((part) => (part.type === "text" ? part.text : part.type === "image" ? "🖼️" : `📎 ${"name" in part ? part.name : part.path}`)).join("\n");
}
