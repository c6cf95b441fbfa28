export * from "./turn-view.ts";
export * from "./thread-view.ts";
