export { DiagnosticCounter, sampleOf } from "./diagnostics.ts";
export { changeSince, fileState, stillBeginsWith, type FileChange, type FileState } from "./growth.ts";
export { PieceList } from "./pieces.ts";
