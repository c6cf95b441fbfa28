import type { Thread } from "@foldcast/protocol-core/wire";
import { withMember } from "../native/merge.ts";
import { jsonBytes } from "../rpc/frame.ts";
import { RawJson } from "../rpc/raw-json.ts";
import { viewTurn } from "../threads/pages.ts";
import type { LongTurnList } from "../threads/pages.ts";

const [BEGIN, COMMA, END] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];

/** What `writeTurns` gives where there are none. */
export const NO_TURNS: readonly Buffer[] = [Buffer.from("[]")];

/**
 * All turns as a JSON list, oldest first, each with all its items. Of a long history only the bytes are held, and others
 * get their turn while it is read. Rejects when the saved file cannot be read.
 */
export async function writeTurns(list: LongTurnList): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  await list.each(0, list.ids.length, (turn) => parts.push(parts.length === 0 ? BEGIN : COMMA, jsonBytes(viewTurn(turn, "full"))));
  return parts.length === 0 ? [...NO_TURNS] : [...parts, END];
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
