import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { InteractionHome, Screens } from "../interactions/policy.ts";
import type { TurnRun } from "./turn-run.ts";

export interface HomePlace {
  threadId: string;
  cwd: string;
  screens: Screens;
  takesDenyText: boolean;
  /** The turn in which it came up; null = none. */
  run: TurnRun | null;
  item: ThreadItem | null;
  input: InteractionHome["input"];
}

/** What an interaction needs of its thread; as it stands, for one that nothing in the thread waits for. */
export function interactionHome({ run, ...place }: HomePlace): InteractionHome {
  return {
    ...place,
    turnId: run?.id ?? "",
    turnKey: run?.turnKey ?? null,
    startedBy: run?.input.origin?.sender ?? null,
    answer: () => undefined,
    interrupt: () => undefined,
    waiting: () => undefined,
  };
}
