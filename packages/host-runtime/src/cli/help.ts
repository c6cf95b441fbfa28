import { VERSION } from "../version.ts";
import type { CommandSpec } from "./command.ts";
import type { OptionSpec, OptionTable } from "./options/option.ts";

const WIDTH = 116;

/** What `foldcast --help` says. */
export function programHelp(commands: Readonly<Record<string, CommandSpec>>): string {
  const rows = shown(commands).map(([name, { summary }]) => [name, summary] as const);
  return `foldcast ${VERSION} makes coding agents look like Codex to its own clients.

Usage: foldcast COMMAND [OPTIONS]

${columns(rows)}
Start here:
${columns([
  ["foldcast doctor", "what is installed here, and what to do about the rest"],
  ["foldcast chat --model scripted/demo", "a first turn, played from a file; nothing runs, no file changes"],
  ["foldcast serve", "then: codex --remote ws://127.0.0.1:4610"],
  ["foldcast COMMAND --help", "options and examples of each command"],
])}
Exit codes: 0 clean, 1 the work found faults, 2 wrong usage or nothing readable, 3 port taken, 4 store locked.
`;
}

/** What `foldcast <command> --help` says. */
export function commandHelp(name: string, spec: CommandSpec): string {
  const { verbs, operands, options, examples, notes, about } = spec;
  const hasOptions = visible(options).length > 0;
  const tail = hasOptions ? " [OPTIONS]" : "";
  const usages = verbs === undefined ? [`foldcast ${name}${operands === undefined ? "" : ` ${operands}`}${tail}`] : Object.entries(verbs).map(([verb, each]) => `foldcast ${name} ${verb}${each.operands === "" ? "" : ` ${each.operands}`}${tail}`);
  const parts = [`Usage: ${usages.join("\n       ")}\n`];
  if (about !== "") parts.push(`${about.split("\n").flatMap((line) => wrap(line, WIDTH)).join("\n")}\n`);
  if (verbs !== undefined) parts.push(columns(Object.entries(verbs).map(([verb, { does }]) => [verb, does])));
  if (hasOptions) parts.push(`Options:\n${columns(visible(options).map(([option, each]) => [flagOf(option, each), describe(each)]))}`);
  if (Object.values(options).some(({ key }) => key !== undefined)) parts.push(SETTINGS_NOTE);
  if (notes !== undefined) parts.push(`${notes}\n`);
  if (examples.length > 0) parts.push(`Examples:\n${columns(examples)}`);
  return parts.join("\n");
}

const SETTINGS_NOTE = `Options of a server can also stand in the environment (--data-dir is FOLDCAST_DATA_DIR) and in the configuration
file ~/.config/foldcast/config.toml (data_dir = "…"). A flag goes before the environment, that before the file.
`;

function shown(commands: Readonly<Record<string, CommandSpec>>): [string, CommandSpec][] {
  return Object.entries(commands).filter(([, { hidden }]) => hidden !== true);
}

function visible(options: OptionTable): [string, OptionSpec][] {
  return Object.entries(options).filter(([, { hidden }]) => hidden !== true);
}

function flagOf(name: string, { short, value }: OptionSpec): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

function describe({ does, default: fallback, defaultWords, kind, value }: OptionSpec): string {
  const choices = Array.isArray(kind.completes) && value?.includes("|") !== true ? `${kind.completes.join(", ")}: ` : "";
  const otherwise = defaultWords ?? (fallback === undefined ? null : typeof fallback === "string" ? fallback : JSON.stringify(fallback));
  return `${choices}${does}${otherwise === null ? "" : ` (${otherwise})`}`.replaceAll("`", "");
}

/** Two columns; the second one is wrapped, and begins on the next line where the first one is too long. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const limit = 30;
  const left = Math.min(limit, Math.max(...rows.map(([first]) => first.length)));
  return rows.map(([first, second]) => {
    if (second === "") return `  ${first}\n`;
    const lines = wrap(second, WIDTH - left - 4);
    const head = first.length > left ? `  ${first}\n  ${" ".repeat(left)}` : `  ${first.padEnd(left)}`;
    return `${head}  ${lines.join(`\n${" ".repeat(left + 4)}`)}\n`;
  }).join("");
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1)!;
    if (last !== "" && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}
