import type { TurnView } from "@foldcast/protocol-core/view";
import { emptyTurn } from "@foldcast/protocol-core/view";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { CardChange } from "./plan.ts";
import type { PanelElement, TurnCard, TurnElement } from "./document.ts";
import type { TurnCardInput } from "./render.ts";

export function commandItem(id: string, command: string, extra: Partial<Extract<ThreadItem, { type: "commandExecution" }>> = {}): ThreadItem {
  return {
    type: "commandExecution", id, pluginId: null, scriptPath: null, command, cwd: "/w", processId: null, source: "agent", status: "completed",
    commandActions: [{ type: "unknown", command }], aggregatedOutput: "out\n", exitCode: 0, durationMs: 1_200, ...extra,
  };
}

export function messageItem(id: string, text: string, phase: "commentary" | "final_answer" | null = null): ThreadItem {
  return { type: "agentMessage", id, text, phase, moderation: null, memoryCitation: null, delivery: null, questions: null };
}

export function userItem(id: string, text: string): ThreadItem {
  return { type: "userMessage", id, clientId: null, content: [{ type: "text", text, text_elements: [] }] };
}

export function turnWith(items: readonly ThreadItem[], changes: Partial<TurnView> = {}): TurnView {
  const done = (changes.status ?? "completed") !== "inProgress";
  return {
    ...emptyTurn("turn"),
    items: new Map(items.map((item) => [item.id, { item, done }])),
    status: "completed",
    durationMs: done ? 12_300 : null,
    ...changes,
  };
}

export function inputOf(turn: TurnView, changes: Partial<TurnCardInput> = {}): TurnCardInput {
  return { turn, locale: "en", cwd: "/w", title: "Fix the build", subtitle: null, usage: null, elapsedMs: 12_300, openRequests: 0, maskMail: false, tables: 3, mark: "abc", ...changes };
}

/** All elements of a card, containers before what is in them. */
export function allElements(card: TurnCard): TurnElement[] {
  const walk = (elements: readonly TurnElement[]): TurnElement[] => elements.flatMap((element) => [element, ...(element.tag === "collapsible_panel" ? walk(element.elements) : [])]);
  return walk(card.body.elements);
}

export function panels(card: TurnCard): PanelElement[] {
  return allElements(card).filter((element) => element.tag === "collapsible_panel");
}

/** What a reader of the whole card finds as text. */
export function textOf(card: TurnCard): string {
  return allElements(card).map((element) => (element.tag === "markdown" ? element.content : element.header.title.content)).join("\n");
}

/** Applies a change as Feishu documents it; independent of what the planner believes. */
export function applied(card: TurnCard, change: CardChange): TurnCard {
  if (change.kind === "full") return change.card;
  const next = structuredClone(card) as unknown as { config: object; body: { elements: Loose[] } };
  if (change.kind === "content") {
    const { list, at } = find(next.body.elements, change.elementId);
    list[at]!["content"] = change.content;
    return next as unknown as TurnCard;
  }
  for (const { action, params } of change.actions) {
    if (action === "partial_update_setting") Object.assign(next.config, (params.settings as { config: object }).config);
    else if (action === "delete_elements") {
      for (const id of params.element_ids) {
        const { list, at } = find(next.body.elements, id);
        list.splice(at, 1);
      }
    } else if (action === "add_elements") {
      const added = structuredClone(params.elements) as Loose[];
      if (params.target_element_id === undefined) next.body.elements.push(...added);
      else {
        const { list, at } = find(next.body.elements, params.target_element_id);
        if (params.type === "append") (list[at]!["elements"] as Loose[]).push(...added);
        else list.splice(params.type === "insert_before" ? at : at + 1, 0, ...added);
      }
    } else if (action === "partial_update_element") {
      const { list, at } = find(next.body.elements, params.element_id);
      Object.assign(list[at]!, params.partial_element);
    }
  }
  const ids = allElements(next as unknown as TurnCard).map((element) => element.element_id);
  if (new Set(ids).size !== ids.length) throw new Error(`an id twice: ${ids.join(" ")}`);
  return next as unknown as TurnCard;
}

type Loose = Record<string, unknown>;

function find(elements: Loose[], id: string): { list: Loose[]; at: number } {
  const at = elements.findIndex((element) => element["element_id"] === id);
  if (at !== -1) return { list: elements, at };
  for (const element of elements) {
    if (Array.isArray(element["elements"])) {
      try {
        return find(element["elements"] as Loose[], id);
      } catch {
        continue;
      }
    }
  }
  throw new Error(`no element ${id}`);
}
