export * from "./queue.ts";
export * from "./child.ts";
export * from "./jsonl.ts";
export * from "./history/index.ts";
