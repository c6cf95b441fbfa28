import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import type { Thread, ThreadStatus, Turn, UserInput } from "@foldcast/protocol-core/wire";
import type { ThreadRecord } from "../store/store.ts";
import { MODEL_PROVIDER } from "./settings.ts";

const seconds = (ms: number): number => Math.floor(ms / 1000);
const PREVIEW_LENGTH = 200;

/** A thread as clients see it. `status` null = not loaded. */
export function toWireThread(record: ThreadRecord, status: ThreadStatus | null): Thread {
  return {
    id: record.id,
    environments: null,
    extra: null,
    sessionId: record.id,
    forkedFromId: record.forkedFromId,
    attachedToThreadId: null,
    parentThreadId: null,
    preview: record.preview,
    ephemeral: record.ephemeral,
    section: record.section === null ? null : { id: record.section.id, name: record.section.name, appearance: record.section.appearance },
    sectionEnteredAt: record.section === null ? null : seconds(record.section.enteredAt),
    projectId: null,
    historyMode: "paginated",
    modelProvider: MODEL_PROVIDER,
    model: record.model,
    reasoningEffort: record.effort,
    createdAt: seconds(record.createdAt),
    updatedAt: seconds(record.updatedAt),
    recencyAt: seconds(record.recencyAt),
    status: status ?? { type: "notLoaded" },
    path: record.file,
    cwd: record.cwd,
    cliVersion: PROTOCOL_VERSION,
    originator: record.originator,
    // What stock clients list by default; they have no word for a thread of another program.
    source: "vscode",
    canAcceptDirectInput: status === null ? null : true,
    threadSource: record.threadSource,
    agentNickname: null,
    agentRole: null,
    gitInfo: record.gitInfo,
    name: record.name,
    daybreakEnabled: null,
    turns: [],
  };
}

/** First words of a prompt, for lists. */
export function previewOf(input: readonly UserInput[]): string {
  const text = input.map((part) => (part.type === "text" ? part.text : "")).join(" ").trim();
  return text.length > PREVIEW_LENGTH ? `${text.slice(0, PREVIEW_LENGTH)}…` : text;
}

/** A turn that was accepted and has not begun: the answer to `turn/start`. */
export function acceptedTurn(id: string): Turn {
  return { id, rootTurnId: id, items: [], itemsView: "notLoaded", status: "inProgress", error: null, startedAt: null, completedAt: null, durationMs: null };
}
