import { filledString, finiteNumber, objectOf } from "@foldcast/adapter-kit";
import { isoTime, type SessionRecord } from "./record.ts";

/** Who a session is, by its first line. */
export interface SessionMeta {
  id: string | null;
  cwd: string | null;
  startedAt: number | null;
  /** A sub-agent of another session. Its rollout may begin with a copy of what that one had said. */
  isChild: boolean;
  /** The session that it is a child or a fork of. */
  parentId: string | null;
  /**
   * Where its history begins (0.145 and later): a fork, and a session after turns of it were reverted, go on from another
   * rollout. That one is named by the last id of its file's name, and counts up to this ordinal.
   */
  base: { id: string; before: number } | null;
  /** In a child's file, what stands before this ordinal is a copy of what its parent said (0.171). */
  ownFrom: number | null;
  /** Name of a sub-agent. */
  nickname: string | null;
}

export function readMeta(payload: SessionRecord): SessionMeta {
  const source = payload["source"];
  const subagent = objectOf(source)["subagent"] ?? objectOf(source)["sub_agent"];
  const spawn = objectOf(objectOf(subagent)["thread_spawn"]);
  const parent = filledString(spawn["parent_thread_id"]) ?? filledString(payload["parent_thread_id"]);
  const isChild = subagent !== undefined || payload["thread_source"] === "subagent" || parent !== null;
  const forkedFrom = filledString(payload["forked_from_id"]);
  return {
    id: filledString(payload["id"]),
    cwd: filledString(payload["cwd"]),
    startedAt: isoTime(payload["timestamp"]),
    isChild,
    parentId: parent ?? forkedFrom,
    base: isChild ? null : baseOf(payload),
    ownFrom: finiteNumber(payload["subagent_history_start_ordinal"]),
    nickname: filledString(spawn["agent_nickname"]) ?? filledString(payload["agent_nickname"]) ?? filledString(spawn["agent_path"]) ?? filledString(payload["agent_path"]),
  };
}

function baseOf(payload: SessionRecord): SessionMeta["base"] {
  const base = objectOf(payload["history_base"]);
  const id = filledString(base["thread_id"]) ?? filledString(payload["forked_from_id"]);
  const before = finiteNumber(base["end_ordinal_exclusive"]) ?? finiteNumber(payload["forked_from_ordinal_exclusive"]);
  return id === null || before === null ? null : { id, before };
}

/** Unix milliseconds in a UUID of version 7, as Codex makes them for threads and turns; null for other ids. */
export function timeOfId(id: string | null): number | null {
  const match = id === null ? null : /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i.exec(id);
  return match === null ? null : Number.parseInt(match[1]! + match[2]!, 16);
}

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const FILE_NAME = new RegExp(`^rollout-.*?(${UUID})(?:_(${UUID}))?\\.jsonl$`, "i");

/**
 * The ids in a rollout's file name: of its session, and of the part of the session that it holds. Each revert of turns
 * begins a new part; the first one has the session's id.
 */
export function idsInName(name: string): { session: string; part: string } | null {
  const [, session, part] = FILE_NAME.exec(name.toLowerCase()) ?? [];
  return session === undefined ? null : { session, part: part ?? session };
}
