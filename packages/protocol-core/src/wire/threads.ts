import type { JsonValue } from "./json.ts";
import type { Turn } from "./turns.ts";

export type ThreadStatus =
  | { type: "notLoaded" } | { type: "idle" } | { type: "systemError" }
  | { type: "active"; activeFlags: ("waitingOnApproval" | "waitingOnUserInput")[] };

/** Times in Unix seconds. Members as in Codex 0.171; those that foldcast never fills are `null` by type. */
export interface Thread {
  id: string;
  environments: null;
  extra: null;
  sessionId: string;
  forkedFromId: string | null;
  attachedToThreadId: null;
  parentThreadId: string | null;
  preview: string;
  ephemeral: boolean;
  section: JsonValue;
  sectionEnteredAt: number | null;
  projectId: string | null;
  historyMode: "legacy" | "paginated";
  modelProvider: string;
  model: string | null;
  reasoningEffort: string | null;
  createdAt: number;
  updatedAt: number;
  recencyAt: number | null;
  status: ThreadStatus;
  path: string | null;
  cwd: string;
  cliVersion: string;
  originator: string | null;
  source: "cli" | "vscode" | "exec" | "appServer" | "unknown" | { subAgent: JsonValue };
  canAcceptDirectInput: boolean | null;
  threadSource: string | null;
  agentNickname: string | null;
  agentRole: string | null;
  gitInfo: JsonValue;
  name: string | null;
  daybreakEnabled: boolean | null;
  turns: Turn[];
}

export interface Model {
  id: string;
  model: string;
  upgrade: null;
  upgradeInfo: null;
  availabilityNux: null;
  displayName: string;
  description: string;
  modelSpecialty: null;
  hidden: boolean;
  supportedReasoningEfforts: { reasoningEffort: string; description: string }[];
  defaultReasoningEffort: string;
  inputModalities: ("text" | "image" | "audio")[];
  supportsPersonality: boolean;
  multiAgentVersion: null;
  additionalSpeedTiers: string[];
  serviceTiers: JsonValue[];
  defaultServiceTier: string | null;
  availableAccessPrograms: null;
  isDefault: boolean;
}
