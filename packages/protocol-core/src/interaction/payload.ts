import type { InteractionRequest } from "../harness/index.ts";
import type { FileUpdateChange } from "../wire/index.ts";
import { changesOf, describeChanges } from "./changes.ts";
import { fieldsOf } from "./elicitation.ts";
import type { InteractionAction, InteractionField, InteractionPayload, Locale } from "./model.ts";

type Approval = Extract<InteractionRequest, { kind: "approval" }>;
type Elicitation = Extract<InteractionRequest, { kind: "elicitation" }>;
type Word = "approve" | "deny" | "always" | "submit" | "command" | "folder" | "reason" | "files" | "network" | "read" | "write" | "address" | "asks";

const WORDS: Record<Locale, Record<Word, string>> = {
  en: {
    approve: "Approve", deny: "Deny", always: "Always approve", submit: "Submit", command: "Command", folder: "Folder", reason: "Reason", files: "Files",
    network: "Network access", read: "Read", write: "Write", address: "Page to open", asks: "Asked by",
  },
  zh: {
    approve: "批准", deny: "拒绝", always: "总是批准", submit: "提交", command: "命令", folder: "目录", reason: "原因", files: "文件",
    network: "网络访问", read: "读取", write: "写入", address: "要打开的页面", asks: "来自",
  },
};

export interface PayloadOptions {
  interactionId: string;
  /** Unix milliseconds; null = never. */
  expiresAt: number | null;
  locale?: Locale;
  /** The change that an approval is about, where it is on the screen already. */
  changes?: readonly FileUpdateChange[];
}

/**
 * What an agent asks, for any channel: an approval as its actions, a question or an elicitation as a form. Only what
 * the harness offers is listed.
 */
export function payloadOf(request: InteractionRequest, { interactionId, expiresAt, locale = "en", changes = changesOf(request, null) }: PayloadOptions): InteractionPayload {
  const base = { interactionId, expiresAt };
  switch (request.kind) {
    case "approval":
      return { ...base, kind: "approval", title: request.title ?? null, body: approvalBody(request, changes, locale), actions: approvalActions(request, locale), fields: [] };
    case "question":
      return { ...base, kind: "formSubmit", title: request.questions.find(({ header }) => header != null && header !== "")?.header ?? null, body: "", actions: [], fields: questionFields(request) };
    case "elicitation":
      return { ...base, ...elicitationForm(request, locale) };
    case "quickReply":
      return {
        ...base, kind: "quickReply", title: null, body: request.text, fields: [],
        actions: request.replies.map(({ label, value }, at): InteractionAction => ({ id: `reply-${at + 1}`, label, value: value ?? label, style: "default" })),
      };
  }
}

/** The facts of an approval, in the order in which its body has them. */
const FACTS: readonly Word[] = ["network", "command", "files", "folder", "read", "write", "reason"];

/**
 * An English payload with this module's own words in another language: labels of its actions, and of the facts with
 * which its body begins. What the agent said stays as it is; a line that is not certainly a fact is taken for that.
 */
export function payloadInLocale(payload: InteractionPayload, locale: Locale): InteractionPayload {
  const [from, to] = [WORDS.en, WORDS[locale]];
  const actions = payload.actions.map((action) => {
    const word = (["approve", "deny", "always", "submit"] as const).find((one) => action.id === one && action.label === from[one]);
    return word === undefined ? action : { ...action, label: to[word] };
  });
  if (payload.kind !== "approval") return { ...payload, actions };
  const lines = payload.body.split("\n");
  let next = 0;
  for (const [at, line] of lines.entries()) {
    const fact = FACTS.findIndex((word, index) => index >= next && (word === "network" ? line === from.network : line.startsWith(`${from[word]}: `)));
    if (fact === -1) break;
    next = fact + 1;
    lines[at] = to[FACTS[fact]!] + line.slice(from[FACTS[fact]!].length);
  }
  return { ...payload, actions, body: lines.join("\n") };
}

function approvalBody(request: Approval, changes: readonly FileUpdateChange[], locale: Locale): string {
  const words = WORDS[locale];
  const paths = (request.edits ?? []).map(({ path, movePath }) => (movePath == null ? path : `${path} → ${movePath}`));
  const { network, read, write } = request.permissions ?? {};
  const lines: [string, string | null | undefined][] = [
    [words.command, request.command],
    // With the diff below, the paths stand there.
    [words.files, paths.length === 0 || changes.length > 0 ? null : paths.join(", ")],
    [words.folder, request.cwd],
    [words.read, read?.join(", ")],
    [words.write, write?.join(", ")],
    [words.reason, request.reason],
  ];
  const facts = lines.flatMap(([word, value]) => (value == null || value === "" ? [] : [`${word}: ${value}`]));
  if (network === true) facts.unshift(words.network);
  return [facts.join("\n"), describeChanges(changes, locale)].filter((part) => part !== "").join("\n\n");
}

function approvalActions({ offers }: Approval, locale: Locale): InteractionAction[] {
  const words = WORDS[locale];
  const actions: InteractionAction[] = [];
  if (offers.includes("accept")) actions.push({ id: "approve", label: words.approve, value: "approve", style: "primary" });
  if (offers.includes("decline") || offers.includes("cancel")) actions.push({ id: "deny", label: words.deny, value: "deny", style: "danger" });
  if (offers.includes("acceptForSession")) actions.push({ id: "always", label: words.always, value: "always", style: "default" });
  return actions;
}

function questionFields({ questions }: Extract<InteractionRequest, { kind: "question" }>): InteractionField[] {
  return questions.map(({ id, question, options, multiSelect, allowOther }) => ({
    id, label: question, description: null, type: "text", options: options.map(({ label }) => ({ label, value: label })),
    multiple: multiSelect ?? false, freeText: allowOther ?? options.length === 0, required: true, default: null,
  }));
}

/** A form to fill in; without fields, and for a page to open, it is a yes or a no. */
function elicitationForm(request: Elicitation, locale: Locale): Omit<InteractionPayload, "interactionId" | "expiresAt"> {
  const words = WORDS[locale];
  const fields = request.mode === "form" ? fieldsOf(request.schema, locale) : [];
  const yes: InteractionAction = fields.length === 0
    ? { id: "approve", label: words.approve, value: "approve", style: "primary" }
    : { id: "submit", label: words.submit, value: "submit", style: "primary" };
  const body = [request.message, ...(request.mode === "url" ? [`${words.address}: ${request.url}`] : []), `${words.asks}: ${request.server}`].join("\n");
  return {
    kind: fields.length === 0 ? "approval" : "formSubmit", title: null, body, fields,
    actions: [yes, { id: "deny", label: words.deny, value: "deny", style: "danger" }],
  };
}
