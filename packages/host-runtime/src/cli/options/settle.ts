import { dirname } from "node:path";
import { UsageError } from "../usage-error.ts";
import type { ConfigFile } from "./config-file.ts";
import { environmentName } from "./option.ts";
import type { OptionSpec, OptionTable, Values } from "./option.ts";
import type { Arguments } from "./parse.ts";

export type Origin = "flag" | "environment" | "file" | "default";

export interface Settled<O extends OptionTable> {
  values: Values<O>;
  origins: Readonly<Record<keyof O, Origin>>;
}

export interface Sources {
  flags: Arguments["flags"];
  env: NodeJS.ProcessEnv;
  file: ConfigFile | null;
  /** Where relative paths of flags and of the environment begin. */
  cwd: string;
}

interface Found {
  origin: Origin;
  /** How a person knows it: `--port`, `FOLDCAST_PORT`, `` `port` in … ``. */
  name: string;
  given: unknown;
  /** As it was written. */
  shown: string;
  folder: string;
}

/** The value of each option: flag before environment before file before default. Throws a `UsageError` for a wrong one. */
export function settle<O extends OptionTable>(options: O, sources: Sources): Settled<O> {
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const [name, option] of Object.entries(options)) {
    const found = find(name, option, sources);
    values[name] = found === null ? (option.default ?? option.kind.absent) : valueOf(option, found);
    origins[name] = found?.origin ?? "default";
  }
  return { values: values as Values<O>, origins: origins as Record<keyof O, Origin> };
}

function find(name: string, { kind, key }: OptionSpec, { flags, env, file, cwd }: Sources): Found | null {
  const flag = flags[name];
  if (flag !== undefined) {
    const given = flag === true ? true : typeof flag === "string" ? kind.read(flag) : flag.flatMap((each) => kind.read(each));
    return { origin: "flag", name: `--${name}`, given, shown: `\`${String(flag)}\``, folder: cwd };
  }
  if (key === undefined) return null;
  const variable = environmentName(name);
  const text = env[variable];
  // An empty variable is how a shell takes one back.
  if (text !== undefined && text !== "") return { origin: "environment", name: variable, given: kind.read(text), shown: `\`${text}\``, folder: cwd };
  if (file?.values.has(key) !== true) return null;
  const given = file.values.get(key);
  return { origin: "file", name: `\`${key}\` in ${file.path}`, given, shown: JSON.stringify(given), folder: dirname(file.path) };
}

function valueOf({ kind }: OptionSpec, { name, given, shown, folder }: Found): unknown {
  const parsed = kind.schema.safeParse(given);
  if (!parsed.success) throw new UsageError(`${name} is ${kind.expects}; got ${shown}`);
  return kind.resolveFrom === undefined ? parsed.data : kind.resolveFrom(parsed.data, folder);
}
