import { open, stat } from "node:fs/promises";
import type { SessionPeek } from "@foldcast/protocol-core/harness";
import { DiagnosticCounter, parseRecord } from "@foldcast/adapter-kit";
import { decode } from "./dialects.ts";
import { describeFile } from "./session-file.ts";
import { SessionScan } from "./session-scan.ts";

/** A first prompt stands behind the system prompt and the list of tools, which can be long. */
const HEAD_BYTES = 1024 * 1024;
const TAIL_BYTES = 64 * 1024;

/** What a list shows of a session, from the ends of its file. Null where it has no turn. */
export async function peekSession(path: string): Promise<SessionPeek | null> {
  const { size, mtimeMs } = await stat(path);
  const file = await open(path);
  try {
    const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const scan = new SessionScan(new DiagnosticCounter());
    scan.readBytes(head.subarray(0, bytesRead), bytesRead === size);
    if (!scan.isOurs) return null;
    const first = scan.turns.turns[0];
    // An undo or a long beginning can hide what is there: such a file is told by its size alone.
    if (first === undefined && bytesRead === size) return null;
    const about = await describeFile(path, scan);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const end = await file.read(tail, 0, tail.length, size - tail.length);
    return {
      nativeSessionId: about.nativeSessionId,
      cwd: about.cwd,
      title: about.title,
      prompt: scan.turns.turns.find((turn) => turn.prompt !== "")?.prompt ?? "",
      startedAt: first?.startedAt ?? null,
      updatedAt: lastTime(tail.toString("utf8", 0, end.bytesRead)) ?? about.updatedAt ?? Math.floor(mtimeMs),
      kind: about.isChild ? "child" : "session",
      parentNativeSessionId: about.parentNativeSessionId,
    };
  } finally {
    await file.close();
  }
}

/** The time of the last line that has one. */
function lastTime(text: string): number | null {
  for (const line of text.split("\n").reverse()) {
    const record = parseRecord(line.trim());
    const at = record === null ? null : decode(record).at;
    if (at !== null) return at;
  }
  return null;
}
