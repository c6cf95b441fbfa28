export { describeAdapter, type ConformanceContext, type MakeAdapter, type ScenarioHooks, type ScenarioKind } from "./suite.ts";
export { orderFaults, type OrderOptions } from "./order.ts";
export { summarizeTurn, type TurnSummary } from "./summary.ts";
export { SessionListener } from "./listener.ts";
export { readTurns } from "./history.ts";
export { describeKeptIndex, type KeptIndexHooks } from "./kept-index.ts";
