export const COMMANDS = ["new", "threads", "model", "stop", "status", "history", "fork", "rename", "cwd", "help"] as const;
export type CommandName = (typeof COMMANDS)[number];

/** `text`: for the agent. `interaction`: a typed answer, never for a model. */
export type Typed =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly name: CommandName; readonly argument: string }
  | { readonly kind: "unknownCommand"; readonly name: string }
  | { readonly kind: "interaction"; readonly text: string };

/** What a typed line is. `//text` is the text `/text`; a path such as `/usr/bin is …` is text, since no command has a second slash. */
export function readTyped(text: string): Typed {
  const trimmed = text.trim();
  if (trimmed.startsWith("//")) return { kind: "text", text: trimmed.slice(1) };
  if (/^\/_interaction(?:\s|$)/.test(trimmed)) return { kind: "interaction", text: trimmed };
  const match = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(trimmed);
  if (match === null) return { kind: "text", text: trimmed };
  const name = match[1]!.toLowerCase();
  const known = COMMANDS.find((command) => command === name);
  return known === undefined ? { kind: "unknownCommand", name } : { kind: "command", name: known, argument: (match[2] ?? "").trim() };
}
