/**
 * Pairs the copies of one thing that a rollout writes more than once, each kind of record for its own reader: the n-th
 * record of one kind with some text is the same as the n-th of another kind with that text.
 */
export class Copies<Thing> {
  readonly #counts = new Map<string, number>();
  readonly #things = new Map<string, Thing>();

  /** The thing that another kind of record made already, else the one that `make` gives. */
  place(source: string, key: string, make: () => Thing): { thing: Thing; isCopy: boolean } {
    const n = (this.#counts.get(`${source}\n${key}`) ?? 0) + 1;
    this.#counts.set(`${source}\n${key}`, n);
    const id = `${n}\n${key}`;
    const known = this.#things.get(id);
    if (known !== undefined) return { thing: known, isCopy: true };
    const thing = make();
    this.#things.set(id, thing);
    return { thing, isCopy: false };
  }
}
