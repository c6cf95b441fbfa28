export * from "./version.ts";
export * from "./json.ts";
export * from "./items.ts";
export * from "./turns.ts";
export * from "./threads.ts";
export * from "./notifications.ts";
export * from "./errors.ts";
export * from "./framing.ts";
