import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { z } from "zod";

/**
 * What an option may be. `T` is its value, `A` what stands for none. The text of a flag or of the environment is first
 * `read` into what the schema takes; a configuration file gives that itself.
 */
export interface Kind<T, A = null> {
  /** Goes on after "… is". */
  expects: string;
  schema: z.ZodType<T>;
  absent: A;
  read(text: string): unknown;
  /** For values that depend on where they were written. */
  resolveFrom?(value: T, folder: string): T;
  /** What a shell offers. */
  completes?: Completion;
  /** May be given more than once. */
  many?: true;
  /** Takes no value on the command line. */
  bare?: true;
}

/** Words to choose from, or what they name. */
export type Completion = "file" | "folder" | "harness" | readonly string[];

const asItIs = (text: string): unknown => text;
const asNumber = (text: string): unknown => (/^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text);

/** Any text but none at all. */
export function text(expects = "a text", completes?: Completion): Kind<string> {
  return { expects, schema: z.string().min(1), absent: null, read: asItIs, ...(completes === undefined ? {} : { completes }) };
}

export function file(expects = "the path of a file"): Kind<string> {
  return { ...text(expects, "file"), resolveFrom: pathFrom };
}

/** A path, or a name that is looked up on the search path. */
export function program(): Kind<string> {
  return { ...text("the path or the name of a program", "file"), resolveFrom: (given, base) => (/[\\/]/.test(given) || given === "~" ? pathFrom(given, base) : given) };
}

export function folder(): Kind<string> {
  return { ...text("the path of a folder", "folder"), resolveFrom: pathFrom };
}

/** Comma-separated in the environment; an array in a file. */
export function list(item: Kind<string>): Kind<string[], string[]> {
  const each = item.resolveFrom?.bind(item);
  return {
    expects: `${item.expects}, or several`,
    schema: z.array(item.schema),
    absent: [],
    read: (given) => given.split(",").map((part) => part.trim()).filter((part) => part !== ""),
    many: true,
    ...(each === undefined ? {} : { resolveFrom: (values: string[], base: string) => values.map((value) => each(value, base)) }),
    ...(item.completes === undefined ? {} : { completes: item.completes }),
  };
}

const chatLimit = z.strictObject({ cwd: z.string().min(1).optional(), folders: z.array(z.string().min(1)).min(1).optional(), models: z.array(z.string().min(1)).min(1).optional() });
type ChatLimit = z.infer<typeof chatLimit>;

/** A table for each chat, under its id; JSON in the environment. */
export const chatLimits: Kind<Record<string, ChatLimit>, Record<string, never>> = {
  expects: "a table for each chat, with `cwd`, `folders` or `models`",
  schema: z.record(z.string(), chatLimit),
  absent: {},
  read: (given) => {
    try {
      return JSON.parse(given) as unknown;
    } catch {
      return given;
    }
  },
  resolveFrom: (chats, base) => Object.fromEntries(Object.entries(chats).map(([id, { cwd, folders, models }]) => [id, {
    ...(cwd === undefined ? {} : { cwd: pathFrom(cwd, base) }), ...(folders === undefined ? {} : { folders: folders.map((path) => pathFrom(path, base)) }), ...(models === undefined ? {} : { models }),
  }])),
};

export const flag: Kind<boolean, false> = {
  expects: "true or false",
  schema: z.boolean(),
  absent: false,
  read: (given) => (given === "true" || given === "1" ? true : given === "false" || given === "0" ? false : given),
  bare: true,
};

export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return { expects: words.join(", "), schema: z.enum(words), absent: null, read: asItIs, completes: words };
}

export const port: Kind<number> = { expects: "a number from 0 to 65535", schema: z.int().min(0).max(65_535), absent: null, read: asNumber };

export function number(expects: string, min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> {
  return { expects, schema: z.number().min(min).max(max), absent: null, read: asNumber };
}

export function wholeNumber(expects: string, min: number, max: number): Kind<number> {
  return { expects, schema: z.int().min(min).max(max), absent: null, read: asNumber };
}

/** A timer of the platform takes no more than 31 bits. */
export const milliseconds: Kind<number> = wholeNumber("a whole number of milliseconds, at most 24 days", 1, 2_147_483_647);

/** `~/` is the home folder, wherever the path stands: not every shell sees it behind a `=`. */
export function pathFrom(path: string, folderOf: string): string {
  if (path === "~") return homedir();
  if (path.startsWith("~/")) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? path : resolve(folderOf, path);
}
