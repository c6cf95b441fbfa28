import type { AgentRequest, PermissionProfile, QuestionSpec } from "../harness/index.ts";
import { isJsonObject } from "../wire/index.ts";
import type { ApprovalDecision, JsonValue, PermissionsApprovalParams, ServerRequest, ThreadItem, UserInputQuestion } from "../wire/index.ts";
import { changesOf, describeChanges } from "./changes.ts";
import { readElicitationSchema, toRequestedSchema } from "./elicitation.ts";

/** Where an interaction came up. `item` is the one that it is about, as clients have it; null = it concerns none of them. */
export interface InteractionPlace {
  threadId: string;
  turnId: string;
  item: ThreadItem | null;
  cwd: string;
  /** Unix milliseconds. */
  startedAt: number;
}

/** The one question of an approval that the protocol has no request for, and its options. */
export const APPROVAL_QUESTION = "approval";
export const APPROVAL_OPTIONS: readonly { label: string; description: string; decision: ApprovalDecision }[] = [
  { label: "Approve", description: "Once", decision: "accept" },
  { label: "Always approve", description: "For this session", decision: "acceptForSession" },
  { label: "Deny", description: "The agent goes on without it", decision: "decline" },
];

/**
 * The request as clients get it (Codex 0.171 shapes). An approval that is neither of a command nor of a file change on
 * the screen is put as a question: the protocol knows no other form that every client draws and answers. `id` stands
 * in for the item where there is none, since clients refuse a request without one.
 */
export function toServerRequest(request: AgentRequest, { threadId, turnId, item, cwd, startedAt }: InteractionPlace, id: string): ServerRequest {
  const base = { threadId, turnId, itemId: item?.id ?? id };
  if (request.kind === "elicitation") {
    const asked = { threadId, turnId, serverName: request.server, message: request.message, _meta: request.meta ?? null };
    if (request.mode === "url") return { method: "mcpServer/elicitation/request", params: { ...asked, mode: "url", url: request.url, elicitationId: request.elicitationId } };
    return { method: "mcpServer/elicitation/request", params: { ...asked, mode: "form", requestedSchema: toRequestedSchema(request.schema) } };
  }
  if (request.kind === "question") return { method: "item/tool/requestUserInput", params: { ...base, questions: request.questions.map(toQuestion), isBlocking: true, autoResolutionMs: null } };
  const reason = request.reason ?? request.title ?? null;
  const approval = { ...base, startedAtMs: startedAt, reason };
  const command = item?.type === "commandExecution" ? item : null;
  if (request.about === "command") {
    return {
      method: "item/commandExecution/requestApproval",
      params: {
        kind: "command", ...approval, environmentId: null, command: command?.command ?? request.command ?? null, cwd: request.cwd ?? command?.cwd ?? cwd,
        commandActions: command?.commandActions ?? null, availableDecisions: [...request.offers],
      },
    };
  }
  if (request.about === "fileChange" && item?.type === "fileChange") return { method: "item/fileChange/requestApproval", params: { ...approval, grantRoot: null } };
  if (request.about === "permissions") {
    const permissions = toWirePermissions(request.permissions ?? { write: request.edits?.map(({ path }) => path) ?? [] });
    return { method: "item/permissions/requestApproval", params: { ...approval, environmentId: null, cwd: request.cwd ?? cwd, permissions } };
  }
  const told = [request.title, request.command, request.reason, describeChanges(changesOf(request, item), "en")].filter((part) => part != null && part !== "");
  const question: UserInputQuestion = {
    id: APPROVAL_QUESTION, header: "Approval", question: told.length === 0 ? "May the agent go on with this?" : told.join("\n"), isOther: true, isSecret: false,
    options: APPROVAL_OPTIONS.filter(({ decision }) => request.offers.includes(decision) || (decision === "decline" && request.offers.includes("cancel")))
      .map(({ label, description }) => ({ label, description })),
  };
  return { method: "item/tool/requestUserInput", params: { ...base, questions: [question], isBlocking: true, autoResolutionMs: null } };
}

/**
 * The wire's form of what is asked for. A harness that says no more than its reason: an empty profile would make a grant
 * and a refusal the same answer, so that it names the network and claims nothing of it.
 */
export function toWirePermissions({ network, read, write }: PermissionProfile): PermissionsApprovalParams["permissions"] {
  const files = (read?.length ?? 0) + (write?.length ?? 0) > 0;
  return {
    network: network === true ? { enabled: true } : files ? null : { enabled: null },
    fileSystem: files ? { read: read === undefined || read.length === 0 ? null : [...read], write: write === undefined || write.length === 0 ? null : [...write] } : null,
  };
}

function toQuestion({ id, header, question, allowOther, options }: QuestionSpec): UserInputQuestion {
  return {
    id, header: header ?? "", question, isOther: allowOther ?? options.length === 0, isSecret: false,
    options: options.length === 0 ? null : options.map(({ label, description }) => ({ label, description: description ?? "" })),
  };
}

const DECISIONS: readonly ApprovalDecision[] = ["accept", "acceptForSession", "decline", "cancel"];

/** What a server asks of a client, native Codex's own requests included; null for requests of another kind. */
export function fromServerRequest(method: string, params: unknown, item: ThreadItem | null): AgentRequest | null {
  if (!isJsonObject(params)) return null;
  const text = (name: string): string | null => (typeof params[name] === "string" ? params[name] : null);
  const base = { id: text("itemId") ?? "", reason: text("reason") };
  switch (method) {
    case "item/commandExecution/requestApproval": {
      const listed = params["availableDecisions"];
      const offers = Array.isArray(listed) ? DECISIONS.filter((decision) => listed.includes(decision)) : DECISIONS;
      const command = text("command") ?? (item?.type === "commandExecution" ? item.command : null);
      return { ...base, kind: "approval", about: "command", command, cwd: text("cwd"), offers };
    }
    case "item/fileChange/requestApproval": {
      const edits = item?.type === "fileChange" ? item.changes.map(({ path }) => ({ path })) : [];
      return { ...base, kind: "approval", about: "fileChange", edits, offers: DECISIONS };
    }
    case "item/permissions/requestApproval":
      return { ...base, kind: "approval", about: "permissions", cwd: text("cwd"), permissions: fromWirePermissions(params["permissions"]), offers: ["accept", "acceptForSession", "decline"] };
    case "item/tool/requestUserInput": {
      const questions = Array.isArray(params["questions"]) ? params["questions"].filter(isJsonObject) : [];
      return { id: base.id, kind: "question", questions: questions.map(fromQuestion) };
    }
    case "mcpServer/elicitation/request": {
      const asked = { id: "", kind: "elicitation" as const, server: text("serverName") ?? "", message: text("message") ?? "", meta: (params["_meta"] ?? null) as JsonValue };
      if (params["mode"] === "url") return { ...asked, mode: "url", url: text("url") ?? "", elicitationId: text("elicitationId") ?? "" };
      const schema = params["mode"] === "form" ? readElicitationSchema(params["requestedSchema"]) : null;
      return schema === null ? null : { ...asked, mode: "form", schema };
    }
    default:
      return null;
  }
}

function fromWirePermissions(given: unknown): PermissionProfile {
  const { network, fileSystem } = isJsonObject(given) ? given : {};
  const { read, write, entries } = isJsonObject(fileSystem) ? fileSystem : {};
  const paths = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);
  const listed = (Array.isArray(entries) ? entries : []).flatMap((entry: unknown): { access: unknown; path: string }[] => {
    const path = isJsonObject(entry) && isJsonObject(entry["path"]) ? (entry["path"]["path"] ?? entry["path"]["pattern"]) : undefined;
    return typeof path === "string" && isJsonObject(entry) ? [{ access: entry["access"], path }] : [];
  });
  const of = (access: string): string[] => listed.filter((entry) => entry.access === access).map(({ path }) => path);
  return {
    ...(isJsonObject(network) && network["enabled"] === true ? { network: true } : {}),
    read: [...paths(read), ...of("read")],
    write: [...paths(write), ...of("write")],
  };
}

function fromQuestion(question: Readonly<Record<string, unknown>>): QuestionSpec {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const options: unknown[] = Array.isArray(question["options"]) ? question["options"] : [];
  return {
    id: text(question["id"]), header: text(question["header"]), question: text(question["question"]), allowOther: question["isOther"] === true || options.length === 0,
    options: options.filter(isJsonObject).map((option) => ({ label: text(option["label"]), description: text(option["description"]) })),
  };
}
