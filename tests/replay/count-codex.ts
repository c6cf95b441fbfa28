import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * What a Codex rollout holds, counted by rules of its own: it shares no code with the adapter that it checks, reads the
 * whole file at once, and sorts its records by the turn that they name or stand in.
 *
 * `node --import tsx tests/replay/count-codex.ts FILE…` prints one JSON line a file.
 */
export interface CodexCount {
  /** Turns that somebody's words began, in order. */
  prompts: string[];
  /** Words that came while a turn ran. */
  steers: string[];
  /** Visible texts of the agent. */
  texts: string[];
  /** Turns with nobody's words in them. */
  silent: number;
}

type Json = Record<string, unknown>;
interface Turn {
  id: string | null;
  /** Per kind of record, what was said. */
  user: Record<Kind, string[]>;
  agent: Record<Kind, string[]>;
}
type Kind = "event" | "item" | "record";

const HARNESS = /^\s*(?:<(?:environment_context|user_instructions|INSTRUCTIONS|permissions instructions|skills_instructions|plugins_instructions|apps_instructions|collaboration_mode|multi_agent_(?:mode|role)|model_switch|turn_aborted|user_shell_command|user_action|subagent_notification|skill|tools)\b|# AGENTS\.md)/;

export function countCodexFile(file: string): CodexCount {
  return countCodexLines(readFileSync(file, "utf8").split("\n"));
}

export function countCodexLines(source: readonly string[]): CodexCount {
  const records = unique(source).map(parse).filter((record) => record !== null);
  const metas = records.filter((record) => record["type"] === "session_meta").map((record) => objectOf(record["payload"]));
  const own = metas[0] ?? {};
  const isChild = objectOf(own["source"])["subagent"] !== undefined || own["thread_source"] === "subagent";
  let turns: Turn[] = [];
  const known = new Map<string, Turn>();
  let current: Turn | null = null;
  let skipping = false;
  let seen = 0;
  const begin = (id: string | null): Turn => {
    const turn: Turn = { id, user: { event: [], item: [], record: [] }, agent: { event: [], item: [], record: [] } };
    turns.push(turn);
    if (id !== null) known.set(id, turn);
    return turn;
  };
  for (const record of records) {
    const payload = record["payload"] === undefined ? record : objectOf(record["payload"]);
    const type = record["type"] === "event_msg" || record["type"] === "response_item" || record["payload"] === undefined ? String(payload["type"]) : String(record["type"]);
    const turnId = typeof payload["turn_id"] === "string" ? payload["turn_id"] : null;
    if (type === "session_meta") {
      seen++;
      current = null;
      skipping = isChild && seen > 1;
    } else if (type === "task_started" && turnId !== null) {
      // A turn of before the sub-agent, or one that stands in the file already.
      skipping = known.has(turnId) || (isChild && isOlder(turnId, String(own["id"])));
      current = skipping ? null : begin(turnId);
    } else if (skipping) continue;
    else if (type === "task_complete") current = null;
    else if (type === "thread_rolled_back") {
      turns = turns.slice(0, Math.max(0, turns.length - Number(payload["num_turns"])));
      current = null;
    } else {
      const said = saidBy(type, payload);
      if (said === null) continue;
      const named = turnId === null ? null : (known.get(turnId) ?? null);
      let turn: Turn | null = named ?? current;
      if (said.who === "user" && (turn === null || turn.id === null) && named === null) {
        // Without named turns each prompt begins one; the second record of the same prompt does not.
        const isCopy = turn !== null && turn.agent.event.length + turn.agent.record.length + turn.agent.item.length === 0 && turn.user[said.kind].length === 0 && all(turn.user).includes(said.text);
        if (!isCopy) turn = begin(turnId);
      }
      turn ??= turns.at(-1) ?? begin(turnId);
      if (named === null) current = turn;
      turn[said.who][said.kind].push(said.text);
    }
  }
  const count: CodexCount = { prompts: [], steers: [], texts: [], silent: 0 };
  for (const turn of turns) {
    const told = turn.user.event.length + turn.user.item.length > 0 ? merge({ ...turn.user, record: [] }) : turn.user.record;
    if (told.length === 0) count.silent++;
    else count.prompts.push(told[0]!);
    count.steers.push(...told.slice(1));
    count.texts.push(...merge(turn.agent));
  }
  return count;
}

function saidBy(type: string, payload: Json): { who: "user" | "agent"; kind: Kind; text: string } | null {
  if (type === "user_message") return { who: "user", kind: "event", text: typeof payload["message"] === "string" ? payload["message"] : "" };
  if (type === "agent_message" && typeof payload["message"] === "string") return spoken("event", payload["message"]);
  if (type === "item_completed") {
    const item = objectOf(payload["item"]);
    if (item["type"] === "UserMessage") return { who: "user", kind: "item", text: textsOf(item["content"]).join("\n") };
    return item["type"] === "AgentMessage" ? spoken("item", textsOf(item["content"]).join("")) : null;
  }
  if (type !== "message") return null;
  if (payload["role"] === "assistant") return spoken("record", textsOf(payload["content"]).join("").replace(/<proposed_plan>[^]*?<\/proposed_plan>/g, ""));
  if (payload["role"] !== "user") return null;
  const texts = textsOf(payload["content"]).filter((text) => !HARNESS.test(text));
  return texts.length === 0 ? null : { who: "user", kind: "record", text: texts.join("\n") };
}

function spoken(kind: Kind, text: string): { who: "agent"; kind: Kind; text: string } | null {
  return text.trim() === "" ? null : { who: "agent", kind, text };
}

/** Each text as often as the kind of record that has it most often. */
function merge(said: Record<Kind, readonly string[]>): string[] {
  const most = new Map<string, number>();
  for (const texts of Object.values(said)) {
    for (const text of new Set(texts)) most.set(text, Math.max(most.get(text) ?? 0, texts.filter((each) => each === text).length));
  }
  return [...new Set(all(said))].flatMap((text) => Array<string>(most.get(text)!).fill(text));
}

function all(said: Record<Kind, readonly string[]>): string[] {
  return [...said.item, ...said.event, ...said.record];
}

/** Lines with a time that stand there word for word again were written once. */
function unique(source: readonly string[]): string[] {
  const seen = new Set<string>();
  return source.map((line) => line.replace(/^\ufeff/, "").replace(/[\r ]+$/, "")).filter((line) => {
    const isCopy = line.includes("\"timestamp\"") && seen.has(line);
    seen.add(line);
    return !isCopy;
  });
}

function isOlder(turn: string, thread: string): boolean {
  const clock = (id: string): string => id.replaceAll("-", "").slice(0, 12);
  return turn[14] === "7" && thread[14] === "7" && clock(turn) < clock(thread);
}

function textsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return typeof content === "string" ? [content] : [];
  return (content as (Json | null)[]).flatMap((part) => (typeof part?.["text"] === "string" ? [part["text"]] : []));
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function parse(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const file of process.argv.slice(2)) {
    const { prompts, steers, texts, silent } = countCodexFile(file);
    console.log(JSON.stringify({ file: basename(file), prompts: prompts.length, steers: steers.length, texts: texts.length, silent }));
  }
}
