import { type Locale, previewText } from "@foldcast/protocol-core/tools";
import type { PlanStep } from "@foldcast/protocol-core/wire";
import { markdown, type MarkdownElement } from "./document.ts";
import { plainInline } from "./markdown/inline.ts";
import { CARD_TEXTS } from "./texts.ts";

const MARKS: Readonly<Record<PlanStep["status"], string>> = { completed: "☑", inProgress: "▶", pending: "☐" };
const MAX_STEPS = 30;
const MAX_STEPS_SMALL = 10;

/** The newest plan of the turn; `small` where the card is full. */
export function planBlock(plan: readonly PlanStep[], locale: Locale, small: boolean): MarkdownElement {
  const done = plan.filter((step) => step.status === "completed").length;
  const most = small ? MAX_STEPS_SMALL : MAX_STEPS;
  const lines = plan.slice(0, most).map(({ step, status }) => `${MARKS[status]} ${plainInline(previewText(step, { chars: small ? 60 : 200, lines: 1 }).text)}`);
  const more = plan.length > most ? [`… +${plan.length - most}`] : [];
  return markdown("plan", `**${CARD_TEXTS[locale].plan(done, plan.length)}**\n\n${[...lines, ...more].join("\n\n")}`);
}
