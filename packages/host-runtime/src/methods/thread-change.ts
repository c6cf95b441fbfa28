import { ErrorCode, invalidRequest, notSupported, WireError } from "@foldcast/protocol-core/wire";
import { threadIdParams, ThreadShellCommandParams, ThreadMetadataUpdateParams, ThreadNameSetParams, ThreadReadStateUpdateParams, ThreadSettingsUpdateParams } from "@foldcast/protocol-core/wire/params";
import type { Host } from "../host.ts";
import { Reply } from "../rpc/reply.ts";
import type { ThreadRecord } from "../store/store.ts";
import { resolveModel } from "../threads/binding.ts";
import { rowOf } from "../threads/known-threads.ts";
import type { KnownThread } from "../threads/registry.ts";
import { mergeSettings, requestedModel, sameSettings } from "../threads/settings.ts";
import { toWireThread } from "../threads/wire-thread.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { parseThreadId } from "./thread-id.ts";
import { demandKept, loadedThread, readableThread, storedThread } from "./thread-lookup.ts";
import { prepareTurn } from "./turns.ts";

/** Changes the record of a thread whether it is loaded or not. */
export function changeRecord(known: KnownThread, members: Partial<ThreadRecord>, host: Host): ThreadRecord {
  if (known.actor !== null) {
    known.actor.update(members);
    return known.actor.record;
  }
  const record = { ...rowOf(host.store, known.record), ...members };
  host.store.saveThread(record);
  return record;
}

/** One that was put away is no thread to rename, or to put away again. */
function demandPresent({ record }: KnownThread): void {
  if (record.archived) throw invalidRequest(`no rollout found for thread id ${record.id}`);
}

type GitInfo = NonNullable<ThreadRecord["gitInfo"]>;
const GIT_MEMBERS = ["sha", "branch", "originUrl"] as const;

/** The git members after a change: null takes one away, and none at all is no git information. */
function gitInfoAfter(old: GitInfo | null, change: { [name in keyof GitInfo]?: string | null | undefined }): GitInfo | null {
  const named = GIT_MEMBERS.filter((name) => change[name] !== undefined);
  if (named.length === 0) throw invalidRequest("gitInfo must include at least one field");
  const empty = named.find((name) => change[name]?.trim() === "");
  if (empty !== undefined) throw invalidRequest(`gitInfo.${empty} must not be empty`);
  const info: GitInfo = { sha: null, branch: null, originUrl: null, ...old };
  for (const name of named) info[name] = change[name]?.trim() ?? null;
  return GIT_MEMBERS.every((name) => info[name] === null) ? null : info;
}

async function unload(known: KnownThread, host: Host): Promise<void> {
  if (known.actor === null) return;
  await host.threads.unload(known.record.id);
  host.broadcast("thread/status/changed", { threadId: known.record.id, status: { type: "notLoaded" } });
}

export const threadChangeMethods: readonly Method[] = [
  method("thread/name/set", {
    owner: "thread",
    params: ThreadNameSetParams,
    async handler({ threadId, name }, { host }) {
      const id = parseThreadId(threadId);
      demandKept(host, id, "metadata updates");
      const trimmed = name.trim();
      if (trimmed === "") throw invalidRequest("thread name must not be empty");
      const known = await storedThread(host, threadId);
      demandPresent(known);
      changeRecord(known, { name: trimmed }, host);
      return new Reply({}, () => host.broadcast("thread/name/updated", { threadId: id, threadName: trimmed }));
    },
  }),
  method("thread/archive", {
    owner: "thread",
    params: threadIdParams("ThreadArchiveParams"),
    async handler({ threadId }, { host }) {
      const known = await storedThread(host, threadId, "session id");
      demandPresent(known);
      const { id } = known.record;
      await unload(known, host);
      const { record, settings } = known.actor ?? { record: rowOf(host.store, known.record), settings: null };
      // Before its first turn a thread's model is among its settings only.
      host.store.saveThread({ ...record, model: record.model ?? settings?.model ?? null, archived: true });
      return new Reply({}, () => host.broadcast("thread/archived", { threadId: id }));
    },
  }),
  method("thread/unarchive", {
    owner: "thread",
    params: threadIdParams("ThreadUnarchiveParams"),
    async handler({ threadId }, { host }) {
      const id = parseThreadId(threadId, "session id");
      const known = await host.threads.find(id);
      if (known?.record.archived !== true) throw invalidRequest(`no archived rollout found for thread id ${id}`);
      const record = changeRecord(known, { archived: false }, host);
      return new Reply({ thread: toWireThread(record, known.actor?.status ?? null) }, () => host.broadcast("thread/unarchived", { threadId: id }));
    },
  }),
  method("thread/delete", {
    owner: "thread",
    params: threadIdParams("ThreadDeleteParams"),
    async handler({ threadId }, { host }) {
      const isEphemeral = host.threads.loaded(parseThreadId(threadId))?.record.ephemeral === true;
      if (isEphemeral) throw invalidRequest(`thread is not persisted and cannot be deleted: ${parseThreadId(threadId)}`);
      const known = await storedThread(host, threadId);
      const { id } = known.record;
      await unload(known, host);
      const { harness, nativeSessionId } = known.actor?.record ?? known.record;
      host.store.deleteThread(id);
      // The harness's file stays: it may hold the only record of that work, and its program still lists it.
      if (harness !== null && nativeSessionId !== null) host.store.hideSession({ harness, nativeSessionId });
      return new Reply({}, () => host.broadcast("thread/deleted", { threadId: id }));
    },
  }),
  method("thread/metadata/update", {
    owner: "thread",
    params: ThreadMetadataUpdateParams,
    experimentalFields: ["projectId", "daybreakEnabled"],
    async handler({ threadId, gitInfo, projectId, daybreakEnabled }, { host }) {
      const id = parseThreadId(threadId);
      if (gitInfo == null && projectId == null && daybreakEnabled == null) throw invalidRequest("thread metadata update must include at least one field");
      if (gitInfo != null) gitInfoAfter(null, gitInfo);
      demandKept(host, id, "metadata updates");
      if (projectId != null) throw notSupported("thread/metadata/update.projectId", "foldcast keeps no projects");
      const known = await storedThread(host, threadId);
      const record = gitInfo == null ? known.record : changeRecord(known, { gitInfo: gitInfoAfter(known.record.gitInfo, gitInfo) }, host);
      return { thread: known.actor?.toWire() ?? toWireThread(record, null) };
    },
  }),
  method("thread/settings/update", {
    owner: "thread",
    params: ThreadSettingsUpdateParams,
    experimental: true,
    async handler(params, { host }) {
      const actor = loadedThread(host, params.threadId);
      const named = requestedModel(params);
      const model = named === null || named === actor.settings.model ? actor.settings.model : (await resolveModel(host, named, actor.record.harness)).id;
      const settings = { ...mergeSettings(actor.settings, params), model };
      return new Reply({}, () => {
        if (!sameSettings(settings, actor.settings)) actor.applySettings(settings, model ?? "none");
      });
    },
  }),
  method("thread/compact/start", {
    owner: "thread",
    params: threadIdParams("ThreadCompactStartParams"),
    async handler({ threadId }, { host, connection }) {
      const actor = loadedThread(host, threadId);
      const adapter = await prepareTurn(actor, { threadId, input: [] }, { input: [], clientId: null }, host, connection);
      if (!adapter.manifest.capabilities.compact) throw notSupported("thread/compact/start", `${adapter.manifest.displayName} decides by itself when to shorten its context`);
      return new Reply({}, () => actor.compact());
    },
  }),
  method("thread/shellCommand", {
    owner: "thread",
    params: ThreadShellCommandParams,
    handler({ threadId, command, timeoutMs }, { host }) {
      if (command.trim() === "") throw invalidRequest("command must not be empty");
      if (timeoutMs != null && timeoutMs < 0) throw new WireError(ErrorCode.invalidParams, `thread/shellCommand timeoutMs must be non-negative, got ${timeoutMs}`);
      loadedThread(host, threadId);
      throw notSupported("thread/shellCommand", "foldcast runs no commands of its own, only those of a harness");
    },
  }),
  method("thread/readState/update", {
    owner: "thread",
    params: ThreadReadStateUpdateParams,
    experimental: true,
    async handler({ threadId, operation, expectedRevision }, { host }) {
      const { actor, record } = await readableThread(host, threadId);
      if (actor === null) throw invalidRequest(`thread not found: ${record.id}`);
      const readState = actor.readState.set(operation.type, expectedRevision);
      // Measured: the notification goes out before the response.
      host.broadcast("thread/readState/changed", { threadId: record.id, readState });
      return { readState };
    },
  }),
];
