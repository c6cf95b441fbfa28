import { resolve } from "node:path";
import { invalidRequest, notSupported } from "@foldcast/protocol-core/wire";
import { ThreadForkParams, ThreadRevertParams, ThreadRollbackParams } from "@foldcast/protocol-core/wire/params";
import type { HarnessAdapter } from "@foldcast/protocol-core/harness";
import type { Host } from "../host.ts";
import type { Connection } from "../rpc/connection.ts";
import { Reply } from "../rpc/reply.ts";
import type { ThreadActor } from "../threads/actor.ts";
import { resolveModel } from "../threads/binding.ts";
import { carryTurns, cutAt } from "../threads/cut.ts";
import type { Cut } from "../threads/cut.ts";
import { newestCursors } from "../threads/pages.ts";
import type { LongTurnList, TurnList } from "../threads/pages.ts";
import { isOfHarness } from "../threads/ended-runs.ts";
import type { KnownThread } from "../threads/registry.ts";
import { initialSettings, openingSettings, toOpeningAnswer } from "../threads/settings.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { loadedOrStored, openThread } from "./thread-lookup.ts";
import { NO_TURNS, threadResult, writeTurns } from "./whole-thread.ts";

function demandFork(adapter: HarnessAdapter, request: string): void {
  if (!adapter.manifest.capabilities.fork) throw notSupported(request, `${adapter.manifest.displayName} cannot copy a session`);
}

/** How many turns stay before the one that is named; `through` keeps that one too. */
function countUpTo(list: TurnList, turnId: string, through: boolean): number {
  const at = list.ids.indexOf(turnId);
  if (at === -1) throw invalidRequest(`turn not found: ${turnId}`);
  return through ? at + 1 : at;
}

/** Where a copy has to end, as the harness names it; null = nothing of the saved session stays. */
function copyOf(known: KnownThread, { saved }: Cut): { nativeSessionId: string; throughTurnKey: string } | null {
  const last = saved.at(-1);
  const { nativeSessionId } = known.record;
  return last === undefined || nativeSessionId === null ? null : { nativeSessionId, throughTurnKey: last.turnKey };
}

async function forkThread(params: ThreadForkParams, host: Host, connection: Connection): Promise<Reply> {
  const known = await openThread(host, params.threadId, "session id");
  const { record } = known;
  if (params.lastTurnId != null && params.beforeTurnId != null) throw invalidRequest("`beforeTurnId` cannot be combined with `lastTurnId`");
  // Before its first turn there is nothing to copy: the fork is one more thread like it.
  if (record.harness !== null) demandFork(await host.catalogue.adapter(record.harness), "thread/fork");
  // A client names the model that it shows, which may be none of ours; then the thread's own goes on.
  const named = params.model == null || (await host.catalogue.model(params.model)) === undefined ? null : await resolveModel(host, params.model, record.harness);
  const viewer = host.viewerOf(connection);
  const list = await host.threads.turns(known, viewer);
  const running = known.actor?.run ?? null;
  if (params.lastTurnId != null && params.lastTurnId === running?.id) throw invalidRequest(`turn ${params.lastTurnId} is in progress`);
  const end = params.lastTurnId ?? params.beforeTurnId ?? running?.id ?? null;
  const count = end === null ? list.ids.length : countUpTo(list, end, params.lastTurnId != null);
  const cut = cutAt(list.ids, count, await host.threads.savedTurns(known));

  const base = known.actor?.settings ?? { ...initialSettings(record.cwd), model: record.model, effort: record.effort };
  const settings = { ...openingSettings(base, params), model: named?.id ?? base.model, cwd: params.cwd == null ? base.cwd : resolve(params.cwd) };
  const copy = copyOf(known, cut);
  const actor = host.threads.start(settings, {
    ephemeral: params.ephemeral ?? false,
    threadSource: params.threadSource ?? null,
    originator: connection.session?.name ?? null,
    forkedFromId: record.id,
    name: record.name,
    gitInfo: record.gitInfo,
    // With nothing in it that a harness has, the fork is a new thread like any other.
    ...(copy === null ? {} : { harness: record.harness, model: settings.model, effort: settings.effort, preview: record.preview }),
  });
  try {
    if (copy !== null) {
      await actor.bind(record.harness!);
      await actor.continueFrom(copy, cut.kept);
      if (!actor.record.ephemeral) carryTurns(host.store, record.id, actor.id, cut);
    }
    const forked = await host.threads.turns({ record: actor.record, actor }, viewer);
    const turns = params.excludeTurns === true ? NO_TURNS : await writeTurns(forked);
    actor.feed.add(connection);
    return new Reply(threadResult({ thread: actor.toWire(), ...toOpeningAnswer(settings, settings.model ?? record.harness ?? "none") }, turns), () => {
      host.broadcast("thread/started", { thread: actor.toWire() });
    });
  } catch (error) {
    await host.threads.unload(actor.id);
    host.store.deleteThread(actor.id);
    throw error;
  }
}

/**
 * Takes the turns from the `countOf`-th on out of the thread; as with Codex 0.171 a running one is interrupted for it. Files
 * on disk stay as they are.
 */
async function revert(threadId: string, request: string, host: Host, connection: Connection, countOf: (list: TurnList) => number): Promise<{ actor: ThreadActor; list: LongTurnList }> {
  const actor = await host.threads.load(await loadedOrStored(host, threadId));
  const viewer = host.viewerOf(connection);
  const turnsNow = (): Promise<LongTurnList> => host.threads.turns({ record: actor.record, actor }, viewer);
  // What cannot be done is refused before anything is interrupted for it.
  countOf(await turnsNow());
  const adapter = actor.record.harness === null ? null : await host.catalogue.adapter(actor.record.harness);
  if (actor.run !== null && adapter !== null) demandFork(adapter, request);
  await actor.interruptAlone();
  const now = { record: actor.record, actor };
  const list = await turnsNow();
  const cut = cutAt(list.ids, countOf(list), await host.threads.savedTurns(now));
  // A file may be a little behind its program, which knows of a turn that is over all the same.
  if (cut.shortens || actor.endedRuns.some(({ id, run }) => !cut.kept.has(id) && isOfHarness(run))) {
    demandFork(adapter!, request);
    await actor.continueFrom(copyOf(now, cut), cut.kept);
  } else {
    actor.dropKept(cut.kept);
  }
  carryTurns(host.store, actor.id, actor.id, cut);
  if (actor.readState.keep([...cut.kept])) host.broadcast("thread/readState/changed", { threadId: actor.id, readState: actor.readState.toWire() });
  return { actor, list: await turnsNow() };
}

export const threadForkMethods: readonly Method[] = [
  method("thread/fork", {
    owner: "thread",
    params: ThreadForkParams,
    experimentalFields: [
      "beforeTurnId", "path", "runtimeWorkspaceRoots", "permissions", "attachToSource", "deferGoalContinuation", "experimentalPredictionMode",
      "experimentalDisablePredictionMcp",
    ],
    handler: (params, { host, connection }) => forkThread(params, host, connection),
  }),
  method("thread/revert", {
    owner: "thread",
    params: ThreadRevertParams,
    async handler({ threadId, beforeTurnId }, { host, connection }) {
      const { actor, list } = await revert(threadId, "thread/revert", host, connection, (turns) => countUpTo(turns, beforeTurnId, false));
      const [newest] = await list.take(Math.max(list.ids.length - 1, 0), list.ids.length);
      const cursors = newestCursors(actor.id, newest);
      return new Reply({ thread: actor.toWire(), turnsBackwardsCursor: cursors.turns, itemsBackwardsCursor: cursors.items }, () => {
        host.broadcast("thread/reverted", { threadId: actor.id });
      });
    },
  }),
  // Of older clients; Codex 0.171 knows only `thread/revert`.
  method("thread/rollback", {
    owner: "thread",
    params: ThreadRollbackParams,
    async handler({ threadId, numTurns }, { host, connection }) {
      if (numTurns === 0) throw invalidRequest("numTurns must be at least 1");
      const { actor, list } = await revert(threadId, "thread/rollback", host, connection, ({ ids }) => Math.max(ids.length - numTurns, 0));
      return new Reply(threadResult({ thread: actor.toWire() }, await writeTurns(list)), () => host.broadcast("thread/reverted", { threadId: actor.id }));
    },
  }),
];
