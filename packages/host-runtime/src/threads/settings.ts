import { resolve } from "node:path";
import type { ThreadSettingsUpdateParams, ThreadStartParams } from "@foldcast/protocol-core/wire/params";

/** The one provider name of all threads that foldcast runs; `config/read` names it too, so that no client filters it away. */
export const MODEL_PROVIDER = "foldcast";

export type SandboxPolicy = Readonly<Record<string, unknown>> & { type: string };

/** What a client may set for a thread. Members as in Codex 0.171; `model` is an id of our catalogue. */
export interface ThreadSettings {
  cwd: string;
  model: string | null;
  effort: string | null;
  approvalPolicy: unknown;
  approvalsReviewer: string;
  sandboxPolicy: SandboxPolicy;
  permissions: string | null;
  serviceTier: string | null;
  summary: string | null;
  personality: string | null;
  mode: string;
  developerInstructions: string | null;
}

const WORKSPACE_WRITE: SandboxPolicy = { type: "workspaceWrite", writableRoots: [], networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false };
const READ_ONLY: SandboxPolicy = { type: "readOnly", networkAccess: false };
const FULL_ACCESS: SandboxPolicy = { type: "dangerFullAccess" };
const BY_MODE: Readonly<Record<string, SandboxPolicy>> = {
  "read-only": READ_ONLY, "workspace-write": WORKSPACE_WRITE, "danger-full-access": FULL_ACCESS,
};
const BY_PROFILE: Readonly<Record<string, SandboxPolicy>> = {
  ":read-only": READ_ONLY, ":workspace": WORKSPACE_WRITE, ":danger-full-access": FULL_ACCESS,
};

export function initialSettings(cwd: string): ThreadSettings {
  return {
    cwd, model: null, effort: null, approvalPolicy: "on-request", approvalsReviewer: "user", sandboxPolicy: WORKSPACE_WRITE, permissions: null,
    serviceTier: null, summary: "auto", personality: null, mode: "default", developerInstructions: null,
  };
}

/** Settings of `thread/start` and `thread/resume`; model and directory are the caller's to resolve. */
export function openingSettings(base: ThreadSettings, params: ThreadStartParams): ThreadSettings {
  const byMode = params.sandbox == null ? undefined : BY_MODE[params.sandbox];
  const merged = mergeSettings(base, { ...params, model: null, cwd: null });
  return byMode === undefined ? merged : { ...merged, sandboxPolicy: byMode };
}

type SettingsParams = Partial<ThreadSettingsUpdateParams>;

/** The model that a request names: Desktop puts it into `collaborationMode.settings` and leaves `model` null. */
export function requestedModel(params: SettingsParams): string | null {
  return params.collaborationMode?.settings.model ?? params.model ?? null;
}

/** The settings after a request; members that are null or absent stay. The model is taken as it is named. */
export function mergeSettings(base: ThreadSettings, params: SettingsParams): ThreadSettings {
  const collaboration = params.collaborationMode ?? null;
  const profile = params.permissions ?? null;
  return {
    cwd: params.cwd == null ? base.cwd : resolve(params.cwd),
    model: requestedModel(params) ?? base.model,
    effort: collaboration?.settings.reasoning_effort ?? params.effort ?? base.effort,
    approvalPolicy: params.approvalPolicy ?? base.approvalPolicy,
    approvalsReviewer: params.approvalsReviewer ?? base.approvalsReviewer,
    sandboxPolicy: params.sandboxPolicy ?? (profile === null ? undefined : BY_PROFILE[profile]) ?? base.sandboxPolicy,
    permissions: profile ?? (params.sandboxPolicy == null ? base.permissions : null),
    serviceTier: params.serviceTier ?? base.serviceTier,
    summary: params.summary ?? base.summary,
    personality: params.personality ?? base.personality,
    mode: collaboration?.mode ?? base.mode,
    developerInstructions: collaboration === null ? base.developerInstructions : (collaboration.settings.developer_instructions ?? null),
  };
}

export function sameSettings(a: ThreadSettings, b: ThreadSettings): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

const activeProfile = (settings: ThreadSettings): object | null => (settings.permissions === null ? null : { id: settings.permissions, extends: null });

function collaborationMode(settings: ThreadSettings, model: string): object {
  return { mode: settings.mode, settings: { model, reasoning_effort: settings.effort, developer_instructions: settings.developerInstructions } };
}

/** `threadSettings` of `thread/settings/updated`. */
export function toWireSettings(settings: ThreadSettings, model: string): object {
  return {
    disabledPluginIds: [],
    cwd: settings.cwd,
    environments: null,
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandboxPolicy: settings.sandboxPolicy,
    activePermissionProfile: activeProfile(settings),
    model,
    modelProvider: MODEL_PROVIDER,
    serviceTier: settings.serviceTier,
    effort: settings.effort,
    summary: settings.summary,
    collaborationMode: collaborationMode(settings, model),
    multiAgentMode: "explicitRequestOnly",
    personality: settings.personality,
  };
}

/** What the answers of `thread/start` and `thread/resume` say beside the thread. */
export function toOpeningAnswer(settings: ThreadSettings, model: string): object {
  return {
    model,
    modelProvider: MODEL_PROVIDER,
    serviceTier: settings.serviceTier,
    disabledPluginIds: [],
    cwd: settings.cwd,
    runtimeWorkspaceRoots: [settings.cwd],
    instructionSources: [],
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandbox: settings.sandboxPolicy,
    activePermissionProfile: activeProfile(settings),
    reasoningEffort: settings.effort,
    multiAgentMode: "explicitRequestOnly",
  };
}

/** The same with what only `thread/resume` says. */
export function toResumeAnswer(settings: ThreadSettings, model: string): object {
  return { ...toOpeningAnswer(settings, model), collaborationMode: collaborationMode(settings, model) };
}
