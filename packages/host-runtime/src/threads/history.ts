import type { DeliveryPolicy } from "@foldcast/protocol-core/delivery";
import type { HarnessEvent, HistoryIndex, HistorySource, TurnOutcome } from "@foldcast/protocol-core/harness";
import { TurnProjector } from "@foldcast/protocol-core/projection";
import type { ItemDetail, ProjectorOptions } from "@foldcast/protocol-core/projection";
import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { Turn } from "@foldcast/protocol-core/wire";
import type { ThreadStore, TurnFact } from "../store/store.ts";
import { withDetail } from "./feed.ts";
import { turnIdFor } from "./ids.ts";
import type { KeptIndexes } from "./kept-indexes.ts";

/** For whom a turn is projected. */
export interface Viewer {
  policy: DeliveryPolicy;
  detail: boolean;
}

export interface ThreadHistoryOptions {
  source: HistorySource;
  file: string;
  harness: string;
  threadId: string;
  store: ThreadStore;
  indexes: KeptIndexes;
  /** Everything that a projector of one of these turns needs but the turn's id. */
  projector: Omit<ProjectorOptions, "turnId">;
}

/** Items of a turn that is longer than a page. */
const LONG_TURN = 200;
const FEW_TURNS = 16;

/** A turn of a saved session. */
export type SavedTurn = TurnFact & { turnKey: string };

/** The ended turns of one thread, projected from the harness's own file whenever they are asked for. */
export class ThreadHistory {
  readonly #options: ThreadHistoryOptions;
  #index: HistoryIndex | null = null;
  #ids: readonly string[] = [];
  /** The index knows more than the one that is kept. */
  #grown = false;
  /** The last long turn: pages within it must not project all of it again each. */
  #longTurn: { key: string; turn: Turn } | null = null;
  #busy: Promise<void> = Promise.resolve();

  constructor(options: ThreadHistoryOptions) {
    this.#options = options;
  }

  get file(): string {
    return this.#options.file;
  }

  /** Our turn ids, oldest first, after a look at what was appended since. Rejects when the file cannot be read. */
  turnIds(): Promise<readonly string[]> {
    return this.#inOrder(async () => {
      await this.#refresh();
      return this.#ids;
    });
  }

  /** The same turns with what binds them to the file. */
  savedTurns(): Promise<readonly SavedTurn[]> {
    return this.#inOrder(async () => {
      const { turns } = await this.#refresh();
      return turns.map(({ key, outcome, startedAt, completedAt }, at) => ({ turnId: this.#ids[at]!, turnKey: key, outcome, startedAt, completedAt }));
    });
  }

  /**
   * Hands over turns `from` ≤ i < `to` of the last `turnIds`, in order, each as soon as it is projected: of a long
   * history no more is in memory than what `use` keeps.
   */
  project(from: number, to: number, viewer: Viewer, use: (turn: Turn) => void): Promise<void> {
    return this.#inOrder(async () => {
      const index = this.#index ?? (await this.#refresh());
      const key = to - from === 1 ? this.#longTurnKey(index, from, viewer) : null;
      if (key !== null && this.#longTurn?.key === key) return use(this.#longTurn.turn);
      const factOf = this.#factsOf(to - from);
      for await (const { index: at, events } of index.read(from, to)) {
        const turn = this.#project(this.#ids[at]!, factOf(index.turns[at]!.key), events, viewer);
        if (key !== null && turn.items.length >= LONG_TURN) this.#longTurn = { key, turn };
        use(turn);
      }
    });
  }

  /** Lets go of the file; a later use opens it again. */
  close(): Promise<void> {
    return this.#inOrder(async () => {
      const index = this.#index;
      if (index !== null && this.#grown) this.#options.indexes.keep(index);
      this.#index = null;
      this.#ids = [];
      this.#longTurn = null;
      this.#grown = false;
      await index?.close();
    });
  }

  async #refresh(): Promise<HistoryIndex> {
    if (this.#index === null) this.#index = await this.#readable(this.#options.indexes.open(this.#options.source, this.#options.file));
    else if (await this.#readable(this.#index.refresh())) {
      this.#ids = [];
      this.#longTurn = null;
      this.#grown = true;
    }
    const { turns, nativeSessionId } = this.#index;
    if (this.#ids.length === turns.length) return this.#index;
    const { harness, store, threadId } = this.#options;
    const ours = new Map(store.turns(threadId).map((fact) => [fact.turnKey, fact.turnId]));
    this.#ids = turns.map(({ key }) => ours.get(key) ?? turnIdFor(harness, nativeSessionId, key));
    return this.#index;
  }

  /** A file that is gone, closed or damaged is no fault of the host: who asks for it is told which. */
  async #readable<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw invalidRequest(`the saved session ${this.#options.file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** One use at a time: the index must not be closed or refreshed under a reader. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#busy.then(work);
    this.#busy = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Everything that a projection of the turn depends on, in a file that has not changed. */
  #longTurnKey(index: HistoryIndex, at: number, viewer: Viewer): string | null {
    const turn = index.turns[at];
    if (turn === undefined) return null;
    return JSON.stringify([this.#ids[at], viewer, this.#options.store.turnByKey(this.#options.threadId, turn.key)]);
  }

  /** What the host knows of a turn by its key: asked for each of a few, read at once for many. */
  #factsOf(turns: number): (key: string) => TurnFact | null {
    const { store, threadId } = this.#options;
    if (turns <= FEW_TURNS) return (key) => store.turnByKey(threadId, key);
    // The later one of two with the same key counts, as in `turnByKey`.
    const facts = new Map(store.turns(threadId).map((fact) => [fact.turnKey, fact]));
    return (key) => facts.get(key) ?? null;
  }

  #project(turnId: string, fact: TurnFact | null, events: readonly HarnessEvent[], viewer: Viewer): Turn {
    const projector = new TurnProjector({ ...this.#options.projector, turnId });
    const details = new Map<string, ItemDetail>();
    for (const event of withFact(events, fact)) {
      for (const output of projector.apply(event)) {
        if ((output.type === "item.started" || output.type === "item.completed") && output.detail !== undefined) details.set(output.item.id, output.detail);
      }
    }
    const turn = projector.turn(viewer.policy);
    const first = fact?.origin === undefined ? undefined : turn.items.find(({ type }) => type === "userMessage");
    if (first !== undefined) details.set(first.id, { ...details.get(first.id), origin: fact!.origin });
    return viewer.detail ? { ...turn, items: turn.items.map((item) => withDetail(item, details.get(item.id))) } : turn;
  }
}

/**
 * The events with the host's own knowledge of the end in them: a host fact is more certain than native evidence. A turn
 * of ours whose end nobody recorded was interrupted; one of others is of unknown outcome. Every turn gets one end.
 */
function withFact(events: readonly HarnessEvent[], fact: TurnFact | null): readonly HarnessEvent[] {
  const last = events.at(-1);
  const end = last?.type === "turn.completed" ? last : null;
  const outcome: TurnOutcome = fact === null ? (end?.outcome ?? { status: "unknown" }) : (fact.outcome ?? { status: "cancelled" });
  if (end !== null && (fact === null || sameOutcome(end.outcome, outcome))) return events;
  const rest = end === null ? events : events.slice(0, -1);
  return [...rest, { type: "turn.completed", outcome, at: end?.at ?? fact?.completedAt ?? null, ...(end?.durationMs === undefined ? {} : { durationMs: end.durationMs }) }];
}

function sameOutcome(a: TurnOutcome, b: TurnOutcome): boolean {
  return a.status === b.status && (a.status !== "failed" || JSON.stringify(a) === JSON.stringify(b));
}
