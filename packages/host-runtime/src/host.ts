import { randomUUID } from "node:crypto";
import { hostname, tmpdir } from "node:os";
import { DEFAULT_POLICY } from "@foldcast/protocol-core/delivery";
import type { RequestId } from "@foldcast/protocol-core/wire";
import type { ToolMap } from "@foldcast/protocol-core/tools";
import { ClientConfig } from "./client-config.ts";
import { HarnessCatalogue } from "./harness/catalogue.ts";
import type { HarnessEntry } from "./harness/catalogue.ts";
import { harnessDataDir, harnessEnvironment } from "./harness/environment.ts";
import { StartGate } from "./harness/start-gate.ts";
import { InteractionManager } from "./interactions/manager.ts";
import type { Logger } from "./log/logger.ts";
import { shapeOf } from "./log/shape.ts";
import { dispatch, understands } from "./methods/dispatch.ts";
import { parseThreadId } from "./methods/thread-id.ts";
import { LISTED_BY_CODEX, NativeCodex } from "./native/codex.ts";
import { CURSOR_HEAD } from "./native/cursors.ts";
import type { FreshThread } from "./native/fresh-threads.ts";
import { Upstream } from "./native/upstream.ts";
import type { NativeProgram, NativeUpstream } from "./native/upstream.ts";
import { describePlatform, userAgent } from "./platform.ts";
import type { Platform } from "./platform.ts";
import { Connection } from "./rpc/connection.ts";
import type { ConnectionHandler, ConnectionLimits, Transport } from "./rpc/connection.ts";
import { notificationFrame } from "./rpc/frame.ts";
import type { Frame } from "./rpc/frame.ts";
import { schedule as processSchedule } from "./schedule.ts";
import type { Schedule } from "./schedule.ts";
import { MemoryThreadStore } from "./store/memory.ts";
import { PatientStore } from "./store/patient.ts";
import type { ThreadStore } from "./store/store.ts";
import type { ThreadActor } from "./threads/actor.ts";
import type { Viewer } from "./threads/history.ts";
import { ThreadRegistry } from "./threads/registry.ts";
import { NO_DISCOVERY, SavedSessions } from "./threads/saved-sessions.ts";
import type { DiscoveryOptions } from "./threads/saved-sessions.ts";
import { uuidv7 } from "./threads/uuid7.ts";

export interface HostOptions {
  harnesses: readonly HarnessEntry[];
  /** Tool-name maps of harnesses without an adapter. */
  extraToolMaps?: Readonly<Record<string, ToolMap>>;
  /** Handed to every adapter; each takes what it knows. */
  harnessSettings?: Readonly<Record<string, unknown>>;
  /** For the adapter of that id alone; those for every adapter go before them. */
  settingsByHarness?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  dataDir: string;
  dialect: "auto" | "default" | "desktop";
  /** The real Codex behind us; null or absent = foldcast answers alone. */
  native?: NativeProgram | NativeUpstream | null;
  /** Folders with saved sessions of other programs, to be listed and opened. */
  sessionFolders?: readonly string[];
  /** Whether and how far the sessions that harnesses saved on this machine are threads; without it they are not looked for. */
  discovery?: Partial<Omit<DiscoveryOptions, "folders">>;
  log: Logger;
  now?: () => number;
  /** Where threads are kept, in memory by default; whoever opened it closes it. */
  store?: ThreadStore;
  /** By default one that asks whoever watches the thread. */
  interactions?: InteractionManager;
  limits?: ConnectionLimits;
  /** How long an ephemeral thread stays without anybody who watches it; 30 seconds by default. */
  abandonedAfterMs?: number;
  /** Milliseconds after which a harness session that is not used is let go; null = never. 10 minutes by default. */
  idleSessionMs?: number | null;
  /** Milliseconds after which a thread that nobody watches or uses is unloaded; 30 minutes by default, as with Codex. */
  unusedThreadMs?: number;
  /** How many harness processes may start at a time; 2 by default. */
  parallelStarts?: number;
  /** Timers of threads; those of the process by default. */
  schedule?: Schedule;
}

export const DEFAULT_IDLE_SESSION_MS = 10 * 60_000;
export const DEFAULT_PARALLEL_STARTS = 2;

/** Clients look at a helper thread once more after they have left it; Codex 0.171 keeps it loaded, too. */
const ABANDONED_AFTER_MS = 30_000;

/** A harness that does not end its turn by then is ended with it. */
const DRAIN_PATIENCE_MS = 3_000;
const UNUSED_THREAD_MS = 30 * 60_000;
const LOOK_FOR_UNUSED_MS = 60_000;
const STORE_TROUBLE_INTERVAL_MS = 60_000;

/** The server behind all connections: who is connected, which threads there are, which harnesses run them. */
export class Host implements ConnectionHandler {
  readonly options: HostOptions;
  readonly catalogue: HarnessCatalogue;
  readonly threads: ThreadRegistry;
  readonly store: PatientStore;
  readonly interactions: InteractionManager;
  readonly config = new ClientConfig();
  readonly platform: Platform;
  /** Null = we answer alone. */
  readonly native: NativeCodex | null;
  /** The process is about to end: nothing new begins. */
  draining = false;
  readonly #now: () => number;
  readonly #schedule: Schedule;
  readonly #connections = new Set<Connection>();
  readonly #defaultModels = new WeakMap<Connection, string | null>();
  readonly #installationId = randomUUID();
  #firstClient: string | null = null;
  #storeTroubleAt = -Infinity;
  #stopLooking: () => void = () => undefined;

  constructor(options: HostOptions) {
    const { log, dataDir } = options;
    this.options = options;
    const now = (this.#now = options.now ?? (() => Date.now()));
    const schedule = (this.#schedule = options.schedule ?? processSchedule);
    this.store = new PatientStore(options.store ?? new MemoryThreadStore(), (error) => this.#onStoreTrouble(error));
    this.interactions = options.interactions ?? new InteractionManager({ log, now });
    const catalogue = (this.catalogue = new HarnessCatalogue({
      entries: options.harnesses,
      extraToolMaps: options.extraToolMaps ?? {},
      environment: (id, toolMaps) => harnessEnvironment(id, { dataDir, log, toolMaps }),
      settings: (id) => ({ ...options.settingsByHarness?.[id], ...options.harnessSettings }),
      now,
      log,
    }));
    this.threads = new ThreadRegistry({
      now,
      newId: () => uuidv7(now()),
      log,
      store: this.store,
      catalogue,
      starts: new StartGate({ limit: options.parallelStarts ?? DEFAULT_PARALLEL_STARTS, schedule }),
      schedule,
      idleSessionMs: options.idleSessionMs === undefined ? DEFAULT_IDLE_SESSION_MS : options.idleSessionMs,
      interactions: this.interactions,
      broadcast: (method, params) => this.broadcast(method, params),
    }, new SavedSessions({
      discovery: { ...NO_DISCOVERY, ...options.discovery, except: options.native == null ? [] : [LISTED_BY_CODEX], folders: options.sessionFolders ?? [] },
      catalogue,
      dataDirOf: (id) => harnessDataDir(dataDir, id),
      log,
      now,
    }));
    this.platform = describePlatform(options.native != null && "env" in options.native ? options.native.env : process.env);
    this.native = options.native == null ? null : this.#startNative(options.native);
    this.#unloadUnused();
  }

  #startNative(native: NativeProgram | NativeUpstream): NativeCodex {
    const { log, harnesses } = this.options;
    const ours = new Set(harnesses.map(({ id }) => id));
    return new NativeCodex({
      // The real server's own timers are the process's: it is another one that they wait for.
      upstream: "connect" in native ? native : new Upstream({ ...native, dir: tmpdir(), log, schedule: processSchedule }),
      ownership: {
        ownsThread: (id) => this.owns(id),
        mayBeModel: (id) => ours.has(id.slice(0, Math.max(id.indexOf("/"), 0))),
        isModel: async (id) => (await this.catalogue.model(id)) !== undefined,
        isOurCursor: (cursor) => cursor.startsWith(CURSOR_HEAD),
        understands,
        isForeignByDefault: (connection) => {
          const model = this.foreignDefault(connection);
          return model instanceof Promise ? model.then((each) => each !== null) : model !== null;
        },
        usesForeign: (connection) => this.chosenModel(connection) !== null
          || this.threads.loadedIds.some((id) => this.threads.loaded(id)?.feed.subscribers.has(connection) === true),
        adopt: (id, thread, watchers) => this.#adopt(id, thread, watchers),
      },
      log,
    });
  }

  /** Whether a thread is ours. Throws when the store cannot be read. */
  owns(given: string): boolean {
    let id: string;
    try {
      id = parseThreadId(given);
    } catch {
      return false;
    }
    // The ids of found sessions are made by us alone: the real server's are of version 7.
    return this.threads.loaded(id) !== null || id[14] === "8" || this.store.thread(id) !== null;
  }

  #adopt(id: string, { settings, ephemeral, threadSource }: FreshThread, watchers: readonly Connection[]): void {
    const actor = this.threads.start(settings, { id, ephemeral, threadSource, originator: watchers[0]?.session?.name ?? null });
    for (const connection of watchers) actor.feed.add(connection);
  }

  /** Looks for threads to unload, now and from time to time. */
  #unloadUnused(): void {
    const limit = this.#now() - (this.options.unusedThreadMs ?? UNUSED_THREAD_MS);
    for (const id of this.threads.loadedIds) {
      const since = this.threads.loaded(id)?.unusedSince ?? Infinity;
      if (since <= limit) this.#unload(id);
    }
    this.#stopLooking = this.#schedule(LOOK_FOR_UNUSED_MS, () => this.#unloadUnused());
  }

  #unload(id: string): void {
    this.threads.unload(id).then(
      () => {
        this.broadcast("thread/status/changed", { threadId: id, status: { type: "notLoaded" } });
        this.broadcast("thread/closed", { threadId: id });
      },
      (error: unknown) => this.options.log.warn("closing a thread failed", { threadId: id, error }),
    );
  }

  /** Takes a new client on; it is let go when its link ends. */
  connect(transport: Transport): Connection {
    const { log, limits } = this.options;
    const connection = new Connection({ transport, handler: this, log, now: this.#now, ...(limits === undefined ? {} : { limits }) });
    this.#connections.add(connection);
    connection.gate = this.native?.attach(connection) ?? null;
    void connection.closed.then(() => {
      this.#connections.delete(connection);
      for (const id of this.threads.loadedIds) {
        const actor = this.threads.loaded(id);
        if (actor?.feed.remove(connection) === true) this.closeIfAbandoned(actor);
      }
    });
    return connection;
  }

  request(connection: Connection, method: string, params: unknown): unknown {
    return dispatch(this, connection, method, params);
  }

  notification(_connection: Connection, method: string): void {
    if (method !== "initialized") this.options.log.debug("ignored a notification", { method });
  }

  answer(connection: Connection, id: RequestId, outcome: { result: unknown } | { error: unknown }): void {
    // Not the id: what a client makes up may be anything.
    if (!this.interactions.reply(connection, id, outcome)) this.options.log.debug("an answer that changes nothing", { shape: shapeOf({ id, ...outcome }) });
  }

  /** Unix milliseconds. */
  now(): number {
    return this.#now();
  }

  /** To every initialized connection that did not opt out. */
  broadcast(method: string, params: object): void {
    let frame: Frame | null = null;
    for (const connection of this.#connections) {
      if (connection.wants(method)) connection.send((frame ??= notificationFrame(method, params, this.#now())));
    }
  }

  /** Whether and how this client's turns are projected. */
  viewerOf(connection: Connection): Viewer {
    return { policy: connection.session?.policy ?? DEFAULT_POLICY, detail: connection.session?.detail ?? false };
  }

  /** Measured: the head of the user agent is the first client of the process, the end of it the one that asks. */
  userAgent(client: string, version: string): string {
    this.#firstClient ??= client;
    return userAgent(this.platform, this.#firstClient, client, version);
  }

  remoteControlStatus(): object {
    return { status: "disabled", serverName: hostname(), installationId: this.#installationId, environmentId: null };
  }

  /** The model of a thread that names none: what this client chose in its settings, else the first that is ready. */
  async defaultModel(connection: Connection): Promise<string | null> {
    return this.chosenModel(connection) ?? (await this.catalogue.defaultModel())?.id ?? null;
  }

  /** The model of ours that this client has chosen; null where it has chosen none. */
  chosenModel(connection: Connection): string | null {
    return this.#defaultModels.get(connection) ?? null;
  }

  /**
   * The model of ours that stands in the place of the real server's own default for this client: the one that was chosen,
   * or our first, where the real server's want a login that nobody has. Null = its own.
   */
  foreignDefault(connection: Connection): string | null | Promise<string | null> {
    if (this.native?.lacksLogin !== true || this.#defaultModels.has(connection)) return this.chosenModel(connection);
    return this.defaultModel(connection);
  }

  /** Null: none of ours any more. */
  setDefaultModel(connection: Connection, model: string | null): void {
    this.#defaultModels.set(connection, model);
  }

  /** Remembers what this client has chosen; the function that it gives takes later choices back. */
  rememberDefaultModel(connection: Connection): () => void {
    const before = this.#defaultModels.get(connection);
    return () => {
      if (before === undefined) this.#defaultModels.delete(connection);
      else this.#defaultModels.set(connection, before);
    };
  }

  /** Where Codex keeps its things, as its own server says if it has said so yet. */
  get codexHome(): string {
    return this.native?.home ?? this.platform.codexHome;
  }

  /** An ephemeral thread that nobody watches any more can never be opened again: it ends after a while. */
  closeIfAbandoned(actor: ThreadActor): void {
    const isAbandoned = (): boolean => actor.record.ephemeral && actor.feed.subscribers.size === 0;
    if (!isAbandoned()) return;
    const close = (): void => {
      if (!isAbandoned() || this.threads.loaded(actor.id) !== actor) return;
      this.#unload(actor.id);
    };
    this.#schedule(this.options.abandonedAfterMs ?? ABANDONED_AFTER_MS, close);
  }

  /** Turns go on; who watches must know that a restart may not know of them. Once in a while, not for each write. */
  #onStoreTrouble(error: unknown): void {
    const now = this.#now();
    if (now - this.#storeTroubleAt < STORE_TROUBLE_INTERVAL_MS) return;
    this.#storeTroubleAt = now;
    this.options.log.error("the store cannot be written; what turns note is kept in memory until it can", { error });
    const reason = error instanceof Error ? error.message : String(error);
    this.broadcast("warning", { threadId: null, message: `Threads cannot be saved at the moment (${reason}). Turns go on; a restart of the server may not know of them.` });
  }

  /**
   * The first part of an end that nobody notices more than he must: nothing new begins, what is asked is still answered,
   * running turns are interrupted, and their ends reach their clients. Resolves when all is out, or after a while.
   */
  async drain(): Promise<void> {
    this.draining = true;
    const sent = async (): Promise<void> => {
      await this.threads.drain();
      await Promise.all([...this.#connections].map((connection) => connection.flushed()));
    };
    const patience = new Promise<void>((resolve) => this.#schedule(DRAIN_PATIENCE_MS, resolve));
    await Promise.race([sent(), patience]);
  }

  /** Interrupts all turns, ends all sessions and drops all clients. */
  async close(): Promise<void> {
    this.#stopLooking();
    await Promise.all([this.threads.close(), this.native?.close()]);
    await this.catalogue.close();
    this.store.close();
    for (const connection of this.#connections) connection.terminate();
  }
}
