import type { HarnessAdapter, OpenRequest, SessionOptions } from "@foldcast/protocol-core/harness";
import type { ThreadSettings } from "./settings.ts";

/** A thread's settings in the harness's words. */
export function sessionOptions({ cwd, model, effort, permissions }: ThreadSettings): SessionOptions {
  return { cwd, model: model === null ? null : model.slice(model.indexOf("/") + 1), thinking: effort, permissionMode: permissions };
}

/** What an open session has to be told: what is different from what it runs with. Null = nothing. */
export function changedOptions(adapter: HarnessAdapter, from: SessionOptions | null, to: SessionOptions): Partial<Omit<SessionOptions, "cwd">> | null {
  const change: Partial<Omit<SessionOptions, "cwd">> = {};
  if (adapter.manifest.capabilities.selectModel && to.model !== from?.model) change.model = to.model;
  if (to.thinking !== from?.thinking) change.thinking = to.thinking;
  if (to.permissionMode !== from?.permissionMode) change.permissionMode = to.permissionMode;
  return Object.keys(change).length === 0 ? null : change;
}

/** How the thread's session is opened: the saved one where there is one. Throws where the harness cannot go on with it. */
export function openRequest(adapter: HarnessAdapter, nativeSessionId: string | null, options: SessionOptions): OpenRequest {
  if (nativeSessionId === null) return { kind: "create", options };
  if (!adapter.manifest.capabilities.resume) throw new Error(`${adapter.manifest.displayName} cannot continue a session that has ended`);
  return { kind: "resume", nativeSessionId, options };
}
