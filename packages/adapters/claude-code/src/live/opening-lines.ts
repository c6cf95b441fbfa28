import { open } from "node:fs/promises";
import { filledString, parseRecord } from "@foldcast/adapter-kit";
import { type SessionRecord } from "../history/record.ts";
import { readUserLine } from "../history/user-content.ts";

/** Beside the conversation the file holds what was sent to the model, in long lines. */
const TAIL_BYTES = 1024 * 1024;

/**
 * The lines in a session file that set the agent to work by itself, oldest first; empty while they are not written. The
 * running program does not tell them (2.1.332), and the first one's id is the turn's key in the file. `lastSeen` is the
 * newest line that the program told, where it told one: they stand somewhere behind it, and their answer may follow.
 */
export async function openingLines(path: string, lastSeen: string | null): Promise<SessionRecord[]> {
  const after: SessionRecord[] = [];
  for (const text of (await readTail(path)).split("\n").reverse()) {
    const record = parseRecord(text);
    if (record === null) continue;
    if (lastSeen !== null && record["uuid"] === lastSeen) break;
    if (record["type"] === "user" || record["type"] === "assistant") after.unshift(record);
  }
  const first = after.findLastIndex((record, at) => mayOpen(record) && !mayOpen(after[at - 1] ?? {}));
  if (first === -1) return [];
  const end = after.findIndex((record, at) => at > first && !mayOpen(record));
  return after.slice(first, end === -1 ? undefined : end);
}

/** Text for the model alone opens a turn where the program says so; news always may. */
function mayOpen(record: SessionRecord): boolean {
  if (record["type"] !== "user" || filledString(record["uuid"]) === null || record["isCompactSummary"] === true || record["turnAttributionKey"] !== undefined) return false;
  return record["turnPosition"] !== undefined || readUserLine(record).kind === "notice";
}

async function readTail(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return "";
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
