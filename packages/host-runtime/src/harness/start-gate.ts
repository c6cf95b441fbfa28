import type { Schedule } from "../schedule.ts";

export interface StartGateOptions {
  /** How many may start at a time. */
  limit: number;
  /** Milliseconds after which a start that hangs no longer keeps others waiting. */
  patienceMs?: number;
  schedule: Schedule;
}

const PATIENCE_MS = 30_000;

/**
 * Lets few harness processes start at a time, in the order in which they came: on a small machine some that start
 * together are five to ten times slower than one after the other.
 */
export class StartGate {
  readonly #limit: number;
  readonly #patienceMs: number;
  readonly #schedule: Schedule;
  readonly #waiting: (() => void)[] = [];
  #starting = 0;

  constructor(options: StartGateOptions) {
    this.#limit = Math.max(1, options.limit);
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#schedule = options.schedule;
  }

  /** Does the work when it is its turn; settles as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#starting < this.#limit) this.#starting += 1;
    // Whoever leaves hands its place over, so that nobody who comes in between takes it.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let inside = true;
    const leave = (): void => {
      if (!inside) return;
      inside = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#starting -= 1;
      else next();
    };
    const callOff = this.#schedule(this.#patienceMs, leave);
    try {
      return await work();
    } finally {
      callOff();
      leave();
    }
  }
}
