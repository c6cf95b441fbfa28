import { dirname } from "node:path";
import type { ConfigFile } from "../options/config-file.ts";
import { environmentName } from "../options/option.ts";
import { FEISHU_SETTINGS } from "../table/options.ts";

export interface FileSettings {
  /** With the file's own variable in it, where the environment has none. */
  env: NodeJS.ProcessEnv;
  /** By the channel's names; only what no variable says. */
  given: Readonly<Record<string, unknown>>;
}

/** What the table [feishu] says. A variable goes before it. */
export function feishuFromFile(file: ConfigFile | null, env: NodeJS.ProcessEnv): FileSettings {
  const given: Record<string, unknown> = {};
  const filled = { ...env };
  for (const [name, { key, kind }] of Object.entries(FEISHU_SETTINGS)) {
    const variable = environmentName(name);
    if (file?.values.has(key) !== true || (env[variable] ?? "") !== "") continue;
    const value: unknown = file.values.get(key);
    // Checked by the kind's schema when the file was read.
    const resolved = "resolveFrom" in kind ? (kind.resolveFrom as (value: unknown, folder: string) => unknown)(value, dirname(file.path)) : value;
    if (name === "feishu-app-secret-file") filled[variable] = String(resolved);
    else given[camelCase(key.slice("feishu.".length))] = resolved;
  }
  return { env: filled, given };
}

function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
