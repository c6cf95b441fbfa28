import { homedir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { joinOwner } from "../rpc/bridge.ts";
import type { Joined } from "../rpc/bridge.ts";
import type { Connection, Transport } from "../rpc/connection.ts";
import type { Listener } from "../rpc/listen.ts";
import { linesDoor, localDoors, openLinesDoor } from "../rpc/local-door.ts";
import { StoreLockedError } from "../store/lock.ts";
import type { RunningHost } from "./start-host.ts";

/** One process owns a data folder; all others that serve from it pass their clients on to that one. */
export type Share = { role: "owner"; running: RunningHost } | { role: "guest"; joined: Joined; lines: string };

/** As long as an owner may need from its lock to its doors, on a busy machine that starts ten of them at once. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 150;

/**
 * Starts the owner, or joins the one that is there; of several that start at once one wins. Throws the
 * `StoreLockedError` when the owner lets nobody in for a while.
 */
export async function ownOrJoin(start: () => RunningHost, model: string | null, patienceMs: number = PATIENCE_MS): Promise<Share> {
  for (let waited = 0; ; ) {
    try {
      return { role: "owner", running: start() };
    } catch (error) {
      if (!(error instanceof StoreLockedError)) throw error;
      const lines = error.owner?.lines ?? null;
      if (lines !== null) {
        const asked = performance.now();
        const joined = await within(patienceMs - waited, joinOwner(lines, { foldcast: "join", model }));
        if (joined !== null) return { role: "guest", joined, lines };
        // One that hangs still takes connections and says nothing.
        waited += performance.now() - asked;
      }
      if (waited >= patienceMs) throw error;
    }
    // Not all at the same moment: each look takes the lock for an instant.
    const delay = LOOK_AGAIN_MS * (0.5 + Math.random());
    await pause(delay);
    waited += delay;
  }
}

/** What comes later than this is let go; null then. */
async function within(ms: number, joining: Promise<Joined | null>): Promise<Joined | null> {
  const late = new AbortController();
  const joined = await Promise.race([joining, pause(ms, null, { signal: late.signal }).catch(() => null)]);
  late.abort();
  if (joined === null) void joining.then((left) => left?.socket.destroy());
  return joined;
}

/** Takes on a client of this process; a model that is given is the default of its threads. */
export function admit({ host }: RunningHost, transport: Transport, model: string | null): Connection {
  const connection = host.connect(transport);
  if (model !== null) host.setDefaultModel(connection, model);
  return connection;
}

/** The doors for this user alone, open until closed; who came through them can be waited for. */
export class OpenDoors {
  readonly #running: RunningHost;
  readonly #listeners: Listener[] = [];
  #guests = 0;
  #onEmpty: () => void = () => undefined;

  private constructor(running: RunningHost) {
    this.#running = running;
  }

  /** Opens what can be opened and tells others of it. What cannot is no reason not to serve; it is logged. */
  static async open(running: RunningHost, dataDir: string): Promise<OpenDoors> {
    const doors = new OpenDoors(running);
    const lines = running.store.memoryReason === null ? linesDoor(dataDir, homedir()) : null;
    if (lines === null) return doors;
    const { log, store } = running;
    await doors.#attempt(async () => {
      doors.#listeners.push(await openLinesDoor(lines, (transport, { model }) => doors.#admit(transport, model), () => log.warn("skipped a line over the limit"), codexWordsOf(running)));
      store.announce({ lines });
    });
    const paths = localDoors(dataDir, homedir());
    if (paths === null) return doors;
    await doors.#attempt(async () => {
      // Only now: a client on standard streams does not wait for the code of WebSockets.
      const { listen } = await import("../rpc/listen.ts");
      doors.#listeners.push(await listen({ kind: "unix", path: paths.socket }, { connect: (transport, url) => doors.#admit(transport, modelIn(url)), token: null }));
      store.announce({ socket: paths.socket });
    });
    return doors;
  }

  /** Resolves when nobody is inside. */
  async empty(): Promise<void> {
    if (this.#guests > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Before the store is let go: the next owner opens the same doors. */
  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  #admit(transport: Transport, model: string | null): Connection {
    const connection = admit(this.#running, transport, model);
    this.#guests += 1;
    void connection.closed.then(() => {
      this.#guests -= 1;
      if (this.#guests === 0) this.#onEmpty();
    });
    return connection;
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#running.log.warn("other instances of foldcast cannot join this one", { error });
    }
  }
}

/** Behind its subcommand; undefined where no Codex is started. */
function codexWordsOf({ host }: RunningHost): readonly string[] | undefined {
  const native = host.options.native ?? null;
  return native === null || "connect" in native ? undefined : native.args.slice(1);
}

/** The client's default model in the address that it asked for: `/rpc?model=ID`. */
export function modelIn(url: string): string | null {
  return new URLSearchParams(url.split("?")[1] ?? "").get("model");
}
