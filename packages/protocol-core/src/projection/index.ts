export * from "./outputs.ts";
export { TurnProjector, type ProjectorOptions } from "./projector.ts";
export { CappedText, capText, OUTPUT_CAP_BYTES } from "./capped-text.ts";
export { decidePhase, type PhaseDecision, type VisibleItem } from "./final-answer.ts";
export { NetChanges } from "./net-changes.ts";
