export { DiagnosticCounter, sampleOf } from "./diagnostics.ts";
export { changeSince, demandSameFile, fileState, lookAt, stillBeginsWith, type FileChange, type FileState } from "./growth.ts";
export { PieceList } from "./pieces.ts";
export { recordsOf, turnLines, type TurnLine } from "./turn-lines.ts";
export { ScannedFile, type KeptFile } from "./scanned-file.ts";
export { freeId } from "./free-id.ts";
export { RepeatedLines } from "./repeated-lines.ts";
