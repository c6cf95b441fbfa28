import type { Kind } from "./kinds.ts";

/** One option of the command line, and its twins in the environment and in the configuration file. */
export interface OptionSpec {
  // Of any value; `Values` gives each its own.
  kind: Kind<unknown, unknown>;
  /** What it does: one line, for help and for the documentation. */
  does: string;
  /** How help names the value: `DIR`. */
  value?: string;
  /** The value where nobody gives one. */
  default?: unknown;
  /** The default in words, where the value would say nothing or depends on the machine. */
  defaultWords?: string;
  /** Its key in the configuration file, with a dot for a table. Only an option with a key has a twin in the environment. */
  key?: string;
  short?: string;
  /** Accepted, and not worth a word. */
  hidden?: true;
  /** Of another program that is started by ours: it gets the option as it stood. */
  handedOn?: true;
}

/** Options by their name without dashes. */
export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** The values of a table's options, each as its kind says. */
export type Values<O extends OptionTable> = {
  [K in keyof O]: O[K]["kind"] extends Kind<infer T, infer A> ? (O[K] extends { default: string | number | boolean } ? T : T | A) : never;
};

/** `--data-dir` is `FOLDCAST_DATA_DIR`. */
export function environmentName(option: string): string {
  return `FOLDCAST_${option.toUpperCase().replaceAll("-", "_")}`;
}
