import { isOutside, unitsOf } from "../card/units.ts";
import type { TurnCardInput } from "../card/render.ts";
import { CARD_TEXTS } from "../card/texts.ts";
import { cutMarkdown, maskMail, safeMarkdown } from "../card/index.ts";
import { plainText } from "../card/markdown/inline.ts";
import type { CardDocument, FeishuPort, MessageBody } from "../platform/port.ts";
import type { PartRecord } from "./record.ts";

/** Bytes of the raw text of one part: a post holds 30 KB, and escaping makes a text longer. */
const PART_BYTES = 12_000;

/** The forms of a message from the richest to the plainest; a part that is refused in one is sent in the next. */
export const FORMS: readonly PartRecord["form"][] = ["card", "post", "text", "file"];

/** What must arrive, whatever happens to the cards: the answer, else how the turn ended. Cut into parts for messages. */
export function answerParts({ turn, locale }: TurnCardInput): string[] {
  const texts = CARD_TEXTS[locale];
  const outside = unitsOf(turn).units.flatMap((unit) => (unit.kind === "text" && isOutside(unit) && unit.role !== "steer" ? [unit.text] : []));
  const messages = [...turn.items.values()].flatMap(({ item }) => (item.type === "agentMessage" && item.text.trim() !== "" ? [item.text] : []));
  const ended = turn.status === "failed" ? `**${texts.failed}** ${turn.error?.message ?? ""}` : turn.status === "interrupted" ? `**${texts.cancelled}**` : null;
  const answer = outside.length > 0 ? outside : turn.status === "completed" ? messages.slice(-1) : [];
  let rest = [...answer, ...(ended === null ? [] : [ended])].join("\n\n") || texts.noAnswer;
  const parts: string[] = [];
  while (rest !== "") {
    const cut = cutMarkdown(rest, PART_BYTES);
    parts.push(cut.head);
    rest = cut.rest;
  }
  return parts;
}

/** The message that carries one part. A file has to be sent to the server first, so it may fail: then null. */
export async function partBody(port: FeishuPort, form: PartRecord["form"], text: string, note: string, hidden: boolean): Promise<MessageBody | null> {
  const shown = hidden ? maskMail(text) : text;
  switch (form) {
    case "card":
      return { type: "card", card: plainCard(shown, note) };
    case "post":
      return { type: "post", title: "", paragraphs: [...shown.split("\n").map((line) => [{ tag: "text", text: line === "" ? " " : line }]), [{ tag: "text", text: note }]] };
    case "text":
      return { type: "text", text: `${plainText(shown)}\n${note}` };
    case "file": {
      const outcome = await port.uploadFile({ name: `answer-${note.replaceAll(/[^\w-]/g, "")}.md`, bytes: Buffer.from(shown) }, { priority: "final" });
      return outcome.kind === "ok" ? { type: "file", fileKey: outcome.value.fileKey } : null;
    }
  }
}

/** The text and nothing else: no table, no panel, nothing that could be refused. */
function plainCard(text: string, note: string): CardDocument {
  const card = {
    schema: "2.0" as const,
    config: { update_multi: true },
    body: { elements: [{ tag: "markdown", content: safeMarkdown(text, { tables: 0, maskMail: false }) }, { tag: "markdown", content: note, text_size: "notation" }] },
  };
  return card;
}
