export * from "./queue.ts";
export * from "./child.ts";
