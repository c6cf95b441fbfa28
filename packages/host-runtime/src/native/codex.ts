import type { Logger } from "../log/logger.ts";
import type { Connection } from "../rpc/connection.ts";
import type { FreshThread } from "./fresh-threads.ts";
import { FreshThreads } from "./fresh-threads.ts";
import { NativeGate } from "./gate.ts";
import { membersOf, textMember } from "./json-bytes.ts";
import type { NativeUpstream } from "./upstream.ts";

/** What the host knows of its own that decides whose a request is. Only `ownsThread` may throw, when it cannot tell. */
export interface Ownership {
  ownsThread(id: string): boolean;
  /** By its form; no model is looked up. */
  mayBeModel(id: string): boolean;
  isModel(id: string): Promise<boolean>;
  isOurCursor(cursor: string): boolean;
  /** Whether a request that both answer together is one that we can read. */
  understands(method: string, params: string | null): boolean;
  /** Whether this client's threads are ours where it names no model. */
  isForeignByDefault(connection: Connection): boolean | Promise<boolean>;
  /** Whether this client has to do with threads or models of ours. */
  usesForeign(connection: Connection): boolean;
  /** Makes the thread ours, watched by these clients. */
  adopt(id: string, thread: FreshThread, watchers: readonly Connection[]): void;
}

/** The harness whose saved sessions the real server lists itself. */
export const LISTED_BY_CODEX = "codex";

/** Adopted threads that the real server may still speak of. */
const MOST_ADOPTED = 10_000;

/** The real Codex behind this server, and which client stands how with it. */
export class NativeCodex {
  readonly upstream: NativeUpstream;
  readonly fresh = new FreshThreads();
  /** As the real server told it; null until it did. */
  home: string | null = null;
  /** The names of the members of its models; null until one was seen. */
  modelMembers: ReadonlySet<string> | null = null;
  /** Its models want a login, and nobody is logged in; false until a client has asked. */
  lacksLogin = false;
  readonly #ownership: Ownership;
  readonly #log: Logger;
  readonly #gates = new Map<Connection, NativeGate>();
  readonly #adopted = new Set<string>();

  constructor(options: { upstream: NativeUpstream; ownership: Ownership; log: Logger }) {
    this.upstream = options.upstream;
    this.#ownership = options.ownership;
    this.#log = options.log;
    this.upstream.start();
  }

  attach(connection: Connection): NativeGate {
    const gate = new NativeGate({ codex: this, connection, log: this.#log });
    this.#gates.set(connection, gate);
    return gate;
  }

  /** Tells the real server who this client is. Resolves when it has answered, or cannot do so at once. */
  async introduce(connection: Connection): Promise<void> {
    const answer = await this.gateOf(connection)?.introduce();
    const result = answer == null ? undefined : membersOf(answer)?.get("result");
    if (answer != null && result !== undefined) this.home = textMember(answer, result.start, "codexHome") ?? this.home;
  }

  /** The client's `initialize` is answered. */
  release(connection: Connection): void {
    this.gateOf(connection)?.session.release();
  }

  detach(connection: Connection): void {
    this.#gates.delete(connection);
  }

  gateOf(connection: Connection): NativeGate | null {
    return this.#gates.get(connection) ?? null;
  }

  owns(threadId: string): boolean {
    return this.#ownership.ownsThread(threadId);
  }

  mayBeModel(id: string): boolean {
    return this.#ownership.mayBeModel(id);
  }

  isModel(id: string): Promise<boolean> {
    return this.#ownership.isModel(id);
  }

  isOurCursor(cursor: string): boolean {
    return this.#ownership.isOurCursor(cursor);
  }

  understands(method: string, params: string | null): boolean {
    return this.#ownership.understands(method, params);
  }

  isForeignByDefault(connection: Connection): boolean | Promise<boolean> {
    return this.#ownership.isForeignByDefault(connection);
  }

  usesForeign(connection: Connection): boolean {
    return this.#ownership.usesForeign(connection);
  }

  get hasAdopted(): boolean {
    return this.#adopted.size > 0;
  }

  isAdopted(threadId: string): boolean {
    return this.#adopted.has(threadId);
  }

  /** Takes over a thread that has had no turn. False when there is none of that id, or it has had one. */
  adopt(threadId: string): boolean {
    const thread = this.fresh.get(threadId);
    if (thread === null) return false;
    const watchers = [...this.#gates].filter(([, gate]) => gate.held.has(threadId));
    this.#ownership.adopt(threadId, thread, watchers.map(([connection]) => connection));
    this.fresh.delete(threadId);
    this.#adopted.add(threadId);
    const oldest = this.#adopted.values().next().value;
    if (this.#adopted.size > MOST_ADOPTED && oldest !== undefined) this.#adopted.delete(oldest);
    for (const [, gate] of watchers) gate.held.delete(threadId);
    // There it is nothing yet, and shall not stay as that.
    watchers[0]?.[1].session.ask("thread/delete", { threadId }).catch((error: unknown) => this.#log.debug("an adopted thread stays with the Codex app-server", { error }));
    return true;
  }

  close(): Promise<void> {
    return this.upstream.close();
  }
}
