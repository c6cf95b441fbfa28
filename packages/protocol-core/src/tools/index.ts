export * from "./tool-map.ts";
