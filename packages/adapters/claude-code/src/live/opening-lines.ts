import { open } from "node:fs/promises";
import { filledString, messageOf, parseRecord, type SessionRecord } from "../history/record.ts";
import { readUserContent } from "../history/user-content.ts";

const TAIL_BYTES = 256 * 1024;

/**
 * The lines at the end of a session file that set the agent to work by itself, oldest first; empty while they are not
 * written. The running program does not tell them (2.1.332), and the first one's id is the turn's key in the file.
 * `known`: ids of lines that began other turns.
 */
export async function openingLines(path: string, known: ReadonlySet<string>): Promise<SessionRecord[]> {
  const lines: SessionRecord[] = [];
  for (const text of (await readTail(path)).split("\n").reverse()) {
    const record = parseRecord(text);
    if (record === null || (record["type"] !== "user" && record["type"] !== "assistant")) continue;
    const id = filledString(record["uuid"]);
    if (record["type"] === "assistant" || id === null || known.has(id) || !mayOpen(record)) break;
    lines.unshift(record);
  }
  return lines;
}

/** Text for the model alone opens a turn where the program says so; news always may. */
function mayOpen(record: SessionRecord): boolean {
  return record["turnPosition"] !== undefined || readUserContent(messageOf(record)["content"]).kind === "notice";
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
