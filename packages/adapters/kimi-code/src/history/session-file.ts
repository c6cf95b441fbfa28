import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { childRef } from "./children.ts";
import { filledString, type JsonRecord, finiteNumber, objectOf, objectsOf, parseRecord } from "@foldcast/adapter-kit";

const MAX_STATE_BYTES = 4 * 1024 * 1024;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SESSION_FOLDER = /^(?:session_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What the lines of a file say of whose they are; all may be unknown. */
export interface Claims {
  sessionId: string | null;
  agentId: string | null;
  isChild: boolean;
  cwd: string | null;
  identity: string;
}

/** Who a file belongs to, by its place, its lines and the files beside it. */
export interface SessionFile {
  nativeSessionId: string;
  parentNativeSessionId: string | null;
  /** The session in which agents have their ids: a sub-agent's is its parent's. */
  sessionId: string;
  isChild: boolean;
  cwd: string | null;
  title: string | null;
  /** Unix milliseconds; null where no state file says it. */
  updatedAt: number | null;
}

interface Place {
  sessionId: string | null;
  /** Null = the session's own file. */
  agentId: string | null;
  sessionFolder: string | null;
}

/**
 * `<session>/agents/<agent>/wire.jsonl` (kimi-code), `<session>/wire.jsonl` and `<session>/subagents/<agent>/wire.jsonl`
 * (kimi-cli; the session in a folder named by the MD5 of the working directory), `<session>.jsonl` (its oldest form).
 */
function placeOf(file: string): Place {
  const folder = dirname(file);
  const above = dirname(folder);
  if (basename(above) === "agents") {
    const sessionFolder = dirname(above);
    const agentId = basename(folder);
    return { sessionId: basename(sessionFolder), agentId: agentId === "main" ? null : agentId, sessionFolder };
  }
  if (basename(above) === "subagents") return { sessionId: basename(dirname(above)), agentId: basename(folder), sessionFolder: dirname(above) };
  if (SESSION_FOLDER.test(basename(folder))) return { sessionId: basename(folder), agentId: null, sessionFolder: folder };
  const name = basename(file, ".jsonl");
  return { sessionId: UUID.test(name) ? name : null, agentId: null, sessionFolder: null };
}

export async function describeFile(file: string, claims: Claims): Promise<SessionFile> {
  const place = placeOf(file);
  const state = place.sessionFolder === null ? {} : await readState(join(place.sessionFolder, "state.json"));
  const sessionId = place.sessionId ?? claims.sessionId ?? `wire-${claims.identity}`;
  const claimed = claims.agentId === "main" ? null : claims.agentId;
  const agentId = place.agentId ?? (place.sessionFolder === null ? claimed : null);
  const isChild = agentId !== null || (place.sessionFolder === null && claims.isChild);
  const own = agentId === null ? (isChild ? `${sessionId}/${claims.identity.slice(0, 8)}` : sessionId) : childRef(sessionId, agentId);
  return {
    nativeSessionId: own,
    parentNativeSessionId: isChild ? parentOf(sessionId, agentId, state) : filledString(state["forkedFrom"]),
    sessionId,
    isChild,
    cwd: filledString(state["cwd"]) ?? claims.cwd ?? (place.sessionFolder === null ? null : await folderOfCli(place.sessionFolder)),
    title: isChild ? null : titleOf(state),
    updatedAt: isChild ? null : finiteNumber(state["updatedAt"]),
  };
}

/** The agent that started it: the session itself, or another sub-agent. */
function parentOf(sessionId: string, agentId: string | null, state: JsonRecord): string {
  const parent = agentId === null ? null : filledString(objectOf(objectOf(state["agents"])[agentId])["parentAgentId"]);
  return parent === null || parent === "main" ? sessionId : childRef(sessionId, parent);
}

/** Names that Kimi takes from the first prompt, and those of forks, name nothing. */
function titleOf(state: JsonRecord): string | null {
  const custom = filledString(state["custom_title"]);
  if (custom !== null) return custom;
  const kind = filledString(state["titleKind"]);
  return state["isCustomTitle"] === true || (kind !== null && kind !== "replaceable") ? filledString(state["title"]) : null;
}

/** kimi-cli names a folder of sessions by the MD5 of its working directory; `kimi.json` lists those. */
async function folderOfCli(sessionFolder: string): Promise<string | null> {
  const folder = dirname(sessionFolder);
  const listed = await readState(join(dirname(dirname(folder)), "kimi.json"));
  for (const entry of objectsOf(listed["work_dirs"])) {
    const path = filledString(entry["path"]);
    if (path !== null && createHash("md5").update(path).digest("hex") === basename(folder)) return path;
  }
  return null;
}

async function readState(file: string): Promise<JsonRecord> {
  try {
    const info = await stat(file);
    return info.isFile() && info.size <= MAX_STATE_BYTES ? (parseRecord(await readFile(file, "utf8")) ?? {}) : {};
  } catch {
    return {};
  }
}
