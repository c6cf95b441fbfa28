import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { UserInput } from "@foldcast/protocol-core/wire";

/** What clients put between their instructions and the prompt (measured on the Codex 0.171 TUI). */
const PROMPT_MARK = "User prompt:";
const DEFAULT_LENGTH = 60;

/**
 * The answer to a client's request to make a title, as the JSON text that its output schema asks for; null when the
 * schema asks for something else. The title is the first line of the prompt: no harness turn is spent on it.
 */
export function titleAnswer(outputSchema: unknown, input: readonly UserInput[]): string | null {
  if (!isJsonObject(outputSchema)) return null;
  const properties = outputSchema["properties"];
  const title = isJsonObject(properties) ? properties["title"] : undefined;
  if (!isJsonObject(title)) return null;
  const maxLength = typeof title["maxLength"] === "number" ? title["maxLength"] : DEFAULT_LENGTH;
  const text = input.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const mark = text.lastIndexOf(PROMPT_MARK);
  const prompt = mark === -1 ? text : text.slice(mark + PROMPT_MARK.length);
  const line = prompt.split("\n").map((each) => each.trim()).find((each) => each !== "") ?? "";
  return line === "" ? null : JSON.stringify({ title: shorten(line, maxLength) });
}

function shorten(text: string, maxLength: number): string {
  const characters = [...new Intl.Segmenter().segment(text.slice(0, maxLength * 8))];
  if (characters.length <= maxLength && text.length <= maxLength * 8) return text;
  const cut = characters.slice(0, maxLength - 1).map(({ segment }) => segment).join("");
  const space = cut.lastIndexOf(" ");
  return `${(space > maxLength / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
