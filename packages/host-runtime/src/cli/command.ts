import type { OptionTable, Values } from "./options/option.ts";
import type { Completion } from "./options/kinds.ts";
import type { ConfigFile } from "./options/config-file.ts";
import type { Arguments } from "./options/parse.ts";
import type { Origin } from "./options/settle.ts";

export interface Streams {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
}

/** What a command is called with, beyond its own options. */
export interface Call<O extends OptionTable> extends Streams {
  /** What stands on the command line without dashes. */
  operands: readonly string[];
  /** The options as they were written, for what has to be known before `settings`. */
  flags: Arguments["flags"];
  /** What stood there for another program. */
  handedOn: Arguments["handedOn"];
  env: NodeJS.ProcessEnv;
  /** Reads the configuration file where the options have keys in it. Throws a `UsageError` for wrong values. */
  settings: () => Promise<Settings<O>>;
}

export interface Settings<O extends OptionTable> {
  values: Values<O>;
  origins: Readonly<Record<keyof O, Origin>>;
  /** Null where there is none, and for commands that do not look at it. */
  file: ConfigFile | null;
}

export interface CommandCode<O extends OptionTable> {
  /** Resolves the exit code: 0 clean, 1 faults found, 2 wrong usage, 3 port taken, 4 store locked. */
  run(call: Call<O>): Promise<number>;
}

/** A word that stands first among a command's operands and says what it does. */
export interface Verb {
  operands: string;
  does: string;
}

/** One `foldcast` command as help and completion show it; its code is loaded when it is called. */
export interface CommandSpec<O extends OptionTable = OptionTable> {
  /** One line for the list of commands. */
  summary: string;
  /** After the command's name: `PATH`. Without operands and verbs, words without dashes are refused. */
  operands?: string;
  /** Why they are, where that is not plain. */
  strayWord?: string;
  verbs?: Readonly<Record<string, Verb>>;
  /** What a shell offers for operands that are no verbs. */
  completes?: Completion;
  /** What it does, in a few sentences. */
  about: string;
  options: O;
  /** A command line, and what it is good for. */
  examples: readonly (readonly [command: string, purpose: string])[];
  /** After the options: exit codes, formats. */
  notes?: string;
  /** Options that are not known are handed on. */
  lenient?: true;
  hidden?: true;
  load(): Promise<CommandCode<O>>;
}
