import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { parse, TomlError } from "smol-toml";
import { z } from "zod";
import { nearest } from "../../nearest.ts";
import { UsageError } from "../usage-error.ts";
import { lineOf } from "./config-lines.ts";
import type { OptionTable } from "./option.ts";

/** A configuration file that has been read. */
export interface ConfigFile {
  path: string;
  /** By key, with a dot for a table; only what the file says. */
  values: ReadonlyMap<string, unknown>;
  /** The tables `[harness.<id>]`, as they stand. */
  harness: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  text: string;
}

/** Something wrong in a file: what, and of which key or table, by its names from the outside in. */
export interface ConfigProblem {
  names: readonly string[];
  says: string;
}

interface Tree {
  [name: string]: Tree | { key: string; schema: z.ZodType; expects: string };
}

/** `~/.config/foldcast/config.toml`, in `XDG_CONFIG_HOME` where that is set, in `APPDATA` on Windows. */
export function defaultConfigPath(env: NodeJS.ProcessEnv): string {
  const home = env["HOME"] ?? homedir();
  const xdg = env["XDG_CONFIG_HOME"];
  // The XDG base directory specification: a relative path there counts as none.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "foldcast", "config.toml");
  if (process.platform === "win32") return join(env["APPDATA"] ?? join(home, "AppData", "Roaming"), "foldcast", "config.toml");
  return join(home, ".config", "foldcast", "config.toml");
}

/**
 * Reads a configuration file. Null when there is none at a path that nobody asked for (`required` false). Throws a
 * `UsageError` that lists all that is wrong with it, unknown keys with the nearest known one.
 */
export function readConfigFile(path: string, options: OptionTable, harnesses: readonly string[], required: boolean): ConfigFile | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (!required && isMissing(error)) return null;
    if (isMissing(error)) throw new UsageError(`there is no configuration file ${path}`);
    throw new UsageError(`cannot read the configuration file: ${error instanceof Error ? error.message : String(error)}`);
  }
  return parseConfig(text, path, options, harnesses);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

export function parseConfig(text: string, path: string, options: OptionTable, harnesses: readonly string[]): ConfigFile {
  const tree = treeOf(options);
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new UsageError(`${path}:${error.line}:${error.column}: ${error.message.split("\n")[0] ?? "not TOML"}`);
  }
  const harness = z.record(z.string(), z.record(z.string(), z.unknown()));
  const parsed = z.strictObject({ ...schemaOf(tree).shape, harness: harness.optional() }).safeParse(raw);
  if (!parsed.success) throw new UsageError(problemsWith({ path, text }, parsed.error.issues.flatMap((issue) => describe(issue, tree, raw))));
  const sections = harness.parse(parsed.data.harness ?? {});
  const strangers = Object.keys(sections).filter((id) => !harnesses.includes(id));
  const toStranger = (id: string): ConfigProblem => ({ names: ["harness", id], says: `there is no harness for [harness.${id}]${hint(id, harnesses, (name) => `[harness.${name}]`)}` });
  if (strangers.length > 0) throw new UsageError(problemsWith({ path, text }, strangers.map(toStranger)));
  return { path, text, values: new Map(flatten(parsed.data, tree)), harness: sections };
}

/** One line each, under the name of the file, with the lines where they stand in it. */
export function problemsWith({ path, text }: Pick<ConfigFile, "path" | "text">, problems: readonly ConfigProblem[]): string {
  const placed = problems.map(({ names, says }) => ({ line: lineOf(text, names), says })).sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity));
  const [first, second] = placed;
  if (first !== undefined && second === undefined) return `${path}:${first.line === null ? "" : `${first.line}:`} ${first.says}`;
  return `${path}:\n${placed.map(({ line, says }) => `  ${line === null ? "" : `line ${line}: `}${says}`).join("\n")}`;
}

/** `; did you mean …?`, or what there is when nothing is near. */
export function hint(given: string, names: readonly string[], show: (name: string) => string = (name) => `\`${name}\``): string {
  if (names.length === 0) return "";
  const meant = nearest(given, names) ?? nearest(given.replaceAll("-", "_"), names);
  return meant === null ? `; there are ${names.join(", ")}` : `; did you mean ${show(meant)}?`;
}

function treeOf(options: OptionTable): Tree {
  const tree: Tree = {};
  for (const { key, kind } of Object.values(options)) {
    if (key === undefined) continue;
    const [first = "", second] = key.split(".");
    const leaf = { key, schema: kind.schema, expects: kind.expects };
    if (second === undefined) tree[first] = leaf;
    else tree[first] = { ...(tree[first] as Tree | undefined), [second]: leaf };
  }
  return tree;
}

const isLeaf = (node: Tree[string]): node is { key: string; schema: z.ZodType; expects: string } => node["schema"] instanceof z.ZodType;

function schemaOf(tree: Tree): z.ZodObject<Record<string, z.ZodType>> {
  return z.strictObject(Object.fromEntries(Object.entries(tree).map(([name, node]) => [name, (isLeaf(node) ? node.schema : schemaOf(node)).optional()])));
}

function* flatten(data: Readonly<Record<string, unknown>>, tree: Tree): Generator<[string, unknown]> {
  for (const [name, node] of Object.entries(tree)) {
    const value = data[name];
    if (value === undefined) continue;
    if (isLeaf(node)) yield [node.key, value];
    else yield* flatten(value as Readonly<Record<string, unknown>>, node);
  }
}

function describe(issue: z.core.$ZodIssue, tree: Tree, raw: unknown): ConfigProblem[] {
  const path = issue.path.map(String);
  let node: Tree[string] | undefined = tree;
  let value = raw;
  for (const name of path) {
    value = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
    if (node !== undefined && !isLeaf(node)) node = node[name];
  }
  if (issue.code === "unrecognized_keys") {
    const known = node === undefined || isLeaf(node) ? [] : [...Object.keys(node), ...(path.length === 0 ? ["harness"] : [])];
    return issue.keys.map((key) => ({ names: [...path, key], says: `there is no key \`${[...path, key].join(".")}\`${hint(key, known)}` }));
  }
  const name = node !== undefined && isLeaf(node) ? node.key : path.join(".");
  return [{ names: path, says: `\`${name}\` is ${node !== undefined && isLeaf(node) ? node.expects : "a table"}; got ${JSON.stringify(value)}` }];
}
