import type { Turn } from "@foldcast/protocol-core/wire";
import type { ThreadListParams } from "@foldcast/protocol-core/wire/params";
import type { ThreadRecord } from "../store/store.ts";
import { ThreadActor } from "./actor.ts";
import type { EndedRun } from "./ended-runs.ts";
import { ThreadHistory } from "./history.ts";
import type { SavedTurn, Viewer } from "./history.ts";
import { KnownThreads } from "./known-threads.ts";
import { listThreads } from "./list.ts";
import type { LongTurnList, Page } from "./pages.ts";
import { projectorOptions } from "./projector-options.ts";
import type { SavedSessions } from "./saved-sessions.ts";
import type { ThreadServices } from "./services.ts";
import { initialSettings } from "./settings.ts";
import type { ThreadSettings } from "./settings.ts";
import type { TurnRun } from "./turn-run.ts";

/** Saved files that are kept open with their index. */
const MAX_OPEN_HISTORIES = 16;

/** A thread that exists, loaded or not. */
export interface KnownThread {
  record: Readonly<ThreadRecord>;
  actor: ThreadActor | null;
}

/** All threads: those that are loaded, those in the store, and saved sessions that are only found. */
export class ThreadRegistry {
  readonly #services: ThreadServices;
  readonly #saved: SavedSessions;
  readonly #known: KnownThreads;
  readonly #actors = new Map<string, ThreadActor>();
  readonly #histories = new Map<string, ThreadHistory>();

  constructor(services: ThreadServices, saved: SavedSessions) {
    this.#services = services;
    this.#saved = saved;
    this.#known = new KnownThreads(services.store, saved);
  }

  get loadedIds(): string[] {
    return [...this.#actors.keys()];
  }

  loaded(id: string): ThreadActor | null {
    return this.#actors.get(id) ?? null;
  }

  /** A new thread, unbound and nowhere listed until its first turn. No process is started. */
  start(settings: ThreadSettings, members: Pick<ThreadRecord, "ephemeral" | "threadSource" | "originator"> & Partial<ThreadRecord>): ThreadActor {
    const now = this.#services.now();
    return this.#add({
      id: this.#services.newId(), harness: null, nativeSessionId: null, file: null, model: null, effort: null, cwd: settings.cwd, name: null, preview: "",
      archived: false, forkedFromId: null, section: null, gitInfo: null, createdAt: now, updatedAt: now, recencyAt: now, ...members,
    }, settings);
  }

  async find(id: string): Promise<KnownThread | null> {
    const actor = this.loaded(id);
    if (actor !== null) return { record: actor.record, actor };
    const record = await this.#known.find(id);
    return record === null ? null : { record, actor: this.loaded(id) };
  }

  /** Loads a thread that has history. No process is started: that is its next turn's to do. */
  async load(known: KnownThread): Promise<ThreadActor> {
    const { record } = known;
    const actor = known.actor ?? this.loaded(record.id) ?? this.#add({ ...record }, { ...initialSettings(record.cwd), model: record.model, effort: record.effort });
    actor.feed.touch();
    if (record.harness !== null) await actor.bind(record.harness);
    return actor;
  }

  /** All that may be listed, in no particular order. */
  records(): Promise<ThreadRecord[]> {
    return this.#known.records();
  }

  async list(params: ThreadListParams): Promise<Page<ThreadRecord>> {
    return listThreads(await this.records(), params);
  }

  /**
   * The turns of a thread as of now. `onRun` is called at the moment at which the running turn is read: a late joiner
   * is subscribed there. Rejects when the saved file cannot be read.
   */
  async turns({ record, actor }: KnownThread, viewer: Viewer, onRun: () => void = () => undefined): Promise<LongTurnList> {
    const history = await this.#history(record);
    let saved: readonly string[] = [];
    // A turn may end while the file is read: it would be missing in both then.
    for (let version = -1; version !== (actor?.version ?? 0);) {
      version = actor?.version ?? 0;
      saved = history === null ? [] : [...(await history.turnIds())];
    }
    const run = actor?.run ?? null;
    const turns = mergeTurns(saved, actor?.endedRuns ?? [], run);
    const each: LongTurnList["each"] = (from, to, use) => eachTurn(turns.slice(from, to), history, run, viewer, onRun, use);
    return {
      threadId: record.id,
      ids: turns.map(({ id }) => id),
      each,
      async take(from, to) {
        const taken: Turn[] = [];
        await each(from, to, (turn) => taken.push(turn));
        return taken;
      },
    };
  }

  /** Its turns that a saved session has, oldest first, without the running one. Rejects when the file cannot be read. */
  async savedTurns({ record, actor }: KnownThread): Promise<readonly SavedTurn[]> {
    const history = await this.#history(record);
    const turns = history === null
      ? this.#services.store.turns(record.id).filter((fact): fact is SavedTurn => fact.turnKey?.startsWith("host:") === false)
      : await history.savedTurns();
    return turns.filter(({ turnId }) => turnId !== actor?.run?.id);
  }

  /** Unloads a thread: its session ends, its watchers are no longer subscribed. */
  async unload(id: string): Promise<void> {
    const actor = this.#actors.get(id);
    this.#actors.delete(id);
    await this.#closeHistory(id);
    await actor?.close();
  }

  /** Interrupts all turns and starts no more. Resolves when none runs. */
  async drain(): Promise<void> {
    await Promise.all([...this.#actors.values()].map((actor) => actor.drain()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#actors.values()].map((actor) => actor.close()));
    await Promise.all([...this.#histories.keys()].map((id) => this.#closeHistory(id)));
  }

  #add(record: ThreadRecord, settings: ThreadSettings): ThreadActor {
    const actor = new ThreadActor(record, settings, this.#services);
    this.#actors.set(record.id, actor);
    return actor;
  }

  async #history(record: Readonly<ThreadRecord>): Promise<ThreadHistory | null> {
    if (record.file === null || record.harness === null) return null;
    let history = this.#histories.get(record.id);
    // A resumed session may go on in a file of its own.
    if (history?.file !== record.file) {
      await this.#closeHistory(record.id);
      const source = (await this.#services.catalogue.adapter(record.harness)).history;
      if (source === null) return null;
      const projector = projectorOptions({ id: record.id, harness: record.harness, cwd: record.cwd }, this.#services.catalogue.toolMaps);
      history = new ThreadHistory({ source, file: record.file, harness: record.harness, threadId: record.id, store: this.#services.store, indexes: this.#saved.indexes, projector });
    }
    // Last used goes last; the first is let go.
    this.#histories.delete(record.id);
    this.#histories.set(record.id, history);
    const oldest = this.#histories.keys().next().value;
    if (this.#histories.size > MAX_OPEN_HISTORIES && oldest !== undefined) void this.#closeHistory(oldest);
    return history;
  }

  async #closeHistory(id: string): Promise<void> {
    const history = this.#histories.get(id);
    this.#histories.delete(id);
    await history?.close().catch((error: unknown) => this.#services.log.warn("closing a history failed", { threadId: id, error }));
  }
}

/** A turn of a thread: at a place in its saved file, or known from this process only. */
type TurnEntry = { id: string; at: number } | { id: string; run: TurnRun };

/**
 * The turns of the file with those that are not in it (one that failed before the harness began, all of a harness that
 * saves nothing) at their place in time, and the running one last.
 */
function mergeTurns(saved: readonly string[], ended: readonly EndedRun[], run: TurnRun | null): TurnEntry[] {
  const turns: TurnEntry[] = saved.map((id, at) => ({ id, at })).filter(({ id }) => id !== run?.id);
  const placeOf = (id: string): number => turns.findIndex((turn) => turn.id === id);
  // Where the next one goes that is not in the file: before the first turn of ours that is.
  let place = ended.map((each) => placeOf(each.id)).find((at) => at !== -1) ?? turns.length;
  for (const each of ended) {
    const at = placeOf(each.id);
    if (at !== -1) place = at + 1;
    else if (each.run !== null) turns.splice(place++, 0, { id: each.id, run: each.run });
  }
  if (run !== null) turns.push({ id: run.id, run });
  return turns;
}

async function eachTurn(
  turns: readonly TurnEntry[], history: ThreadHistory | null, run: TurnRun | null, viewer: Viewer, onRun: () => void, use: (turn: Turn) => void,
): Promise<void> {
  for (let at = 0; at < turns.length; ) {
    const entry = turns[at]!;
    at += 1;
    if ("run" in entry) {
      if (entry.run === run) onRun();
      use(entry.run.snapshot(viewer.policy, viewer.detail));
      continue;
    }
    // Turns that stand next to each other in the file are read in one go.
    let end = entry.at + 1;
    for (let next = turns[at]; next !== undefined && "at" in next && next.at === end; next = turns[at]) {
      at += 1;
      end += 1;
    }
    await history!.project(entry.at, end, viewer, use);
  }
}
