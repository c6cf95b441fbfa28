/** Time that stands still until it is moved. */
export class VirtualClock {
  now = 0;
  #timers: { at: number; work: () => void }[] = [];

  readonly schedule = (ms: number, work: () => void): (() => void) => {
    const timer = { at: this.now + ms, work };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((each) => each !== timer));
  };

  pass(ms: number): void {
    this.now += ms;
    for (const timer of this.#timers.filter(({ at }) => at <= this.now)) {
      this.#timers = this.#timers.filter((each) => each !== timer);
      timer.work();
    }
  }
}
