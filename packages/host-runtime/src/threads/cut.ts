import type { ThreadStore } from "../store/store.ts";
import type { SavedTurn } from "./history.ts";

/** The first part of a thread's history. */
export interface Cut {
  /** All turns that stay, also those that no saved session has. */
  kept: ReadonlySet<string>;
  /** Those of them that the saved session has, oldest first. */
  saved: readonly SavedTurn[];
  /** True when the saved session has turns beyond the cut, so that it has to be copied up to there. */
  shortens: boolean;
}

/** `ids`: all turns, oldest first; the first `count` of them stay. */
export function cutAt(ids: readonly string[], count: number, saved: readonly SavedTurn[]): Cut {
  const kept = new Set(ids.slice(0, count));
  const stays = saved.filter(({ turnId }) => kept.has(turnId));
  return { kept, saved: stays, shortens: stays.length < saved.length };
}

/**
 * Keeps the names of turns over a copy of their session: there they have the same keys in another file, from which
 * alone they would get other ids.
 */
export function carryTurns(store: ThreadStore, from: string, to: string, { saved, kept }: Cut): void {
  store.transaction(() => {
    const facts = saved.map((turn) => store.turnByKey(from, turn.turnKey) ?? turn);
    // Those that go must go first: a copy counts its turns on from the cut and may use their keys again.
    if (from === to) for (const { turnId } of store.turns(to)) if (!kept.has(turnId)) store.deleteTurn(to, turnId);
    for (const fact of facts) store.saveTurn(to, fact);
  });
}
