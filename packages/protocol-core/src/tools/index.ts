export * from "./tool-map.ts";
export * from "./reading.ts";
export { interpretCall, ruleOf, type ToolCall } from "./interpret.ts";
export { type CallResult, interpretResult, type ResultReading, type ToolEvidence } from "./result.ts";
export type { ToolResultView, WebSource } from "./result-view.ts";
