export * from "./queue.ts";
export * from "./child.ts";
export * from "./jsonl.ts";
export * from "./history/index.ts";
export * from "./json.ts";
export { withoutSecrets } from "./secrets.ts";
export { findProgram } from "./programs.ts";
export { OpenSessions } from "./open-sessions.ts";
export { InspectionCache } from "./inspection.ts";
