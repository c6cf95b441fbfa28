import { resolve } from "node:path";
import { threadIdParams, ThreadResumeParams, ThreadStartParams } from "@foldcast/protocol-core/wire/params";
import type { Host } from "../host.ts";
import type { Connection } from "../rpc/connection.ts";
import { Reply } from "../rpc/reply.ts";
import type { ThreadActor } from "../threads/actor.ts";
import { newestCursors, turnsPage } from "../threads/pages.ts";
import type { KnownThread } from "../threads/registry.ts";
import { initialSettings, openingSettings, toOpeningAnswer, toResumeAnswer } from "../threads/settings.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { openThread } from "./thread-lookup.ts";
import { NO_TURNS, threadResult, writeTurns } from "./whole-thread.ts";
import { parseThreadId } from "./thread-id.ts";

async function startThread(params: ThreadStartParams, host: Host, connection: Connection): Promise<Reply> {
  const named = params.model == null ? undefined : await host.catalogue.model(params.model);
  // A model that is not ours gets the default in its place, and the answer says so: clients open helper threads with
  // models of their own, and drafts before a model was chosen.
  const model = named?.id ?? (await host.defaultModel(connection));
  const effort = params.config?.["model_reasoning_effort"];
  const settings = {
    ...openingSettings(initialSettings(resolve(params.cwd ?? process.cwd())), params),
    model,
    effort: typeof effort === "string" && effort !== "" ? effort : null,
  };
  const actor = host.threads.start(settings, {
    ephemeral: params.ephemeral ?? false, threadSource: params.threadSource ?? null, originator: connection.session?.name ?? null,
  });
  actor.feed.add(connection);
  const thread = actor.toWire();
  return new Reply({ thread, ...toOpeningAnswer(settings, model ?? "none") }, () => host.broadcast("thread/started", { thread }));
}

/** What a thread runs on, in words: a found session may not say its model. */
async function modelName(actor: ThreadActor, host: Host): Promise<string> {
  const { harness } = actor.record;
  const model = actor.settings.model ?? (await host.catalogue.models()).find((each) => each.harness === harness)?.id;
  return model ?? harness ?? "none";
}

async function resumeThread(known: KnownThread, params: ThreadResumeParams, host: Host, connection: Connection): Promise<Reply> {
  const wasLoaded = known.actor !== null;
  const actor = await host.threads.load(known);
  if (!wasLoaded) actor.settings = { ...openingSettings(actor.settings, params), model: actor.settings.model, cwd: actor.settings.cwd };
  const viewer = host.viewerOf(connection);
  const model = await modelName(actor, host);
  const join = (): void => actor.feed.addHeld(connection);
  try {
    const list = await host.threads.turns({ record: actor.record, actor }, viewer, join);
    const turns = params.excludeTurns === true ? NO_TURNS : await writeTurns(list);
    const page = params.initialTurnsPage;
    const initialTurnsPage = page == null
      ? null
      : await turnsPage(list, { cursor: null, limit: page.limit ?? null, direction: page.sortDirection ?? "desc" }, page.itemsView ?? "summary");
    const [newest] = await list.take(Math.max(list.ids.length - 1, 0), list.ids.length);
    const cursors = newestCursors(actor.id, newest);
    const rest = { ...toResumeAnswer(actor.settings, model), initialTurnsPage, turnsBackwardsCursor: cursors.turns, itemsBackwardsCursor: cursors.items };
    const result = threadResult({ thread: actor.toWire(), ...rest }, turns);
    join();
    return new Reply(result, () => {
      const { usage, usageTurnId } = actor;
      if (!wasLoaded) host.broadcast("thread/status/changed", { threadId: actor.id, status: actor.status });
      if (usage.latest !== null && usageTurnId !== null) {
        connection.notify("thread/tokenUsage/updated", { threadId: actor.id, turnId: usageTurnId, tokenUsage: usage.latest });
      }
      // Measured: all who watch are told, not only who comes.
      actor.feed.notify("thread/goal/cleared", { threadId: actor.id });
      actor.feed.release(connection);
      host.interactions.replay(actor.id, connection);
      // What waited when the server went down is sent now, before the eyes of who opened the thread.
      actor.startQueued()?.begin();
    });
  } catch (error) {
    actor.feed.release(connection);
    throw error;
  }
}

export const threadOpenMethods: readonly Method[] = [
  method("thread/start", {
    owner: "host",
    params: ThreadStartParams,
    experimentalFields: [
      "allowProviderModelFallback", "runtimeWorkspaceRoots", "permissions", "multiAgentMode", "historyMode", "projectId", "daybreakEnabled",
      "environments", "dynamicTools", "selectedCapabilityRoots", "mockExperimentalField", "experimentalRawEvents",
    ],
    handler: (params, { host, connection }) => startThread(params, host, connection),
  }),
  method("thread/resume", {
    owner: "thread",
    params: ThreadResumeParams,
    experimentalFields: ["history", "path", "runtimeWorkspaceRoots", "permissions", "initialTurnsPage"],
    handler: async (params, { host, connection }) => resumeThread(await openThread(host, params.threadId, "session id"), params, host, connection),
  }),
  method("thread/unsubscribe", {
    owner: "thread",
    params: threadIdParams("ThreadUnsubscribeParams"),
    handler({ threadId }, { host, connection }) {
      const actor = host.threads.loaded(parseThreadId(threadId));
      if (actor === null) return { status: "notLoaded" };
      if (!actor.feed.remove(connection)) return { status: "notSubscribed" };
      return new Reply({ status: "unsubscribed" }, () => host.closeIfAbandoned(actor));
    },
  }),
];
