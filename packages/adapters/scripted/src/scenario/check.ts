import type { z } from "zod";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { checkReferences } from "./references.ts";
import { scenarioSchema, STEP_NAMES, type Scenario } from "./schema.ts";

/** `path` like `turns[0].steps[2].tool.name`; empty for the file itself. */
export interface ScenarioError {
  path: string;
  message: string;
}
export type ScenarioCheck = { ok: true; errors: []; scenario: Scenario } | { ok: false; errors: ScenarioError[] };

/** Reads the text of a scenario file. Never throws; reports every fault that can be told apart from the others. */
export function checkScenario(text: string): ScenarioCheck {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { ok: false, errors: [{ path: "", message: `Not JSON: ${error instanceof Error ? error.message : String(error)}` }] };
  }
  const parsed = scenarioSchema.safeParse(value);
  if (!parsed.success) return { ok: false, errors: parsed.error.issues.flatMap((issue) => explain(issue, value, [])) };
  const errors = checkReferences(parsed.data);
  return errors.length > 0 ? { ok: false, errors } : { ok: true, errors: [], scenario: parsed.data };
}

type Path = readonly PropertyKey[];

/** A union of steps fails in every option; only the one that the step names is of interest. */
function explain(issue: z.core.$ZodIssue, root: unknown, base: Path): ScenarioError[] {
  const path = [...base, ...issue.path];
  if (issue.code !== "invalid_union" || issue.message !== "Invalid input") return [{ path: formatPath(path), message: issue.message }];
  const value = path.reduce<unknown>((at, key) => at !== null && typeof at === "object" ? (at as Record<PropertyKey, unknown>)[key] : undefined, root);
  if (!isJsonObject(value)) return [{ path: formatPath(path), message: "A step must be an object." }];
  const option = STEP_NAMES.findIndex((name) => name in value);
  const inner = issue.errors[option];
  if (inner === undefined) {
    const keys = Object.keys(value).map((key) => `"${key}"`).join(", ") || "nothing";
    return [{ path: formatPath(path), message: `Unknown step with ${keys}; a step has one of: ${STEP_NAMES.join(", ")}.` }];
  }
  return inner.flatMap((cause) => explain(cause, root, path));
}

function formatPath(path: Path): string {
  return path.map((key, index) => typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`).join("");
}
