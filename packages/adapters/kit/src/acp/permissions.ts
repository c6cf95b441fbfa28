import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import { contentOf } from "./content.ts";
import { editsOf } from "./edits.ts";
import { type JsonRecord, filledString, objectOf, objectsOf, stringOf } from "../json.ts";

type Approval = Extract<InteractionRequest, { kind: "approval" }>;
type Offer = Approval["offers"][number];

/** A question of the agent, and what its answers mean to the agent. */
export interface AcpAsk {
  interaction: InteractionRequest;
  /** The JSON-RPC result for an answer. */
  reply(answer: InteractionAnswer): object;
  /** The result when nobody answers: the turn was stopped. */
  withdrawn: object;
  /** Whether this answer refuses the call. */
  declines(answer: InteractionAnswer): boolean;
}

const OFFER_OF_KIND: Readonly<Record<string, Offer | undefined>> = { allow_once: "accept", allow_always: "acceptForSession", reject_once: "decline", reject_always: "decline" };
const CANCELLED = { outcome: { outcome: "cancelled" } };
const selected = (optionId: string): object => ({ outcome: { outcome: "selected", optionId } });

/**
 * A `session/request_permission`. Options that are the usual ones become an approval with exactly those offers; where
 * several options allow or refuse once, they say more than yes and no, and become a question.
 */
export function permissionAsk(id: string, params: JsonRecord, itemId: string | null): AcpAsk {
  const options = objectsOf(params["options"]).flatMap((option) => {
    const optionId = filledString(option["optionId"]);
    return optionId === null ? [] : [{ optionId, name: filledString(option["name"]) ?? optionId, kind: stringOf(option["kind"]) ?? "" }];
  });
  const call = objectOf(params["toolCall"]);
  const item = itemId === null ? {} : { itemId };
  const kinds = options.map((option) => option.kind);
  if (options.length > 0 && (new Set(kinds).size < kinds.length || kinds.some((kind) => OFFER_OF_KIND[kind] === undefined))) {
    const question = contentOf(call["content"])?.text ?? filledString(call["title"]) ?? "";
    const refusal = options.find((option) => option.kind.startsWith("reject"));
    const choices = options.filter((option) => option !== refusal || !isSkip(option.name));
    const chosen = (answer: InteractionAnswer): string | undefined => {
      const label = answer.kind === "question" ? Object.values(answer.answers)[0]?.[0] : undefined;
      return options.find((option) => option.name === label)?.optionId ?? refusal?.optionId;
    };
    return {
      interaction: { id, kind: "question", ...item, questions: [{ id: "choice", question, options: choices.map(({ name }) => ({ label: name })) }] },
      reply: (answer) => (chosen(answer) === undefined ? CANCELLED : selected(chosen(answer)!)),
      withdrawn: CANCELLED,
      declines: () => false,
    };
  }
  const offers = [...new Set(kinds.map((kind) => OFFER_OF_KIND[kind]!))];
  const edits = editsOf(call["content"]);
  const input = objectOf(call["rawInput"]);
  const interaction: Approval = {
    id, kind: "approval", ...item,
    about: edits.length > 0 || call["kind"] === "edit" ? "fileChange" : call["kind"] === "execute" ? "command" : "tool",
    title: filledString(call["title"]), reason: contentOf(call["content"])?.text ?? null, command: filledString(input["command"]), cwd: filledString(input["cwd"]),
    ...(edits.length === 0 ? {} : { edits }),
    // Stopping the turn is always possible: the request is then answered as cancelled.
    offers: [...offers, "cancel"],
  };
  return {
    interaction,
    reply(answer) {
      const decision = answer.kind === "approval" ? answer.decision : "cancel";
      const option = options.find(({ kind }) => OFFER_OF_KIND[kind] === decision);
      return option === undefined ? CANCELLED : selected(option.optionId);
    },
    withdrawn: CANCELLED,
    declines: (answer) => answer.kind === "approval" && answer.decision === "decline",
  };
}

function isSkip(name: string): boolean {
  return /^(?:skip|dismiss|cancel)$/i.test(name.trim());
}
