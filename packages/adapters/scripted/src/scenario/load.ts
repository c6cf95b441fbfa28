import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { checkScenario } from "./check.ts";
import { modelOf, type Scenario } from "./schema.ts";

export interface LoadedScenarios {
  scenarios: Scenario[];
  /** What could not be used, a sentence each. */
  problems: string[];
}

const MAX_REPORTED_ERRORS = 3;

/** Reads a scenario file, or the `*.json` files of a folder in sorted order. Never rejects. */
export async function loadScenarios(path: string): Promise<LoadedScenarios> {
  const loaded: LoadedScenarios = { scenarios: [], problems: [] };
  try {
    const folder = (await stat(path)).isDirectory();
    const files = folder ? (await readdir(path)).filter((name) => name.endsWith(".json")).sort().map((name) => join(path, name)) : [path];
    if (files.length === 0) loaded.problems.push(`${path}: the folder has no scenario (*.json).`);
    for (const file of files) await addFile(file, loaded);
  } catch (error) {
    loaded.problems.push(`${path}: ${messageOf(error)}`);
  }
  return loaded;
}

async function addFile(file: string, loaded: LoadedScenarios): Promise<void> {
  try {
    const check = checkScenario(await readFile(file, "utf8"));
    if (!check.ok) {
      loaded.problems.push(`${file}: ${describe(check.errors)}`);
    } else if (loaded.scenarios.some((known) => modelOf(known) === modelOf(check.scenario))) {
      loaded.problems.push(`${file}: another file has the model "${modelOf(check.scenario)}" already.`);
    } else loaded.scenarios.push(check.scenario);
  } catch (error) {
    loaded.problems.push(`${file}: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe(errors: readonly { path: string; message: string }[]): string {
  const shown = errors.slice(0, MAX_REPORTED_ERRORS).map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
  const more = errors.length - shown.length;
  return shown.join("; ") + (more > 0 ? `; and ${more} more` : "");
}
