import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { UserInput } from "@foldcast/protocol-core/wire";

/** What clients put between their instructions and the prompt (measured on the Codex 0.171 TUI). */
const PROMPT_MARK = "User prompt:";
/** So `/rename` quotes what was said last, with `&`, `<` and `>` escaped (measured on the same TUI). */
const QUOTED_PROMPT = /<message role="user">([^<]*)<\/message>/g;
const DEFAULT_LENGTH = 60;

/**
 * The answer to a client's request to make a title, as the JSON text that its output schema asks for; null when the
 * schema asks for something else. The title is the first line of the newest prompt: no harness turn is spent on it.
 */
export function titleAnswer(outputSchema: unknown, input: readonly UserInput[]): string | null {
  if (!isJsonObject(outputSchema)) return null;
  const properties = outputSchema["properties"];
  const title = isJsonObject(properties) ? properties["title"] : undefined;
  if (!isJsonObject(title)) return null;
  const maxLength = typeof title["maxLength"] === "number" ? title["maxLength"] : DEFAULT_LENGTH;
  const text = input.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const line = promptIn(text).split("\n").map((each) => each.trim()).find((each) => each !== "") ?? "";
  return line === "" ? null : JSON.stringify({ title: shorten(line, maxLength) });
}

function promptIn(text: string): string {
  const mark = text.lastIndexOf(PROMPT_MARK);
  // A prompt may itself quote messages; whichever stands first is the client's own.
  const quotedPart = text.search(QUOTED_PROMPT);
  if (quotedPart !== -1 && (mark === -1 || quotedPart < mark)) return unescapeMarkup([...text.matchAll(QUOTED_PROMPT)].at(-1)?.[1] ?? "");
  return mark === -1 ? text : text.slice(mark + PROMPT_MARK.length);
}

function unescapeMarkup(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function shorten(text: string, maxLength: number): string {
  const characters = [...new Intl.Segmenter().segment(text.slice(0, maxLength * 8))];
  if (characters.length <= maxLength && text.length <= maxLength * 8) return text;
  const cut = characters.slice(0, maxLength - 1).map(({ segment }) => segment).join("");
  const space = cut.lastIndexOf(" ");
  return `${(space > maxLength / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
