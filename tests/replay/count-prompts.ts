import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/**
 * What a Claude Code session file holds, counted by rules of its own: it shares no code with the adapter that it
 * checks, reads the whole file at once and knows nothing of turns.
 *
 * `node --import tsx tests/replay/count-prompts.ts FILE…` prints one JSON line a file.
 */
export interface Count {
  /** What a person sent and the agent was to answer. */
  prompts: string[];
  /** Visible texts of the agent, in the order of the file. */
  texts: string[];
  /** Messages typed while the agent worked. */
  queued: string[];
}

interface Line {
  type?: unknown;
  uuid?: unknown;
  isMeta?: unknown;
  isSidechain?: unknown;
  isCompactSummary?: unknown;
  isVisibleInTranscriptOnly?: unknown;
  attachment?: { type?: unknown; prompt?: unknown };
  message?: { content?: unknown };
}

const NOT_TYPED = /^\s*(?:<local-command-|<bash-|<task-notification|<teammate-message|<user-memory-input|\[Request interrupted by user|Caveat: The messages below|This session is being continued from a previous conversation)/;
/** Commands for the agent begin with their message; those that begin with their name may be the program's own. */
const MAYBE_LOCAL = /^\s*<command-name>/;

export function countFile(file: string): Count {
  return countLines(readFileSync(file, "utf8").split("\n"));
}

export function countLines(source: readonly string[]): Count {
  const seen = new Set<unknown>();
  const all: Line[] = [];
  for (const text of source) {
    const line = parse(text.replace(/^\ufeff/, ""));
    if (line === null || (line.type !== "user" && line.type !== "assistant" && line.type !== "attachment")) continue;
    if (line.uuid !== undefined && seen.has(line.uuid)) continue;
    seen.add(line.uuid);
    all.push(line);
  }
  const conversation = all.filter((line) => line.type !== "attachment" && textsOf(line.message?.content).length > 0);
  const own = conversation.some((line) => line.isSidechain !== true) ? all.filter((line) => line.isSidechain !== true) : all;
  const count: Count = { prompts: [], texts: [], queued: [] };
  own.forEach((line, at) => {
    if (line.type === "attachment") {
      if (line.attachment?.type === "queued_command") count.queued.push(...textsOf(line.attachment.prompt).filter((text) => !NOT_TYPED.test(text)));
    } else if (line.type === "assistant") {
      count.texts.push(...textsOf(line.message?.content).filter((text) => text.trim() !== ""));
    } else if (line.isMeta !== true && line.isCompactSummary !== true && line.isVisibleInTranscriptOnly !== true) {
      const prompt = promptOf(line.message?.content);
      if (prompt !== null && (!MAYBE_LOCAL.test(prompt) || isAnswered(own, at))) count.prompts.push(prompt);
    }
  });
  return count;
}

function promptOf(content: unknown): string | null {
  if (Array.isArray(content) && content.some((block: { type?: unknown } | null) => block?.type === "tool_result")) return null;
  const typed = textsOf(content).map((text) => text.replace(/<system-reminder>[^]*?<\/system-reminder>/g, "")).filter((text) => text.trim() !== "");
  const text = typed.join("\n");
  if (text === "") return Array.isArray(content) && content.some((block: { type?: unknown } | null) => block?.type === "image") ? "[image]" : null;
  return NOT_TYPED.test(text) ? null : text;
}

/** A command is a prompt when the agent comes next, and not only the program's own output. */
function isAnswered(lines: readonly Line[], at: number): boolean {
  for (const line of lines.slice(at + 1)) {
    if (line.type === "assistant") return true;
    if (line.type === "user" && line.isMeta !== true && !/^\s*<local-command-/.test(textsOf(line.message?.content).join("\n"))) return false;
  }
  return false;
}

function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return (content as ({ type?: unknown; text?: unknown } | null)[]).flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? [block.text] : []));
}

function parse(text: string): Line | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const file of process.argv.slice(2)) {
    const { prompts, texts, queued } = countFile(file);
    console.log(JSON.stringify({ file, prompts: prompts.length, texts: texts.length, queued: queued.length }));
  }
}
