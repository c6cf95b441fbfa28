export * from "./model.ts";
export * from "./fallback.ts";
