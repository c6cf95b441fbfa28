import type { TurnInput } from "@foldcast/protocol-core/harness";
import type { InputOrigin } from "@foldcast/protocol-core/interaction";

/** An input with what the host knows of where it came from. Harnesses are not told. */
export interface ThreadInput extends TurnInput {
  origin?: InputOrigin;
}

/** A text of the host's own making, as if it had been typed. */
export function textInput(text: string, origin?: InputOrigin): ThreadInput {
  const clientId = origin?.interactionId ?? null;
  return { input: [{ type: "text", text, text_elements: [] }], clientId, ...(origin === undefined ? {} : { origin }) };
}
