import { existsSync } from "node:fs";
import type { Logger } from "../log/logger.ts";
import type { Schedule } from "../schedule.ts";
import { startNative } from "./child.ts";
import type { NativeChild } from "./child.ts";
import { oneLine } from "../terminal-text.ts";
import { lookAt, openLink } from "./link.ts";
import type { Link, LinkEvents } from "./link.ts";

/** How the real Codex is started: `<program> <args…> --listen unix://…`. */
export interface NativeProgram {
  /** Its path, or a name on the search path of `env`. */
  program: string;
  /** All that goes before `--listen`, the subcommand included: `-c features.x=true app-server --analytics-default-enabled`. */
  args: readonly string[];
  /** The whole environment of the child. */
  env: NodeJS.ProcessEnv;
}

/** A real Codex to connect to, wherever it comes from. */
export interface NativeUpstream {
  /** Begins to get it ready; returns at once. */
  start(): void;
  /** Whether it takes connections now. */
  readonly isUp: boolean;
  /** A connection of its own, as soon as it takes any. `events.closed` comes once, also for one that never opens. */
  connect(events: LinkEvents): Link;
  /** Resolves when it has ended. */
  close(): Promise<void>;
}

export interface UpstreamOptions extends NativeProgram {
  /** Where its socket lies; made private where it is missing. Short, for the path of a unix socket has little room. */
  dir: string;
  log: Logger;
  schedule: Schedule;
  /** How often it is asked for a sign of life; 10 seconds by default. One that gives none five times in a row is killed. */
  signEveryMs?: number;
}

const POLL_MS = 15;
/** Measured: the real server listens after half a second; a cold disk takes its time. */
const START_PATIENCE_MS = 20_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A run that lasted so long was no failed start: the pauses begin anew. */
const HEALTHY_MS = 10_000;

const SIGN_EVERY_MS = 10_000;
/** Counted, not timed: this process may have stood still itself, and then finds the sign and the end of the time together. */
const MOST_MISSED_SIGNS = 5;

/** One start of the program. */
interface Run {
  child: NativeChild;
  /** On the clock of `performance`. */
  began: number;
  /** Of clients. */
  links: number;
}

type Waiter = (outcome: Run | Error) => void;

/**
 * The one real Codex behind this server. It is started before it is needed, and again after a pause when it ends; what
 * waits for it gets it, or the reason why it cannot be had.
 */
export class Upstream implements NativeUpstream {
  readonly #options: UpstreamOptions;
  #run: Run | null = null;
  /** The same run as soon as its socket takes connections. */
  #up: Run | null = null;
  /** Runs that let nobody in any more and still serve whoever is inside. */
  readonly #lockedIn = new Set<Run>();
  #waiters: Waiter[] = [];
  #pauseMs = FIRST_PAUSE_MS;
  #stopTimer: () => void = () => undefined;
  /** Why the last start failed; null while one is under way or has worked. */
  #failure: Error | null = null;
  #closed = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The process id of the running program, which leads a process group; null while there is none. */
  get pid(): number | null {
    return this.#run?.child.pid ?? null;
  }

  get isUp(): boolean {
    return this.#up !== null;
  }

  start(): void {
    if (this.#closed || this.#run !== null) return;
    this.#stopTimer();
    this.#failure = null;
    const began = performance.now();
    let child: NativeChild;
    try {
      child = startNative(this.#options);
    } catch (error) {
      return this.#onEnd(error instanceof Error ? error.message : String(error), began);
    }
    const run: Run = { child, began, links: 0 };
    this.#run = run;
    void child.ended.then((words) => {
      if (this.#run === run) this.#onEnd(words, began);
      else this.#lockedIn.delete(run);
    });
    this.#probe(run);
  }

  connect(events: LinkEvents): Link {
    let run: Run | null = null;
    const inside = this.#whenUp().then((up) => {
      run = up;
      run.links += 1;
      return run.child.socket;
    });
    return openLink(inside, events, () => {
      if (run === null) return;
      run.links -= 1;
      this.#endUnused(run);
      run = null;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    this.#settle(new Error("the server has ended"));
    const children = [...(this.#run === null ? [] : [this.#run]), ...this.#lockedIn].map(({ child }) => child);
    for (const child of children) child.stop();
    await Promise.all(children.map(({ ended }) => ended));
  }

  #whenUp(): Promise<Run> {
    return new Promise((resolve, reject) => {
      const settle: Waiter = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
      if (this.#up !== null && !existsSync(this.#up.child.socket)) this.#lockIn(this.#up);
      if (this.#up !== null) return settle(this.#up);
      if (this.#closed) return settle(new Error("the server has ended"));
      // Who asks while it cannot be had is told so at once; the next start is on its way.
      if (this.#failure !== null) return settle(this.#failure);
      this.#waiters.push(settle);
    });
  }

  /** Its socket file says nothing of whether it listens: a connection does. */
  #probe(run: Run): void {
    const { child, began } = run;
    if (this.#run !== run || this.#closed) return;
    if (performance.now() - began > START_PATIENCE_MS) {
      this.#options.log.error("the Codex app-server does not listen", { pid: child.pid });
      return child.stop();
    }
    void lookAt(child.socket).then((door) => {
      if (door !== "open") this.#stopTimer = this.#options.schedule(POLL_MS, () => this.#probe(run));
      else if (this.#run === run) {
        this.#options.log.debug("the Codex app-server listens", { pid: child.pid, ms: Math.round(performance.now() - began) });
        this.#up = run;
        this.#settle(run);
        this.#watch(run);
      }
    });
  }

  /**
   * A program can live and serve nobody. That it lets a new connection in shows that it does serve, however long its turns
   * are and whatever its clients wait for.
   */
  #watch(run: Run): void {
    const { child } = run;
    let missed = 0;
    let sign = signOfLife(child.socket);
    const look = async (): Promise<void> => {
      child.freshen();
      const door = sign.state === "refused" ? await lookAt(child.socket) : "open";
      if (this.#up !== run || this.#closed) return sign.link.close();
      if (door === "gone") return this.#lockIn(run);
      missed = sign.state === "none" || door === "unclear" ? missed + 1 : 0;
      if (missed === MOST_MISSED_SIGNS) {
        this.#options.log.error("the Codex app-server lives and lets nobody in; it is killed", { pid: child.pid });
        sign.link.close();
        return child.stop();
      }
      if (sign.state !== "none") sign = signOfLife(child.socket);
      again();
    };
    const again = (): void => {
      this.#stopTimer = this.#options.schedule(this.#options.signEveryMs ?? SIGN_EVERY_MS, () => void look());
    };
    again();
  }

  /**
   * Its socket was taken away, and nothing brings it back. Who is connected has a program that works: it stays for them, and
   * whoever comes now gets another one, as several TUIs on one home have.
   */
  #lockIn(run: Run): void {
    this.#lockedIn.add(run);
    this.#onEnd("the file of its socket is gone; it stays for those who are connected", run.began);
    this.#endUnused(run);
  }

  #endUnused(run: Run): void {
    if (run.links === 0 && this.#lockedIn.has(run)) run.child.stop();
  }

  #onEnd(words: string, began: number): void {
    this.#run = null;
    const wasUp = this.#up !== null;
    this.#up = null;
    if (this.#closed) return;
    if (wasUp && performance.now() - began > HEALTHY_MS) this.#pauseMs = FIRST_PAUSE_MS;
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(pause * 2, LONGEST_PAUSE_MS);
    this.#options.log.warn("the Codex app-server is started again", { afterMs: pause, words: words.slice(-500) });
    // Of one that had served, what comes now waits for the next; one that cannot start is no use to wait for.
    if (!wasUp) this.#failure = new Error(`Codex cannot be started: ${lastLine(words)}`);
    if (this.#failure !== null) this.#settle(this.#failure);
    this.#stopTimer();
    this.#stopTimer = this.#options.schedule(pause, () => this.start());
  }

  #settle(outcome: Run | Error): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const settle of waiters) settle(outcome);
  }
}

interface Sign {
  link: Link;
  state: "none" | "seen" | "refused";
}

function signOfLife(socket: string): Sign {
  const sign: Sign = {
    state: "none",
    link: openLink(Promise.resolve(socket), {
      opened: () => {
        sign.state = "seen";
        sign.link.close();
      },
      frame: () => undefined,
      closed: () => (sign.state = "refused"),
      mayRest: () => true,
    }),
  };
  return sign;
}

/** The last of many lines, without what colours it on a terminal. */
function lastLine(words: string): string {
  const line = words.trim().split("\n").at(-1) ?? "";
  return oneLine(line).replace(/ ?\[[0-9;]*m/g, "").slice(0, 300);
}
