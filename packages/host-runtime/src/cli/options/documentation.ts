import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import { environmentName } from "./option.ts";
import type { OptionSpec, OptionTable } from "./option.ts";

/** A table of settings of docs/guide/configuration.md, in Markdown. */
export function settingsTable(options: OptionTable, withFlags = true): string {
  const rows = Object.entries(options).flatMap(([name, option]) => (option.key === undefined ? [] : [[
    code(option.key), ...(withFlags ? [code(`--${name}`)] : []), code(environmentName(name)), defaultOf(option), `${option.does}${choices(option)}`,
  ]]));
  return table(["Key", ...(withFlags ? ["Flag"] : []), "Environment", "Default", "What it does"], rows);
}

/** The table of what each harness takes under `[harness.<id>]`. */
export function harnessTable(definitions: readonly HarnessDefinition[]): string {
  const rows = definitions.flatMap(({ manifest, settings }) => Object.entries(settings ?? {}).map(([key, does]) => [code(`[harness.${manifest.id}]`), code(key), does]));
  return table(["Table", "Key", "What it does"], rows);
}

function defaultOf({ default: value, defaultWords, kind }: OptionSpec): string {
  if (defaultWords !== undefined) return defaultWords;
  if (value !== undefined) return code(JSON.stringify(value));
  return kind.bare === true ? code("false") : "none";
}

function choices({ kind }: OptionSpec): string {
  return Array.isArray(kind.completes) ? `; one of ${kind.completes.map(code).join(", ")}` : "";
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const code = (text: string): string => `\`${text}\``;
