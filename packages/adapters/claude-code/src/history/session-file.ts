import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { filledString, objectOf, parseRecord } from "@foldcast/adapter-kit";
import type { SessionScan } from "./session-scan.ts";

/** Who a file belongs to, by its name, its place and its lines. */
export interface SessionFile {
  file: string;
  nativeSessionId: string;
  /** Of a sub-agent: the session that started it. Of a fork: the session that it is a copy of. */
  parentNativeSessionId: string | null;
  /** The session in which the file's agents have their ids: its own, or a sub-agent's parent. */
  sessionId: string;
  /** A sub-agent's task in short, from the file beside it. */
  description: string | null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const MAX_META_BYTES = 64 * 1024;

/** An agent's ids are short and collide between sessions: a child is only known by both. */
export function childRef(sessionId: string, agentId: string): string {
  return `${sessionId}/${agentId}`;
}

/** Sub-agents have files of their own from 2.0.28 on. */
export function isSubAgentFile(file: string): boolean {
  return basename(file).startsWith("agent-");
}

/**
 * The file's name is the session's id where it has the form of one: copies made by a resume carry lines with the ids of
 * older sessions. Files of sub-agents are `agent-<id>.jsonl`, first beside the session's file, later in
 * `<session>/subagents/`.
 */
export async function describeFile(file: string, scan: SessionScan): Promise<SessionFile> {
  const name = basename(file, ".jsonl");
  if (!scan.isSubAgent) {
    const sessionId = UUID.test(name) ? name : (scan.sessionId ?? name);
    const parent = scan.forkedFrom === sessionId ? null : scan.forkedFrom;
    return { file, nativeSessionId: sessionId, parentNativeSessionId: parent, sessionId, description: null };
  }
  const folder = dirname(file);
  const owner = basename(folder) === "subagents" ? basename(dirname(folder)) : "";
  const sessionId = UUID.test(owner) ? owner : (scan.sessionId ?? name);
  const agentId = scan.agentId ?? (name.startsWith("agent-") ? name.slice("agent-".length) : null);
  const meta = await readMeta(join(folder, `${name}.meta.json`));
  const parent = agentId === null ? null : sessionId;
  return {
    file,
    nativeSessionId: agentId === null ? (UUID.test(name) ? name : sessionId) : childRef(sessionId, agentId),
    parentNativeSessionId: parent,
    sessionId,
    description: filledString(meta["description"]),
  };
}

/** Call id → agent id, from the `.meta.json` files of the session's sub-agents; a running or killed call has no result. */
export async function subAgentsOfCalls(about: SessionFile): Promise<ReadonlyMap<string, string>> {
  const agents = new Map<string, string>();
  const isSubAgent = about.parentNativeSessionId === about.sessionId;
  const folder = isSubAgent ? dirname(about.file) : join(dirname(about.file), basename(about.file, ".jsonl"), "subagents");
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    return agents;
  }
  for (const name of names) {
    const agentId = /^agent-(.+)\.meta\.json$/.exec(name)?.[1];
    if (agentId === undefined) continue;
    const callId = filledString((await readMeta(join(folder, name)))["toolUseId"]);
    if (callId !== null) agents.set(callId, agentId);
  }
  return agents;
}

async function readMeta(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const text = await readFile(file, "utf8");
    return text.length > MAX_META_BYTES ? {} : objectOf(parseRecord(text));
  } catch {
    return {};
  }
}
