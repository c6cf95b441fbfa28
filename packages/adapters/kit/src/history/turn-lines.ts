import type { FileHandle } from "node:fs/promises";
import { type JsonRecord, parseRecord, withoutDepths } from "../json.ts";
import { type FilePiece, pieceGroups, spanIn } from "../jsonl.ts";
import { type DiagnosticCounter, sampleOf } from "./diagnostics.ts";
import type { PieceList } from "./pieces.ts";

/** A line of the index as it is now; the file may have changed since. `whole`: nothing of it was nested too deeply. */
export type TurnLine = { record: JsonRecord; whole: boolean; marked: boolean } | { record: null; sample: string };

/** The places of so many turns are listed at a time: a session may have a hundred thousand. */
const TURNS_AT_ONCE = 1_000;

/**
 * The lines of each turn. A turn is parsed when it is asked for, so that of a long history no more is in memory than one
 * turn and the bytes around it. `isMarked` may tell something of a line's text that its record does not.
 */
export async function* turnLines<Turn extends { readonly pieces: PieceList }>(turns: readonly Turn[], file: FileHandle, isMarked: (text: string) => boolean = () => false): AsyncGenerator<{ turn: Turn; lines: TurnLine[] }> {
  for (let from = 0; from < turns.length; from += TURNS_AT_ONCE) yield* linesOf(turns.slice(from, from + TURNS_AT_ONCE), file, isMarked);
}

async function* linesOf<Turn extends { readonly pieces: PieceList }>(turns: readonly Turn[], file: FileHandle, isMarked: (text: string) => boolean): AsyncGenerator<{ turn: Turn; lines: TurnLine[] }> {
  const pieces: FilePiece[] = [];
  // Kept, as a turn may grow while it is read.
  const ends = turns.map((turn) => {
    for (const piece of turn.pieces.list()) pieces.push(piece);
    return pieces.length;
  });
  let at = 0;
  let lines: TurnLine[] = [];
  for await (const group of pieceGroups(file, pieces)) {
    for (let index = group.first; index < group.last; index++) {
      while (ends[at] === index) yield { turn: turns[at++]!, lines: [] };
      lines.push(lineOf(group.bytes, ...spanIn(group, pieces[index]!), isMarked));
      if (index + 1 < ends[at]!) continue;
      yield { turn: turns[at++]!, lines };
      lines = [];
    }
  }
  while (at < turns.length) yield { turn: turns[at++]!, lines: [] };
}

function lineOf(bytes: Buffer, start: number, end: number, isMarked: (text: string) => boolean): TurnLine {
  const text = bytes.toString("utf8", start, end);
  const record = parseRecord(text);
  if (record === null) return { record: null, sample: sampleOf(bytes, start, end) };
  const shown = withoutDepths(record);
  return { record: shown, whole: shown === record, marked: isMarked(text) };
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
