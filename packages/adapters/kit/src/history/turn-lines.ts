import type { FileHandle } from "node:fs/promises";
import { type JsonRecord, parseRecord, withoutDepths } from "../json.ts";
import { type FilePiece, readPieces } from "../jsonl.ts";
import { type DiagnosticCounter, sampleOf } from "./diagnostics.ts";
import type { PieceList } from "./pieces.ts";

/** Small turns are read together. */
const BATCH_BYTES = 1024 * 1024;

/** A line of the index as it is now; the file may have changed since. `whole`: nothing of it was nested too deeply. */
export type TurnLine = { record: JsonRecord; whole: boolean; marked: boolean } | { record: null; sample: string };

/** The lines of each turn, read in batches; `isMarked` may tell something of a line's text that its record does not. */
export async function* turnLines<Turn extends { readonly pieces: PieceList }>(turns: readonly Turn[], file: FileHandle, isMarked: (text: string) => boolean = () => false): AsyncGenerator<{ turn: Turn; lines: TurnLine[] }> {
  for (const batch of batches(turns)) {
    const lines = await readBatch(batch, file, isMarked);
    for (const [at, turn] of batch.entries()) yield { turn, lines: lines[at]! };
  }
}

/** The records of lines; those that are none, or were nested too deeply, are counted. */
export function recordsOf(lines: readonly TurnLine[], diagnostics: DiagnosticCounter): JsonRecord[] {
  const records: JsonRecord[] = [];
  for (const line of lines) {
    if (line.record === null) {
      diagnostics.count("line.unusable", line.sample);
      continue;
    }
    if (!line.whole) diagnostics.count("line.tooDeep");
    records.push(line.record);
  }
  return records;
}

async function readBatch(turns: readonly { readonly pieces: PieceList }[], file: FileHandle, isMarked: (text: string) => boolean): Promise<TurnLine[][]> {
  const lines: TurnLine[][] = turns.map(() => []);
  const pieces: FilePiece[] = [];
  const owners: TurnLine[][] = [];
  turns.forEach((turn, at) => {
    for (const piece of turn.pieces.list()) {
      pieces.push(piece);
      owners.push(lines[at]!);
    }
  });
  await readPieces(file, pieces, (bytes, start, end, piece) => {
    const text = bytes.toString("utf8", start, end);
    const record = parseRecord(text);
    if (record === null) return void owners[piece]!.push({ record: null, sample: sampleOf(bytes, start, end) });
    const shown = withoutDepths(record);
    owners[piece]!.push({ record: shown, whole: shown === record, marked: isMarked(text) });
  });
  return lines;
}

function* batches<Turn extends { readonly pieces: PieceList }>(turns: readonly Turn[]): Generator<Turn[]> {
  let batch: Turn[] = [];
  let bytes = 0;
  for (const turn of turns) {
    if (batch.length > 0 && bytes + turn.pieces.bytes > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(turn);
    bytes += turn.pieces.bytes;
  }
  if (batch.length > 0) yield batch;
}
