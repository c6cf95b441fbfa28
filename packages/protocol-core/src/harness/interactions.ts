import type { JsonValue } from "../wire/index.ts";
import type { FileEdit } from "./items.ts";

export interface QuestionSpec {
  id: string;
  header?: string | null;
  question: string;
  multiSelect?: boolean;
  allowOther?: boolean;
  options: readonly { label: string; description?: string | null }[];
}

/** What a harness asks to be allowed beyond its sandbox; absent = not asked for. Paths are absolute. */
export interface PermissionProfile {
  network?: boolean;
  read?: readonly string[];
  write?: readonly string[];
}

/**
 * One property of an elicitation's form, with the members of MCP 2025-11-25: text, number, yes or no, one choice or
 * several. Forms are flat: nothing nests.
 */
export type ElicitationProperty = { title?: string | null; description?: string | null } & (
  | { type: "string"; minLength?: number | null; maxLength?: number | null; format?: "email" | "uri" | "date" | "date-time" | null; default?: string | null }
  | { type: "number" | "integer"; minimum?: number | null; maximum?: number | null; default?: number | null }
  | { type: "boolean"; default?: boolean | null }
  | { type: "string"; enum: readonly string[]; enumNames?: readonly string[] | null; default?: string | null }
  | { type: "string"; oneOf: readonly TitledValue[]; default?: string | null }
  | { type: "array"; items: { type: "string"; enum: readonly string[] } | { anyOf: readonly TitledValue[] }; minItems?: number | null; maxItems?: number | null; default?: readonly string[] | null }
);
export interface TitledValue {
  const: string;
  title: string;
}

/** What a form asks for, in the order in which it is shown. `readElicitationSchema` makes one of an MCP server's own. */
export interface ElicitationSchema {
  properties: Readonly<Record<string, ElicitationProperty>>;
  required?: readonly string[];
}
export type ElicitationContent = Readonly<Record<string, string | number | boolean | readonly string[]>>;

type Elicitation = { id: string; kind: "elicitation"; itemId?: string; /** Name of the MCP server that asks. */ server: string; message: string; meta?: JsonValue } & (
  | { mode: "form"; schema: ElicitationSchema }
  /** The person is to open a page; `accept` means that they agreed, not that they are done there. */
  | { mode: "url"; url: string; elicitationId: string }
);

/**
 * What an agent waits for. `offers` is exactly what the harness accepts as an answer; nothing else is shown. A
 * `quickReply` is the exception: nobody waits for it, it is never answered, and what a person chooses is the next input.
 */
export type InteractionRequest =
  | {
      id: string;
      kind: "approval";
      about: "command" | "fileChange" | "permissions" | "tool";
      itemId?: string;
      title?: string | null;
      reason?: string | null;
      command?: string | null;
      cwd?: string | null;
      edits?: readonly FileEdit[];
      /** With `about: "permissions"`: what is asked for, where the harness says so. */
      permissions?: PermissionProfile;
      offers: readonly ("accept" | "acceptForSession" | "decline" | "cancel")[];
    }
  | { id: string; kind: "question"; itemId?: string; questions: readonly QuestionSpec[] }
  | Elicitation
  | { id: string; kind: "quickReply"; itemId?: string; text: string; replies: readonly { label: string; /** What is sent; the label by default. */ value?: string }[] };

/** All that an agent waits for. */
export type AgentRequest = Exclude<InteractionRequest, { kind: "quickReply" }>;

export type InteractionClosedReason = "answered" | "cancelled" | "expired" | "superseded";

/**
 * `text` on a decline reaches the harness as its deny message where it can take one; where its manifest says
 * `denyText: false`, the host leaves it out and sends it as input after the answer.
 */
export type InteractionAnswer =
  | { kind: "approval"; decision: "accept" | "acceptForSession" | "decline" | "cancel"; text?: string }
  /** Question id → the chosen labels or free text. An empty record = skipped. */
  | { kind: "question"; answers: Readonly<Record<string, readonly string[]>> }
  /** `content` with `accept` of a form only. `cancel` = nobody decided. */
  | { kind: "elicitation"; action: "accept" | "decline" | "cancel"; content?: ElicitationContent };
