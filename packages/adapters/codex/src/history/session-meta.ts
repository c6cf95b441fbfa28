import { filledString, finiteNumber, isoTime, objectOf, type SessionRecord } from "./record.ts";

/** Who a session is, by its first line. */
export interface SessionMeta {
  id: string | null;
  cwd: string | null;
  startedAt: number | null;
  /** A sub-agent of another session. Its rollout may begin with a copy of what that one had said. */
  isChild: boolean;
  /** The session that it is a child or a fork of. */
  parentId: string | null;
  /** Forks since 0.145 hold no copy: their history is that of the parent before this ordinal. */
  forkedBefore: number | null;
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
    forkedBefore: isChild || forkedFrom === null ? null : finiteNumber(payload["forked_from_ordinal_exclusive"]),
    nickname: filledString(spawn["agent_nickname"]) ?? filledString(payload["agent_nickname"]) ?? filledString(spawn["agent_path"]) ?? filledString(payload["agent_path"]),
  };
}

/** Unix milliseconds in a UUID of version 7, as Codex makes them for threads and turns; null for other ids. */
export function timeOfId(id: string | null): number | null {
  const match = id === null ? null : /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i.exec(id);
  return match === null ? null : Number.parseInt(match[1]! + match[2]!, 16);
}

const FILE_ID = /^rollout-.*?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i;

/** The session's id in a rollout's file name. */
export function idInName(name: string): string | null {
  return FILE_ID.exec(name)?.[1]?.toLowerCase() ?? null;
}
