import { chooseAction, readEvent, readTyped } from "@foldcast/protocol-core/interaction";
import type { InteractionEvent, TypedAnswer } from "@foldcast/protocol-core/interaction";
import type { Chosen, Pending } from "./pending.ts";

/** What came from a person: a line, or what a channel made of a button or a form. */
export type Given = { typed: string } | { event: InteractionEvent };

/** What that does to this interaction. */
export function readGiven({ asked, payload, answers }: Pending, given: Given): TypedAnswer | Chosen {
  if (asked !== null) return "typed" in given ? readTyped(asked.request, given.typed, answers) : readEvent(asked.request, given.event, answers);
  const action = "event" in given ? payload.actions.find(({ id }) => id === given.event.actionId) : undefined;
  const value = action?.value ?? chooseAction(payload, "typed" in given ? given.typed : given.event.actionValue);
  if (value === null) return { kind: "unreadable", expected: payload.actions.map((each) => each.value).join(", ") };
  if (payload.kind === "quickReply") return { kind: "quickReply", text: value };
  // A typed line has nobody behind it who could run a channel's command.
  return "typed" in given ? { kind: "unreadable", expected: "an answer of the channel that runs the command" } : { kind: "command", command: value };
}
