import { parseArgs } from "node:util";
import { nearest } from "../../nearest.ts";
import { UsageError } from "../usage-error.ts";
import type { OptionTable } from "./option.ts";

/** What stood on the command line, as texts; `true` for an option without a value. */
export interface Arguments {
  flags: Readonly<Record<string, string | true | readonly string[]>>;
  positionals: readonly string[];
  /** Words for another program, in their order: options that are handed on, and unknown ones of a lenient command. */
  handedOn: readonly string[];
}

/**
 * Reads a command's arguments. Throws a `UsageError` that names what was probably meant. `lenient` hands unknown options
 * on instead, each with the word behind it where that is no option: a client of another release may send more than is
 * known here, and what takes a value cannot be known either.
 */
export function parseArguments(argv: readonly string[], options: OptionTable, lenient = false): Arguments {
  const config = Object.fromEntries(Object.entries(options).map(([name, { kind, short }]) => [
    name, { type: kind.bare === true ? "boolean" as const : "string" as const, ...(short === undefined ? {} : { short }) },
  ]));
  // Node's own strict mode would take `--port -1` for two options.
  const { tokens } = parseArgs({ args: [...argv], options: config, strict: false, tokens: true, allowPositionals: true });
  const flags: Record<string, string | true | string[]> = {};
  const positionals: string[] = [];
  const handedOn: string[] = [];
  /** Of the last unknown option without a value of its own: the word behind it is taken for one. */
  let open: number | null = null;
  let last = -1;
  for (const token of tokens) {
    if (token.kind === "positional") {
      if (token.index - 1 === open) handedOn.push(token.value);
      else positionals.push(token.value);
    }
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) {
      if (!lenient) throw new UsageError(unknownOption(token.rawName, options));
      // Several short options can stand in one word.
      if (token.index !== last) handedOn.push(argv[token.index]!);
      open = token.inlineValue === true ? null : token.index;
      last = token.index;
      continue;
    }
    if (option.handedOn === true) handedOn.push(argv[token.index]!, ...(token.value !== undefined && !token.inlineValue ? [token.value] : []));
    if (option.kind.bare === true) {
      if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value; got \`${token.value}\``);
      flags[token.name] = true;
      continue;
    }
    const value = valueOf(token.rawName, token.value, token.inlineValue === true, option.value ?? "VALUE");
    const before = flags[token.name];
    flags[token.name] = option.kind.many !== true ? value : [...(Array.isArray(before) ? before : []), value];
  }
  return { flags, positionals, handedOn };
}

function valueOf(name: string, value: string | undefined, inline: boolean, placeholder: string): string {
  // A number below zero is a wrong value, not another option.
  const isOption = !inline && value !== undefined && /^-[^\d]/.test(value);
  if (value === undefined || value === "" || isOption) throw new UsageError(`${name} needs a value: ${name} ${placeholder}`);
  return value;
}

function unknownOption(given: string, options: OptionTable): string {
  const names = Object.entries(options).flatMap(([name, { hidden }]) => (hidden === true ? [] : [name]));
  const meant = given.startsWith("--") ? nearest(given.slice(2), names) : null;
  return `there is no option ${given}${meant === null ? "" : `; did you mean --${meant}?`}`;
}
