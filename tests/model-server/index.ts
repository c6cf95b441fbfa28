export { startModelServer, type ModelServer, type ReceivedRequest } from "./server.ts";
export type { Scenario, ScenarioInput } from "./scenario.ts";
