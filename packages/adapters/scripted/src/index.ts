import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import { manifest } from "./manifest.ts";

export { checkScenario, type ScenarioCheck, type ScenarioError } from "./scenario/check.ts";
export { scenarioJsonSchema, type Scenario } from "./scenario/schema.ts";
export { runScriptedChild } from "./engine/child-main.ts";
export { CHILD_ARGUMENT } from "./engine/protocol.ts";

/**
 * The deterministic harness. Settings: `scenarios` (path of a file or folder), `speed` (2 = twice as fast, 0 = no
 * delays), `process` (play in a child process), `childCommand` (program and arguments of that child).
 */
export const definition: HarnessDefinition = {
  manifest,
  create: async (environment, settings) => {
    const { ScriptedAdapter } = await import("./adapter.ts");
    return new ScriptedAdapter(environment, settings);
  },
};
