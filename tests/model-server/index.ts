export { startModelServer, type ModelServer } from "./server.ts";
export type { ScenarioInput } from "./scenario.ts";
