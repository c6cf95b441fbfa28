import type { ThreadItem, Turn } from "@foldcast/protocol-core/wire";

/** How much of a message is shown around a match, in UTF-16 units; measured on Codex 0.171. */
const BEFORE = 48;
const AFTER = 96;

/** A message that a person can see: what was sent, or what the agent said. */
export interface Message {
  itemId: string;
  text: string;
}

/** The messages of a turn, oldest first. */
export function messagesOf(turn: Turn): Message[] {
  return turn.items.flatMap((item) => {
    const text = textOf(item);
    return text === "" ? [] : [{ itemId: item.id, text }];
  });
}

function textOf(item: ThreadItem): string {
  if (item.type === "agentMessage") return item.text;
  return item.type === "userMessage" ? item.content.map((part) => (part.type === "text" ? part.text : "")).filter((text) => text !== "").join("\n") : "";
}

/** Where a term begins in a text, whatever the case of its letters, each place after the last. */
export function placesOf(text: string, term: string): number[] {
  const places: number[] = [];
  const searched = text.toLowerCase();
  // Lower case may be longer, as that of İ is; then no place in it is one in the text.
  if (searched.length !== text.length) return text.includes(term) ? [text.indexOf(term)] : [];
  for (let at = searched.indexOf(term); at !== -1; at = searched.indexOf(term, at + term.length)) places.push(at);
  return places;
}

/** The part of a message around its first match, in one line; null without a match. `term` in lower case. */
export function snippetOf(text: string, term: string): string | null {
  const line = inOneLine(text);
  const [at] = placesOf(line, inOneLine(term));
  return at === undefined ? null : around(line, at, inOneLine(term).length).text.trim().replace(/^\.\.\. +/, "... ").replace(/ +\.\.\.$/, " ...");
}

/** The same part as it stands in the message, with the place of the match in it. */
export function around(text: string, at: number, length: number): { text: string; start: number; end: number } {
  const from = wholeCharacter(text, Math.max(at - BEFORE, 0));
  const to = wholeCharacter(text, Math.min(at + length + AFTER, text.length));
  const head = from > 0 ? "... " : "";
  const start = head.length + at - from;
  return { text: `${head}${text.slice(from, to)}${to < text.length ? " ..." : ""}`, start, end: start + length };
}

export function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Not between the two halves of a character. */
function wholeCharacter(text: string, at: number): number {
  return at > 0 && at < text.length && /[\udc00-\udfff]/.test(text[at]!) ? at + 1 : at;
}
