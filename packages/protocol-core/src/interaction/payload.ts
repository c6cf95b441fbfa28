import type { InteractionRequest } from "../harness/index.ts";
import type { InteractionAction, InteractionField, InteractionPayload, Locale } from "./model.ts";

type Approval = Extract<InteractionRequest, { kind: "approval" }>;

const WORDS: Record<Locale, Record<"approve" | "deny" | "always" | "command" | "folder" | "reason" | "files", string>> = {
  en: { approve: "Approve", deny: "Deny", always: "Always approve", command: "Command", folder: "Folder", reason: "Reason", files: "Files" },
  zh: { approve: "批准", deny: "拒绝", always: "总是批准", command: "命令", folder: "目录", reason: "原因", files: "文件" },
};

/**
 * What an agent asks, for any channel: an approval as its actions, a question as a form. Only what the harness offers
 * is listed. `expiresAt` in Unix milliseconds.
 */
export function payloadOf(request: InteractionRequest, interactionId: string, expiresAt: number | null, locale: Locale = "en"): InteractionPayload {
  if (request.kind === "approval") {
    return { interactionId, kind: "approval", title: request.title ?? null, body: approvalBody(request, locale), actions: approvalActions(request, locale), fields: [], expiresAt };
  }
  const fields = request.questions.map((question): InteractionField => ({
    id: question.id,
    label: question.question,
    options: question.options.map(({ label }) => ({ label, value: label })),
    multiple: question.multiSelect ?? false,
    freeText: question.allowOther ?? question.options.length === 0,
  }));
  return { interactionId, kind: "formSubmit", title: request.questions.find(({ header }) => header != null && header !== "")?.header ?? null, body: "", actions: [], fields, expiresAt };
}

function approvalBody(request: Approval, locale: Locale): string {
  const words = WORDS[locale];
  const paths = (request.edits ?? []).map(({ path, movePath }) => (movePath == null ? path : `${path} → ${movePath}`));
  const lines: [string, string | null | undefined][] = [
    [words.command, request.command],
    [words.files, paths.length === 0 ? null : paths.join(", ")],
    [words.folder, request.cwd],
    [words.reason, request.reason],
  ];
  return lines.flatMap(([word, value]) => (value == null || value === "" ? [] : [`${word}: ${value}`])).join("\n");
}

function approvalActions({ offers }: Approval, locale: Locale): InteractionAction[] {
  const words = WORDS[locale];
  const actions: InteractionAction[] = [];
  if (offers.includes("accept")) actions.push({ id: "approve", label: words.approve, value: "approve", style: "primary" });
  if (offers.includes("decline") || offers.includes("cancel")) actions.push({ id: "deny", label: words.deny, value: "deny", style: "danger" });
  if (offers.includes("acceptForSession")) actions.push({ id: "always", label: words.always, value: "always", style: "default" });
  return actions;
}
