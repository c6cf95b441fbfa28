import type { Thread } from "@foldcast/protocol-core/wire";
import { withMember } from "../native/merge.ts";
import { jsonBytes } from "../rpc/frame.ts";
import { RawJson } from "../rpc/raw-json.ts";
import { viewTurn } from "../threads/pages.ts";
import type { TurnList } from "../threads/pages.ts";

/** A long history is written piece by piece: of all its items only the bytes are held, and others get their turn between. */
const TURNS_AT_ONCE = 16;

/** What `writeTurns` gives where there are none. */
export const NO_TURNS: readonly Buffer[] = [Buffer.from("[]")];

/** All turns as a JSON list, oldest first, each with all its items. Rejects when the saved file cannot be read. */
export async function writeTurns(list: TurnList): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for (let at = 0; at < list.ids.length; at += TURNS_AT_ONCE) {
    const turns = await list.take(at, Math.min(at + TURNS_AT_ONCE, list.ids.length));
    for (const turn of turns) parts.push(Buffer.from(parts.length === 0 ? "[" : ","), jsonBytes(viewTurn(turn, "full")));
  }
  parts.push(Buffer.from(parts.length === 0 ? "[]" : "]"));
  return parts;
}

/** An answer about a thread, with its turns as `writeTurns` gave them. */
export function threadResult(result: { thread: Thread } & Readonly<Record<string, unknown>>, turns: readonly Buffer[]): RawJson {
  const mark = Buffer.from(MARK);
  const around = withMember(jsonBytes(result), "thread", withMember(jsonBytes(result.thread), "turns", mark));
  const at = around.indexOf(mark);
  return new RawJson([around.subarray(0, at), ...turns, around.subarray(at + mark.length)]);
}

/** Stands where the turns will be; no JSON, so that it cannot be anywhere else. */
const MARK = "\u0000";
