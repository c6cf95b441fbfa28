export * from "./outputs.ts";
export * from "./projector.ts";
