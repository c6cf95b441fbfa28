import { ErrorCode, notSupported, WireError } from "@foldcast/protocol-core/wire";
import type { JsonValue, UserInput } from "@foldcast/protocol-core/wire";
import type { UserInputParam } from "@foldcast/protocol-core/wire/params";

/** Measured on Codex 0.171: counted in code points over all text of one input. */
const MAX_INPUT_CHARACTERS = 1_048_576;

/** A client's input as it goes to a harness. Refuses what is too long and what no harness takes. */
export function toUserInput(params: readonly UserInputParam[]): UserInput[] {
  const input = params.map(toPart);
  const count = input.reduce((sum, part) => sum + (part.type === "text" ? codePoints(part.text) : 0), 0);
  if (count > MAX_INPUT_CHARACTERS) {
    throw new WireError(ErrorCode.invalidParams, `Input exceeds the maximum length of ${MAX_INPUT_CHARACTERS} characters.`, {
      input_error_code: "input_too_large", max_chars: MAX_INPUT_CHARACTERS, actual_chars: count,
    });
  }
  return input;
}

export function hasImage(input: readonly UserInput[]): boolean {
  return input.some((part) => part.type === "image" || part.type === "localImage");
}

function toPart(param: UserInputParam): UserInput {
  switch (param.type) {
    case "text":
      return { type: "text", text: param.text, text_elements: (param.text_elements ?? []) as JsonValue[] };
    case "image":
      return { type: "image", url: param.url, ...(param.detail == null ? {} : { detail: param.detail }) };
    case "localImage":
      return { type: "localImage", path: param.path, ...(param.detail == null ? {} : { detail: param.detail }) };
    case "skill":
      return { type: "skill", name: param.name, path: param.path };
    case "mention":
      return { type: "mention", name: param.name, path: param.path };
    case "audio":
    case "localAudio":
      throw notSupported("audio input");
  }
}

function codePoints(text: string): number {
  let count = 0;
  // A surrogate pair is one character: only its first half counts.
  for (let at = 0; at < text.length; at += 1) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count += 1;
  return count;
}
