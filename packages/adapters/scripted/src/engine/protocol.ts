import type { InteractionAnswer, TurnInput } from "@foldcast/protocol-core/harness";
import type { PlayRequest } from "../player/state.ts";

/** Hidden argument of the program that makes it the child of a scripted session. */
export const CHILD_ARGUMENT = "__scripted-child";

/** One line from parent to child. The other way every line is a HarnessEvent. Both ends are the same program. */
export type ChildCommand =
  | { do: "start"; request: PlayRequest }
  | { do: "answer"; interactionId: string; answer: InteractionAnswer }
  | { do: "steer"; input: TurnInput }
  | { do: "cancel" };
