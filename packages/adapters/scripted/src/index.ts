import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import { manifest } from "./manifest.ts";

export { checkScenario, type ScenarioCheck, type ScenarioError } from "./scenario/check.ts";
export { scenarioJsonSchema, type Scenario } from "./scenario/schema.ts";
export { runScriptedChild } from "./engine/child-main.ts";
export { CHILD_ARGUMENT } from "./engine/protocol.ts";

/** The deterministic harness. */
export const definition: HarnessDefinition = {
  manifest,
  settings: {
    scenarios: "the path of a scenario file, or of a folder with some",
    speed: "2 = twice as fast, 0 = no delays",
    process: "play each session in a process of its own",
    childCommand: "program and arguments of that process",
  },
  create: async (environment, settings) => {
    const { ScriptedAdapter } = await import("./adapter.ts");
    return new ScriptedAdapter(environment, settings);
  },
};
