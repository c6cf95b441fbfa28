import { z } from "zod";
import { flag, i64, list, map, oneOf, page, path, struct, text, thread, u32 } from "./param-types.ts";

export * from "./list-params.ts";

/**
 * Parameters of the requests of Codex 0.171 that foldcast answers. Unknown members are kept and ignored, as the real
 * server ignores them. Every `error` is what the real server says it expected at that place (`a string`,
 * `struct ClientInfo`); the host builds its message from it.
 */

const sortDirection = oneOf(["asc", "desc"]).nullish();

/** `capabilities.extensions.foldcast`: what a client asks of foldcast beyond Codex's own protocol. */
export const FoldcastExtension = z.looseObject({
  /** Adds the namespaced `foldcast` member, the tool call in the harness's own words, to every item. */
  detail: z.boolean().nullish(),
  /** Announces that the client understands channel-neutral interactions. */
  interaction: z.boolean().nullish(),
  /**
   * The client is a channel and speaks for people: its name, and who of them may answer besides the one who started the
   * turn. Nothing that it sends counts as the operator's own answer.
   */
  channel: z.looseObject({ name: z.string().min(1), approvers: z.array(z.string()).nullish() }).nullish(),
});

const sender = z.looseObject({ channel: text, chatId: text, senderId: text }, { error: "struct Sender" });
/** Of `turn/start` and `turn/steer`: the person for whom a channel sends the input. */
const foldcastInput = struct("FoldcastInput", { sender: sender.nullish() }).nullish();

export const InitializeParams = struct("InitializeParams", {
  clientInfo: struct("ClientInfo", { name: text, title: text.nullish(), version: text }),
  capabilities: struct("InitializeCapabilities", {
    experimentalApi: flag.optional(),
    requestAttestation: flag.optional(),
    requiredHumanApproval: flag.optional(),
    mcpServerOpenaiFormElicitation: flag.optional(),
    optOutNotificationMethods: list(text).nullish(),
    extensions: map.nullish(),
  }).nullish(),
});

const imageDetail = oneOf(["auto", "low", "high", "original"]).nullish();
export const UserInputParam = z.discriminatedUnion("type", [
  struct("Text", { type: z.literal("text"), text, text_elements: list(struct("TextElement", {})).optional() }),
  struct("Image", { type: z.literal("image"), url: z.string({ error: "untagged enum ImageReference" }), detail: imageDetail }),
  struct("LocalImage", { type: z.literal("localImage"), path, detail: imageDetail }),
  struct("Audio", { type: z.literal("audio") }),
  struct("LocalAudio", { type: z.literal("localAudio") }),
  struct("Skill", { type: z.literal("skill"), name: text, path }),
  struct("Mention", { type: z.literal("mention"), name: text, path: text }),
], { error: "internally tagged enum UserInput" });

const approvalPolicy = z
  .union([oneOf(["untrusted", "on-request", "granular", "never"]), z.looseObject({ granular: z.unknown() })], { error: "string or map" })
  .nullish();
const reviewer = oneOf(["user", "auto_review", "guardian_subagent"]).nullish();
const sandboxMode = oneOf(["read-only", "workspace-write", "danger-full-access"]).nullish();
const sandboxPolicy = z.discriminatedUnion("type", [
  struct("DangerFullAccess", { type: z.literal("dangerFullAccess") }),
  struct("ReadOnly", { type: z.literal("readOnly") }),
  struct("ExternalSandbox", { type: z.literal("externalSandbox") }),
  struct("WorkspaceWrite", { type: z.literal("workspaceWrite") }),
], { error: "internally tagged enum SandboxPolicyDeserialize" }).nullish();
const effort = text.refine((name) => name !== "", { error: "reasoning_effort must not be empty" }).nullish();
const collaborationMode = struct("CollaborationMode", {
  mode: oneOf(["plan", "code", "custom", "default", "execute", "pair_programming"]),
  settings: struct("Settings", { model: text, reasoning_effort: effort, developer_instructions: text.nullish() }),
}).nullish();
const personality = oneOf(["none", "friendly", "pragmatic"]).nullish();
const multiAgentMode = z
  .union([oneOf(["none", "custom", "explicitRequestOnly", "proactive"]), z.looseObject({ custom: z.unknown() })], { error: "string or map" })
  .nullish();
const environments = list(struct("TurnEnvironmentParams", {})).nullish();
const summary = oneOf(["auto", "concise", "detailed", "none"]).nullish();
const itemsView = oneOf(["notLoaded", "summary", "full"]).nullish();

/** Settings of a thread that several requests can change; a member that is null or absent stays as it is. */
const threadSettings = {
  cwd: path.nullish(),
  approvalPolicy,
  approvalsReviewer: reviewer,
  sandboxPolicy,
  permissions: text.nullish(),
  model: text.nullish(),
  serviceTier: text.nullish(),
  effort,
  summary,
  collaborationMode,
  personality,
  disabledPluginIds: list(text).nullish(),
  environments,
  multiAgentMode,
};
const threadOpening = {
  cwd: text.nullish(),
  model: text.nullish(),
  modelProvider: text.nullish(),
  serviceTier: text.nullish(),
  approvalPolicy,
  approvalsReviewer: reviewer,
  sandbox: sandboxMode,
  permissions: text.nullish(),
  config: map.nullish(),
  baseInstructions: text.nullish(),
  developerInstructions: text.nullish(),
  runtimeWorkspaceRoots: list(path).nullish(),
};

export const ThreadStartParams = struct("ThreadStartParams", {
  ...threadOpening,
  ephemeral: flag.nullish(),
  historyMode: oneOf(["legacy", "paginated"]).nullish(),
  threadSource: text.nullish(),
  projectId: text.nullish(),
  personality,
  allowProviderModelFallback: flag.optional(),
  daybreakEnabled: flag.nullish(),
  dynamicTools: list(z.unknown()).nullish(),
  environments,
  experimentalRawEvents: flag.optional(),
  mockExperimentalField: text.nullish(),
  multiAgentMode,
  selectedCapabilityRoots: list(struct("SelectedCapabilityRoot", {})).nullish(),
  serviceName: text.nullish(),
  sessionStartSource: oneOf(["startup", "clear"]).nullish(),
});
export const ThreadResumeParams = struct("ThreadResumeParams", {
  ...thread,
  ...threadOpening,
  personality,
  history: list(z.unknown()).nullish(),
  path: path.nullish(),
  excludeTurns: flag.optional(),
  initialTurnsPage: struct("ThreadResumeInitialTurnsPageParams", { limit: u32.nullish(), sortDirection, itemsView }).nullish(),
});
export const ThreadForkParams = struct("ThreadForkParams", {
  ...thread,
  ...threadOpening,
  lastTurnId: text.nullish(),
  beforeTurnId: text.nullish(),
  ephemeral: flag.optional(),
  threadSource: text.nullish(),
  excludeTurns: flag.optional(),
  path: path.nullish(),
  attachToSource: flag.optional(),
  deferGoalContinuation: flag.optional(),
  experimentalDisablePredictionMcp: flag.optional(),
  experimentalPredictionMode: flag.optional(),
});
export const ThreadRevertParams = struct("ThreadRevertParams", { ...thread, beforeTurnId: text });
export const ThreadRollbackParams = struct("ThreadRollbackParams", { ...thread, numTurns: u32 });
export const ThreadItemsReadParams = struct("ThreadItemsReadParams", { ...thread, turnId: text, itemIds: list(text) });
/** For requests that name a thread and nothing else; `name` is the real server's for their parameters. */
export const threadIdParams = (name: string) => struct(name, thread);
export const ThreadReadParams = struct("ThreadReadParams", { ...thread, includeTurns: flag.optional() });
const sourceKinds = list(oneOf([
  "cli", "vscode", "exec", "appServer", "subAgent", "subAgentReview", "subAgentCompact", "subAgentThreadSpawn", "subAgentOther", "unknown",
]));
export const ThreadListParams = struct("ThreadListParams", {
  ...page,
  includedThreadIds: list(text).nullish(),
  excludedThreadIds: list(text).nullish(),
  sortKey: oneOf(["created_at", "updated_at", "recency_at", "section_position"]).nullish(),
  sortDirection,
  modelProviders: list(text).nullish(),
  sourceKinds: sourceKinds.nullish(),
  originators: list(text).nullish(),
  archived: flag.nullish(),
  sectionId: text.nullish(),
  projectId: text.nullish(),
  cwd: z.union([z.string(), z.array(z.string())], { error: "untagged enum ThreadListCwdFilter" }).nullish(),
  searchTerm: text.nullish(),
  parentThreadId: text.nullish(),
  ancestorThreadId: text.nullish(),
  attachedToThreadId: text.nullish(),
  useStateDbOnly: flag.optional(),
  includeAttachedThreads: flag.optional(),
  currentAccountOnly: flag.optional(),
});
export const ThreadTurnsListParams = struct("ThreadTurnsListParams", { ...thread, ...page, sortDirection, itemsView });
export const ThreadItemsListParams = struct("ThreadItemsListParams", {
  ...thread,
  turnId: text.nullish(),
  cursor: z.union([z.string(), z.looseObject({ type: z.string() })], { error: "untagged enum ThreadItemsListCursor" }).nullish(),
  limit: u32.nullish(),
  sortDirection,
  deferOutput: struct("ThreadItemOutputDeferral", { commandExecution: flag.optional(), mcpToolCall: flag.optional() }).nullish(),
});
export const ThreadSearchParams = struct("ThreadSearchParams", {
  ...page,
  sortKey: oneOf(["created_at", "updated_at", "recency_at"]).nullish(),
  sortDirection,
  sourceKinds: sourceKinds.nullish(),
  archived: flag.nullish(),
  searchTerm: text,
  includeAttachedThreads: flag.optional(),
  currentAccountOnly: flag.optional(),
});
export const ThreadSearchOccurrencesParams = struct("ThreadSearchOccurrencesParams", { ...thread, ...page, searchTerm: text });
export const ThreadSearchCancelParams = struct("ThreadSearchCancelParams", { requestId: z.union([z.string(), z.int()], { error: "untagged enum RequestId" }) });
const texts = z.record(z.string(), text, { error: "a map" });
const entries = z.record(z.string(), struct("AdditionalContextEntry", {}), { error: "a map" });
const metadata = { responsesapiClientMetadata: map.nullish() };
export const ThreadQueueAddParams = struct("ThreadQueueAddParams", { ...thread, ...metadata, input: list(UserInputParam), clientUserMessageId: text });
export const ThreadQueueListParams = struct("ThreadQueueListParams", { ...thread, ...page });
export const ThreadQueueUpdateParams = struct("ThreadQueueUpdateParams", { ...thread, ...metadata, queuedSubmissionId: text, input: list(UserInputParam) });
export const ThreadQueueDeleteParams = struct("ThreadQueueDeleteParams", { ...thread, queuedSubmissionId: text });
export const ThreadQueueReorderParams = struct("ThreadQueueReorderParams", { ...thread, queuedSubmissionIds: list(text) });
export const ThreadQueueStartParams = struct("ThreadQueueStartParams", { ...thread, queuedSubmissionId: text.nullish() });
const appearance = struct("ThreadSectionAppearance", { icon: text.nullish(), color: text.nullish() }).nullish();
export const ThreadSectionCreateParams = struct("ThreadSectionCreateParams", { name: text, appearance });
export const ThreadSectionUpdateParams = struct("ThreadSectionUpdateParams", { sectionId: text, name: text, appearance });
export const ThreadSectionDeleteParams = struct("ThreadSectionDeleteParams", { sectionId: text });
export const ThreadSectionMoveParams = struct("ThreadSectionMoveParams", { ...thread, sectionId: text.nullable(), beforeThreadId: text.nullish() });
export const ThreadShellCommandParams = struct("ThreadShellCommandParams", { ...thread, command: text, timeoutMs: i64.nullish() });
export const ThreadNameSetParams = struct("ThreadSetNameParams", { ...thread, name: text });
export const ThreadMetadataUpdateParams = struct("ThreadMetadataUpdateParams", {
  ...thread,
  projectId: text.nullish(),
  gitInfo: struct("ThreadMetadataGitInfoUpdateParams", { sha: text.nullish(), branch: text.nullish(), originUrl: text.nullish() }).nullish(),
  daybreakEnabled: flag.nullish(),
});
export const ThreadSettingsUpdateParams = struct("ThreadSettingsUpdateParams", { ...thread, ...threadSettings });
export const ThreadReadStateUpdateParams = struct("ThreadReadStateUpdateParams", {
  ...thread,
  operation: z.discriminatedUnion("type", [struct("Read", { type: z.literal("read") }), struct("Unread", { type: z.literal("unread") })], {
    error: "internally tagged enum ThreadReadStateOperation",
  }),
  expectedRevision: text,
});

const besideInput = { additionalContext: entries.nullish(), responsesapiClientMetadata: texts.nullish(), responsesapiClientMetadataPatch: texts.nullish() };
export const TurnStartParams = struct("TurnStartParams", {
  ...thread,
  ...threadSettings,
  ...besideInput,
  clientUserMessageId: text.nullish(),
  input: list(UserInputParam),
  outputSchema: z.unknown().optional(),
  cyberAccessProgram: oneOf(["standard", "daybreakBlue", "daybreakRed"]).nullish(),
  parentTurnId: text.nullish(),
  rootTurnId: text.nullish(),
  runtimeWorkspaceRoots: list(path).nullish(),
  serviceTierForTurn: text.nullish(),
  toolOutput: struct("TurnToolOutput", { name: text, output: z.unknown() }).nullish(),
  turnTrigger: text.nullish(),
  foldcast: foldcastInput,
});
export const TurnSteerParams = struct("TurnSteerParams", {
  ...thread,
  ...besideInput,
  clientUserMessageId: text.nullish(),
  input: list(UserInputParam),
  expectedTurnId: text,
  foldcast: foldcastInput,
});
export const TurnInterruptParams = struct("TurnInterruptParams", { ...thread, turnId: text });

/** An `InteractionEvent`. Without channel, chat and sender it is the operator's. Times in Unix milliseconds. */
export const InteractionAnswerParams = struct("InteractionAnswerParams", {
  interactionId: text,
  actionId: text.nullish(),
  actionValue: text,
  channel: text.nullish(),
  chatId: text.nullish(),
  senderId: text.nullish(),
  timestamp: z.number({ error: "a number" }).nullish(),
  metadata: z.record(z.string(), text, { error: "a map" }).nullish(),
});
const offered = struct("InteractionAction", { id: text.nullish(), label: text, value: text, style: oneOf(["default", "primary", "danger"]).nullish() });
export const InteractionOfferParams = struct("InteractionOfferParams", {
  ...thread,
  kind: oneOf(["quickReply", "command"]),
  title: text.nullish(),
  body: text,
  actions: z.array(offered, { error: "a sequence" }).min(1, { error: "a sequence of one to twenty" }).max(20, { error: "a sequence of one to twenty" }),
  expiresInMs: u32.nullish(),
});

type Of<T extends z.ZodType> = z.infer<T>;
export type InitializeParams = Of<typeof InitializeParams>;
export type UserInputParam = Of<typeof UserInputParam>;
export type ThreadStartParams = Of<typeof ThreadStartParams>;
export type ThreadResumeParams = Of<typeof ThreadResumeParams>;
export type ThreadForkParams = Of<typeof ThreadForkParams>;
export type ThreadListParams = Of<typeof ThreadListParams>;
export type ThreadTurnsListParams = Of<typeof ThreadTurnsListParams>;
export type ThreadSearchParams = Of<typeof ThreadSearchParams>;
export type ThreadItemsListParams = Of<typeof ThreadItemsListParams>;
export type ThreadSettingsUpdateParams = Of<typeof ThreadSettingsUpdateParams>;
export type TurnStartParams = Of<typeof TurnStartParams>;
