export * from "./items.ts";
export * from "./events.ts";
export * from "./interactions.ts";
export * from "./contract.ts";
export * from "./history.ts";
export * from "./numbers.ts";
