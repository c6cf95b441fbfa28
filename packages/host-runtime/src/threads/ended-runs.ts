import type { TurnRun } from "./turn-run.ts";

/** Ended turns that are remembered: all there is of a harness that saves nothing. */
const MAX_REMEMBERED = 50;
/** Of a harness that saves them: its file may be a little behind. */
const MAX_SAVED_HELD = 2;

/** `run` null: the harness's file has the turn; its place among the others is remembered. */
export interface EndedRun {
  id: string;
  run: TurnRun | null;
}

/** The newest turns that ended in this process, oldest first. */
export class EndedRuns {
  #runs: EndedRun[] = [];

  get list(): readonly EndedRun[] {
    return this.#runs;
  }

  get last(): TurnRun | null {
    return this.#runs.at(-1)?.run ?? null;
  }

  /** `saved`: the harness writes its turns into a file that can be read; old ones are read from there. */
  add(run: TurnRun, saved: boolean): void {
    this.#runs.push({ id: run.id, run });
    if (this.#runs.length > MAX_REMEMBERED) this.#runs.shift();
    if (saved) this.#letGo(MAX_SAVED_HELD);
  }

  /** Forgets all but these. */
  keep(ids: ReadonlySet<string>): void {
    this.#runs = this.#runs.filter(({ id }) => ids.has(id));
  }

  /** Lets go of what the file of a session that has ended must have by now. */
  sessionOver(saved: boolean): void {
    if (saved) this.#letGo(0);
  }

  #letGo(held: number): void {
    let left = held;
    this.#runs = this.#runs.toReversed().map((ended) => {
      if (!isOfHarness(ended.run)) return ended;
      left -= 1;
      return left >= 0 ? ended : { id: ended.id, run: null };
    }).toReversed();
  }
}

/** A turn that no harness began is in no file. */
export function isOfHarness(run: TurnRun | null): boolean {
  return run?.turnKey?.startsWith("host:") === false;
}
