import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { z } from "zod";
import { commandItem, inputOf, messageItem, turnWith, userItem } from "../card/testing.ts";
import type { Table } from "../ledger/documents.ts";
import type { TurnState } from "./turn-delivery.ts";

/** Rows in memory, as the ledger keeps them: what is read is a copy of what was put. */
export function memoryTable<T>(schema: z.ZodType<T>): Table<T> {
  const rows = new Map<string, string>();
  const read = (text: string | undefined): T | null => (text === undefined ? null : schema.parse(JSON.parse(text)));
  return {
    get: (key) => read(rows.get(key)),
    put: (key, value) => void rows.set(key, JSON.stringify(value)),
    claim: (key, value) => {
      if (rows.has(key)) return false;
      rows.set(key, JSON.stringify(value));
      return true;
    },
    delete: (key) => void rows.delete(key),
    all: () => [...rows].map(([key, text]) => [key, read(text)!] as const),
    prune: () => undefined,
  };
}

export function stateOf(items: readonly ThreadItem[], status: "inProgress" | "completed" | "failed" | "interrupted" = "inProgress"): TurnState {
  const error = status === "failed" ? { message: "the model is gone", codexErrorInfo: null, additionalDetails: null, misalignment: null } : null;
  return inputOf(turnWith([userItem("u", "do it"), ...items], { status, error }));
}

/** The states of a turn as they follow one another, the last one ended. `answer` is its final text. */
export function story(random: () => number, answer: string): TurnState[] {
  const items: ThreadItem[] = [];
  const states: TurnState[] = [];
  const steps = 2 + Math.floor(random() * 6);
  for (let index = 0; index < steps; index += 1) {
    items.push(random() < 0.7 ? commandItem(`c${index}`, `run step ${index}`) : messageItem(`m${index}`, `Now step ${index}.`, "commentary"));
    states.push(stateOf([...items]));
  }
  for (const share of [0.3, 0.6]) states.push(stateOf([...items, messageItem("last", answer.slice(0, Math.floor(answer.length * share)))]));
  states.push(stateOf([...items, messageItem("last", answer, "final_answer")], "completed"));
  return states;
}

