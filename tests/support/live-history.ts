import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { z } from "zod";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { foldcast, jsonLines } from "./command.ts";
import type { DesktopTurn } from "./desktop-turns.ts";
import { withoutIds } from "./normal.ts";
import { REPO } from "./paths.ts";

/** What of a turn must be the same, whoever tells it: everything but times. */
export interface ToldTurn {
  status: unknown;
  error: unknown;
  items: readonly object[];
}

/** One place where what a saved file gives is known to differ from what was seen live, and why. */
const exception = z.strictObject({
  harness: z.string(),
  /** Name of the scenario; `*` = any. */
  scenario: z.string(),
  /** As in `differences`, without the numbers of turn and item. */
  path: z.string(),
  /** What the program's own file (or its stream) has no member for. */
  missing: z.string().min(20),
});
export type LiveHistoryException = z.infer<typeof exception>;

export function loadExceptions(): LiveHistoryException[] {
  return z.array(exception).parse(JSON.parse(readFileSync(join(REPO, "tests/real/live-history-exceptions.json"), "utf8")));
}

/** A scenario that ran, and where its program saved it. */
export interface SavedRun {
  name: string;
  live: DesktopTurn[];
  file: string;
}

/** Counts which exceptions were needed, so that none stays longer than its reason. */
export class LiveHistory {
  readonly #harness: string;
  readonly #exceptions: readonly LiveHistoryException[];
  readonly #used = new Set<LiveHistoryException>();

  constructor(harness: string) {
    this.#harness = harness;
    this.#exceptions = loadExceptions().filter((each) => each.harness === harness);
  }

  /** Compares what was seen live with the program's own files, read by a new process. Ids of threads and turns may differ. */
  async expectSameFiles(runs: readonly SavedRun[], { sessions, env }: { sessions: string; env: Readonly<Record<string, string>> }): Promise<void> {
    const { stdout, stderr, code } = await foldcast(["replay", sessions, "--json", "--items"], { env });
    expect(code, stderr).toBe(0);
    const saved = new Map<unknown, ToldTurn[]>();
    let current: ToldTurn[] = [];
    for (const row of jsonLines(stdout)) {
      if (row["type"] === "session") saved.set(row["file"], (current = []));
      if (row["type"] === "turn") current.push({ status: row["status"], error: undefined, items: (row["threadItems"] as ThreadItem[]).map(withoutTimes) });
    }
    for (const { name, file, live } of runs) {
      const seen = live.filter(hasItems).map((turn) => ({ ...toldTurn(turn), error: undefined }));
      this.#expectSame(name, withoutIds(seen), withoutIds(saved.get(file) ?? []));
    }
  }

  /** Compares with what a host tells after a restart: the same ids too. */
  expectSameTold(scenario: string, live: readonly DesktopTurn[], told: readonly DesktopTurn[]): void {
    const [seen, saved] = [live.filter(hasItems), told.filter(hasItems)];
    // That turns are missing is a difference of its own.
    expect.soft(saved.map((turn) => turn.id), `${this.#harness}, ${scenario}: ids of turns`).toEqual(seen.slice(0, saved.length).map((turn) => turn.id));
    this.#expectSame(scenario, seen.map(toldTurn), saved.map(toldTurn));
  }

  /** To be called when all scenarios have run. */
  expectAllUsed(): void {
    expect(this.#exceptions.filter((each) => !this.#used.has(each))).toEqual([]);
  }

  #expectSame(scenario: string, live: readonly ToldTurn[], saved: readonly ToldTurn[]): void {
    const unknown = differences(live, saved).filter(({ path }) => {
      const known = this.#exceptions.find((each) => (each.scenario === "*" || each.scenario === scenario) && each.path === path);
      if (known !== undefined) this.#used.add(known);
      return known === undefined;
    });
    expect.soft(unknown, `${this.#harness}, ${scenario}: live and saved`).toEqual([]);
  }
}

export interface Difference {
  /** `turns` (their number), `status`, `error`, `items` (their order of types), or `<type of item>.<member>`. */
  path: string;
  at: string;
  live: unknown;
  saved: unknown;
}

/** Where two tellings of the same turns differ. */
export function differences(live: readonly ToldTurn[], saved: readonly ToldTurn[]): Difference[] {
  const found: Difference[] = [];
  const compare = (path: string, at: string, one: unknown, other: unknown): void => {
    if (!isDeepStrictEqual(one, other)) found.push({ path, at, live: one, saved: other });
  };
  compare("turns", "", live.length, saved.length);
  live.slice(0, saved.length).forEach((turn, index) => {
    const other = saved[index]!;
    const at = `turn ${index}`;
    compare("status", at, turn.status, other.status);
    compare("error", at, turn.error, other.error);
    const types = (items: readonly object[]): unknown[] => items.map((item) => ("type" in item ? item.type : null));
    compare("items", at, types(turn.items), types(other.items));
    if (!isDeepStrictEqual(types(turn.items), types(other.items))) return;
    turn.items.forEach((item, place) => {
      const [one, two] = [item, other.items[place]!].map((each) => each as Record<string, unknown>) as [Record<string, unknown>, Record<string, unknown>];
      for (const member of new Set([...Object.keys(one), ...Object.keys(two)])) compare(`${String(one["type"])}.${member}`, `${at}, item ${place}`, one[member], two[member]);
    });
  });
  return found;
}

/** A turn without any is there for a question alone. */
function hasItems(turn: DesktopTurn): boolean {
  return turn.items.length > 0;
}

function toldTurn(turn: DesktopTurn): ToldTurn {
  return { status: turn.status, error: turn.error, items: turn.items.map(withoutTimes) };
}

const TIMES: ReadonlySet<string> = new Set(["startedAtMs", "completedAtMs", "durationMs"]);

function withoutTimes(item: ThreadItem): object {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !TIMES.has(name)));
}

/** The matrix as Markdown: what ran, by program. */
export function matrixTable(rows: ReadonlyMap<string, string>, program: string): string {
  return [`| Scenario | ${program} |`, "|---|---|", ...[...rows].map(([name, cell]) => `| ${name} | ${cell} |`)].join("\n");
}
