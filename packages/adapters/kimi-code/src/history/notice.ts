import type { Notice } from "./notes.ts";
import { type JsonRecord, stringOf } from "@foldcast/adapter-kit";

/**
 * The prompt of a turn that nobody typed. Kimi Code wraps news in `<notification id="…" type="…">…</notification>`;
 * without that, the origin's own kind names it.
 */
export function noticeOf(text: string, origin: JsonRecord): Notice {
  const open = /^\s*<([a-z][a-z0-9-]*)((?:\s+[\w-]+="[^"]*")*)\s*>/.exec(text);
  const kind = stringOf(origin["kind"]) ?? "notice";
  const status = stringOf(origin["status"]);
  const failed = status === "failed" || status === "lost" || status === "killed" || status === "timed_out";
  if (open === null) return { name: kind, input: without(origin, "kind"), text: text.trim(), failed };
  const [whole, name = kind, attributes = ""] = open;
  const input: Record<string, string> = {};
  for (const [, key, value] of attributes.matchAll(/([\w-]+)="([^"]*)"/g)) input[key!] = unescapeEntities(value!);
  const end = text.lastIndexOf(`</${name}>`);
  const body = text.slice(whole.length, end < whole.length ? undefined : end);
  return { name, input, text: unescapeEntities(body).trim(), failed };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: "\"", apos: "'", "#39": "'" };

function unescapeEntities(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

function without(record: JsonRecord, member: string): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== member));
}
