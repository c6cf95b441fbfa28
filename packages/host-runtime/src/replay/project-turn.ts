import { DEFAULT_POLICY, DESKTOP_POLICY } from "@foldcast/protocol-core/delivery";
import { foldTurn, isRenderable } from "@foldcast/protocol-core/folding";
import type { HarnessEvent, HistoryTurn } from "@foldcast/protocol-core/harness";
import { TurnProjector, type ProjectorOptions } from "@foldcast/protocol-core/projection";
import type { Turn } from "@foldcast/protocol-core/wire";
import type { TurnRow } from "./rows.ts";

const FIRST_LINE_CHARACTERS = 200;

export interface ProjectedTurn {
  row: TurnRow;
  diagnostics: TurnProjector["diagnostics"];
}

/**
 * Projects one saved turn and says how it folds. Whether it folds, why not, and what its divider says is Desktop's view,
 * where the edits of a turn are one item. The items, their counts and their ids are those of the default view, one edit
 * an item, as every other client has them.
 */
export function projectTurn(
  turn: HistoryTurn, index: number, events: readonly HarnessEvent[], options: ProjectorOptions, withItems: boolean,
): ProjectedTurn {
  const projector = new TurnProjector(options);
  for (const event of events) projector.apply(event);
  const shown = projector.turn(DEFAULT_POLICY);
  const folded = foldTurn(shown);
  const desktop = foldTurn(projector.turn(DESKTOP_POLICY));
  const row: TurnRow = {
    type: "turn",
    turnId: options.turnId,
    index,
    prompt: turn.prompt,
    status: shown.status,
    outcome: turn.outcome.status,
    startedAt: shown.startedAt,
    durationMs: shown.durationMs,
    items: shown.items.length,
    visible: shown.items.filter(isRenderable).length,
    fold: {
      folds: desktop.folds,
      reason: desktop.reason,
      foldedItemIds: desktop.folds ? folded.foldedItemIds : [],
      divider: desktop.divider,
    },
    finalAnswer: finalAnswer(shown, folded.finalAnswerId),
    ...(withItems ? { threadItems: shown.items } : {}),
  };
  return { row, diagnostics: projector.diagnostics };
}

function finalAnswer(turn: Turn, id: string | null): TurnRow["finalAnswer"] {
  const item = turn.items.find((each) => each.id === id);
  if (item?.type !== "agentMessage") return null;
  const firstLine = item.text.trimStart().split("\n", 1)[0]!.trimEnd();
  return { itemId: item.id, firstLine: firstLine.slice(0, FIRST_LINE_CHARACTERS) };
}
