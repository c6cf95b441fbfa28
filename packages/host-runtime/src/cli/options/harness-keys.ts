import type { HarnessEntry } from "../../harness/catalogue.ts";
import { UsageError } from "../usage-error.ts";
import { hint, problemsWith } from "./config-file.ts";
import type { ConfigFile, ConfigProblem } from "./config-file.ts";

/**
 * Throws a `UsageError` for keys in `[harness.<id>]` that the harness does not name among its settings. One that names
 * none takes any; one that does not load is told of when it is used.
 */
export async function demandHarnessKeys({ path, text, harness }: ConfigFile, entries: readonly HarnessEntry[]): Promise<void> {
  const problems: ConfigProblem[] = [];
  for (const [id, values] of Object.entries(harness)) {
    const definition = await entries.find((entry) => entry.id === id)?.load().catch(() => null);
    if (definition?.settings === undefined) continue;
    const known = Object.keys(definition.settings);
    for (const key of Object.keys(values)) {
      if (!known.includes(key)) problems.push({ names: ["harness", id, key], says: `there is no key \`harness.${id}.${key}\`${hint(key, known)}` });
    }
  }
  if (problems.length > 0) throw new UsageError(problemsWith({ path, text }, problems));
}
