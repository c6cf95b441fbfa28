import type { HarnessEvent, ItemOutcome } from "@foldcast/protocol-core/harness";
import { isNotice, tagged } from "./user-content.ts";

/**
 * News that reached the agent and not from the person: a task in the background ended, another agent wrote. It becomes
 * a generic call with the harness's own name for it, so that a reader sees what set the agent to work. `source`: whom
 * the line names as its origin.
 */
export function noticeEvents(id: string, text: string, source: string | null, at: number | null): HarnessEvent[] {
  const name = (isNotice(text) ? /^\s*<([a-z-]+)/.exec(text)?.[1] : source) ?? "notice";
  const body = name === "task-notification" ? taskNotification(text) : teammateMessage(text, name);
  return [
    { type: "item.started", item: { kind: "tool", id, name, input: body.input }, at },
    { type: "item.completed", itemId: id, outcome: body.outcome, ...(body.output === null ? {} : { result: { output: body.output } }), at },
  ];
}

interface Notice {
  input: Readonly<Record<string, string>>;
  output: string | null;
  outcome: ItemOutcome;
}

const TASK_TAGS = ["task-id", "tool-use-id", "output-file", "status", "summary", "event"] as const;

function taskNotification(text: string): Notice {
  const start = text.indexOf("<result>");
  const end = text.lastIndexOf("</result>");
  const head = start === -1 ? text : text.slice(0, start);
  const input: Record<string, string> = {};
  for (const tag of TASK_TAGS) {
    const value = tagged(head, tag);
    // The harness escapes what it puts between its tags, once.
    if (value !== null) input[tag] = unescapeEntities(value);
  }
  const status = input["status"];
  return {
    input,
    output: start === -1 || end < start ? null : text.slice(start + "<result>".length, end).trim(),
    outcome: status === "failed" ? { status: "failed" } : status === "killed" || status === "stopped" ? { status: "cancelled" } : { status: "succeeded" },
  };
}

function teammateMessage(text: string, name: string): Notice {
  const open = /^\s*<[a-z-]+([^>]*)>/.exec(text);
  const input: Record<string, string> = {};
  for (const [, key, value] of (open?.[1] ?? "").matchAll(/(?<![\w-])([\w-]+)="([^"]*)"/g)) input[key!] = unescapeEntities(value!);
  const from = open?.[0].length ?? 0;
  const end = text.lastIndexOf(`</${name}>`);
  return { input, output: text.slice(from, end < from ? undefined : end).trim(), outcome: { status: "succeeded" } };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: "\"", apos: "'", "#39": "'" };

function unescapeEntities(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
