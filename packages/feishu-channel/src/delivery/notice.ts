import type { TurnCard } from "../card/document.ts";
import { markdown } from "../card/document.ts";
import type { TurnCardInput } from "../card/render.ts";
import { CARD_TEXTS } from "../card/texts.ts";

/** What a card says when the answer had to go another way. */
export function noticeCard({ turn, locale, mark }: TurnCardInput): TurnCard {
  const texts = CARD_TEXTS[locale];
  const word = turn.status === "failed" ? texts.failed : turn.status === "interrupted" ? texts.cancelled : texts.done;
  return {
    schema: "2.0",
    config: { update_multi: true, streaming_mode: false, summary: { content: word }, enable_forward_interaction: false },
    body: { elements: [markdown("status", `${word} · ${texts.answerBelow} · #${mark}`)] },
  };
}
