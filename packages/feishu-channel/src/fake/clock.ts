/** Time of the fake's own rules: the real time plus whatever was jumped over. It never runs slower than real time. */
export class VirtualClock {
  #offset = 0;
  #timers: { readonly due: number; readonly act: () => void }[] = [];
  #wake: NodeJS.Timeout | undefined;

  /** Milliseconds since 1970. */
  now(): number {
    return Date.now() + this.#offset;
  }

  /** Jumps ahead; whatever falls due on the way happens in its order, each at its own time. */
  advance(ms: number): void {
    const target = this.now() + ms;
    for (let next = this.#timers[0]; next !== undefined && next.due <= target; next = this.#timers[0]) {
      this.#offset += Math.max(0, next.due - this.now());
      this.#timers.shift();
      next.act();
    }
    this.#offset += Math.max(0, target - this.now());
    this.#arm();
  }

  /** Acts once the time has come; returns the way to take it back. */
  after(ms: number, act: () => void): () => void {
    const timer = { due: this.now() + ms, act };
    const place = this.#timers.findIndex((other) => other.due > timer.due);
    this.#timers.splice(place < 0 ? this.#timers.length : place, 0, timer);
    this.#arm();
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  stop(): void {
    clearTimeout(this.#wake);
    this.#timers = [];
  }

  #arm(): void {
    clearTimeout(this.#wake);
    const next = this.#timers[0];
    if (next === undefined) return;
    this.#wake = setTimeout(() => this.advance(0), Math.min(Math.max(0, next.due - this.now()), 2 ** 31 - 1));
    this.#wake.unref();
  }
}
