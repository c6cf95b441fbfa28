import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { z } from "zod";
import { commandItem, inputOf, messageItem, turnWith, userItem } from "../card/testing.ts";
import type { Documents, Table } from "../ledger/documents.ts";
import type { TurnState } from "./turn-delivery.ts";

/** Rows in memory, as the ledger keeps them: what is read is a copy of what was put. */
export function memoryTable<T>(schema: z.ZodType<T>, now: () => number = () => 0): Table<T> {
  const rows = new Map<string, { readonly text: string; readonly at: number }>();
  const read = (row: { readonly text: string } | undefined): T | null => (row === undefined ? null : schema.parse(JSON.parse(row.text)));
  const put = (key: string, value: T): void => void rows.set(key, { text: JSON.stringify(value), at: now() });
  return {
    get: (key) => read(rows.get(key)),
    put,
    claim: (key, value) => {
      if (rows.has(key)) return false;
      put(key, value);
      return true;
    },
    delete: (key) => void rows.delete(key),
    all: () => [...rows].map(([key, row]) => [key, read(row)!] as const),
    prune: (before, keep) => {
      const kept = [...rows].filter(([, { at }]) => at >= before).sort(([, one], [, other]) => other.at - one.at).slice(0, keep);
      rows.clear();
      for (const [key, row] of kept.toReversed()) rows.set(key, row);
    },
  };
}

/** A ledger in memory; a table that is asked for again is the same. */
export function memoryDocuments(now: () => number): Pick<Documents, "table"> {
  const tables = new Map<string, unknown>();
  return {
    table: <T>(kind: string, schema: z.ZodType<T>): Table<T> => {
      const table = (tables.get(kind) as Table<T> | undefined) ?? memoryTable(schema, now);
      tables.set(kind, table);
      return table;
    },
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

