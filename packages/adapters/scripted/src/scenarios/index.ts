import { scenarioSchema, type Scenario, type ScenarioInput } from "../scenario/schema.ts";
import { approval } from "./approval.ts";
import { demo } from "./demo.ts";
import { failure } from "./failure.ts";
import { plain } from "./plain.ts";
import { slow } from "./slow.ts";

const written: readonly ScenarioInput[] = [demo, approval, slow, failure, plain];

/** Scenarios that are always there, in the order in which they are offered. */
export const embeddedScenarios: readonly Scenario[] = written.map((scenario) => scenarioSchema.parse(scenario));
