/** Control characters but tab and line end, and halves of characters: nobody can read them, and servers refuse what holds them. */
const UNREADABLE = /[\p{Cs}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/gu;

/** A text as it can be sent. Its end may be half a character while a model still writes it. */
export function carriedText(text: string): string {
  return text.replaceAll(UNREADABLE, "");
}

/** JSON of what is sent, its texts as they can be. */
export function carriedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? carriedText(inner) : inner));
}
