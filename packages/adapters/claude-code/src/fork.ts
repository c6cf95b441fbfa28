import { open, rm, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readPieces, scanLines, type FilePiece, filledString, parseRecord } from "@foldcast/adapter-kit";
import { openSession } from "./history/session-index.ts";

const BATCH_BYTES = 1024 * 1024;

export interface SessionCopy {
  file: string;
  remove(): Promise<void>;
}

/**
 * Writes a copy of a session beside it, with another id, up to the end of a turn (null = all of it). It is what the
 * program's own `--fork-session` writes (2.1.332: the same lines, their ids kept), which however writes nothing before
 * the first message; the mark `forkedFrom` is that of the SDK's `forkSession`. Rejects when there is no such turn.
 */
export async function copySession({ source, fromId, toId, throughTurnKey }: { source: string; fromId: string; toId: string; throughTurnKey: string | null }): Promise<SessionCopy> {
  const end = throughTurnKey === null ? Infinity : await endOfTurn(source, throughTurnKey);
  const file = join(dirname(source), `${toId}.jsonl`);
  const reader = await open(source);
  try {
    const lines: FilePiece[] = [];
    await scanLines(reader, (_bytes, from, to, offset, ended) => {
      if (ended && offset < end) lines.push({ offset, length: to - from });
    });
    const writer = await open(file, "ax", 0o600);
    try {
      await copyLines(reader, writer, lines, fromId, toId);
    } finally {
      await writer.close();
    }
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await reader.close();
  }
  return { file, remove: () => rm(file, { force: true }) };
}

/** Offset behind the last line of a turn. */
async function endOfTurn(source: string, key: string): Promise<number> {
  const index = await openSession(source);
  try {
    const end = index.endOf(key);
    if (end === null) throw new Error(`The session has no turn ${key}.`);
    return end;
  } finally {
    await index.close();
  }
}

async function copyLines(reader: FileHandle, writer: FileHandle, lines: readonly FilePiece[], fromId: string, toId: string): Promise<void> {
  for (let at = 0; at < lines.length;) {
    const batch: FilePiece[] = [];
    for (let bytes = 0; at < lines.length && (batch.length === 0 || bytes < BATCH_BYTES); at += 1) {
      batch.push(lines[at]!);
      bytes += lines[at]!.length;
    }
    const texts: string[] = [];
    await readPieces(reader, batch, (bytes, from, to) => texts.push(`${copiedLine(bytes.toString("utf8", from, to), fromId, toId)}\n`));
    await writer.write(texts.join(""));
  }
}

/** A line that cannot be read goes over as it is. */
function copiedLine(text: string, fromId: string, toId: string): string {
  const record = parseRecord(text);
  if (record === null) return text;
  const uuid = filledString(record["uuid"]);
  return JSON.stringify({
    ...record,
    ...(record["sessionId"] === undefined ? {} : { sessionId: toId }),
    ...(uuid === null ? {} : { forkedFrom: { sessionId: fromId, messageUuid: uuid } }),
  });
}
