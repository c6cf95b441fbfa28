import type { CommandSpec } from "../command.ts";
import type { Completion } from "../options/kinds.ts";

/** What a shell offers for a value: files, folders, these words, or nothing. */
export type Offer = "file" | "folder" | readonly string[] | null;

export interface ShellOption {
  /** With its dashes. */
  names: readonly string[];
  does: string;
  /** Null = takes no value. */
  value: { name: string; offer: Offer } | null;
  many: boolean;
}

export interface ShellCommand {
  name: string;
  does: string;
  options: readonly ShellOption[];
  verbs: readonly { name: string; does: string }[];
  /** For operands after the verb, if there are verbs. */
  operands: Offer;
}

const HELP: ShellOption = { names: ["--help", "-h"], does: "show what it does, with examples", value: null, many: false };

/** What completion has to know of the commands, shell by shell the same. */
export function shellCommands(commands: Readonly<Record<string, CommandSpec>>, harnesses: readonly string[]): ShellCommand[] {
  const offer = (completes: Completion | undefined): Offer => (completes === "harness" ? harnesses : (completes ?? null));
  const visible = Object.entries(commands).filter(([, { hidden }]) => hidden !== true);
  const described = visible.map(([name, { summary, options, verbs, completes }]): ShellCommand => ({
    name,
    does: plain(summary),
    verbs: Object.entries(verbs ?? {}).map(([verb, { does }]) => ({ name: verb, does: plain(does) })),
    operands: offer(completes),
    options: [
      ...Object.entries(options).filter(([, { hidden }]) => hidden !== true).map(([option, { kind, does, value, short }]) => ({
        names: [`--${option}`, ...(short === undefined ? [] : [`-${short}`])],
        does: plain(does),
        value: kind.bare === true ? null : { name: value ?? "VALUE", offer: offer(kind.completes) },
        many: kind.many === true,
      })),
      HELP,
    ],
  }));
  const help: ShellCommand = { name: "help", does: "show what a command does", options: [], verbs: [], operands: visible.map(([name]) => name) };
  return [...described, help];
}

/** A shell shows it beside a name: one line without marks. */
function plain(text: string): string {
  return text.replaceAll("`", "").replaceAll("\n", " ");
}

/** As one word of a POSIX shell, of zsh and of bash. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
