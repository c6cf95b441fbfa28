import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { UserInput } from "@foldcast/protocol-core/wire";

/** What clients put between their instructions and the prompt (measured on the Codex 0.171 TUI). */
const PROMPT_MARK = "User prompt:";
/** So `/rename` quotes what was said last, with `&`, `<` and `>` escaped (measured on the same TUI). */
const QUOTED_PROMPT = /<message role="user">([^<]*)<\/message>/g;
/** What the first line of a prompt can stand for, and how long it is where the schema does not say. */
const LENGTHS: Readonly<Record<string, number>> = { title: 60, description: 200 };

/**
 * The answer to a client's request to name a thread, as the JSON text that its output schema asks for; null when the
 * schema asks for something else. It is the first line of the newest prompt: no harness turn is spent on it.
 */
export function titleAnswer(outputSchema: unknown, input: readonly UserInput[]): string | null {
  if (!isJsonObject(outputSchema) || !isJsonObject(outputSchema["properties"])) return null;
  const { properties, required } = outputSchema;
  const others: unknown[] = Array.isArray(required) ? required : [];
  const wanted = ["title", ...others.filter((name): name is string => typeof name === "string" && name !== "title")];
  const text = input.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const line = promptIn(text).split("\n").map((each) => each.trim()).find((each) => each !== "") ?? "";
  if (line === "") return null;
  const answer: Record<string, string> = {};
  for (const name of wanted) {
    const property = properties[name];
    const length = LENGTHS[name];
    if (length === undefined || !isJsonObject(property) || (property["type"] ?? "string") !== "string") return null;
    answer[name] = shorten(line, typeof property["maxLength"] === "number" ? property["maxLength"] : length);
  }
  return JSON.stringify(answer);
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
