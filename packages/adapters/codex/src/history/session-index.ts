import { basename } from "node:path";
import { type DiagnosticCounter, recordsOf, ScannedFile, type TurnLine } from "@foldcast/adapter-kit";
import type { HarnessEvent, HistoryDiagnostic, HistoryIndex, HistoryTurn, TurnOutcome } from "@foldcast/protocol-core/harness";
import { findRollout } from "./fork-parent.ts";
import { idsInName } from "./session-meta.ts";
import { nameOf } from "./thread-names.ts";
import { SessionScan } from "./session-scan.ts";
import { turnEvents } from "./turn-events.ts";
import type { IndexedTurn } from "./turn-list.ts";

type ReadTurn = { index: number; events: readonly HarnessEvent[] };

/** Forks of forks that are followed. */
const MAX_FORKS = 32;

/** Index of one rollout; made by `openSession`. Texts are never kept, only places in the file. */
export class SessionIndex implements HistoryIndex {
  readonly #file: ScannedFile<SessionScan>;
  /** The rollout that this one goes on from, as far as it counts; a fork's file holds only what came after. */
  readonly #parent: SessionIndex | null;
  /** The name that the person gave it, or Codex; it stands in a list beside the rollouts. */
  #name: string | null;

  constructor(file: ScannedFile<SessionScan>, parent: SessionIndex | null, name: string | null) {
    this.#file = file;
    this.#parent = parent;
    this.#name = name;
  }

  get file(): string {
    return this.#file.path;
  }

  get nativeSessionId(): string {
    return this.#scan.meta?.id ?? idsInName(basename(this.file))?.session ?? basename(this.file, ".jsonl");
  }

  get parentNativeSessionId(): string | null {
    return this.#scan.meta?.parentId ?? null;
  }

  get cwd(): string | null {
    return this.#scan.cwd;
  }

  get title(): string | null {
    return this.#name ?? this.#scan.title;
  }

  get turns(): readonly HistoryTurn[] {
    const own = this.#scan.list.turns;
    return [...this.#inherited(), ...own.map((turn, at) => ({
      key: turn.key, prompt: turn.prompt, outcome: outcomeOf(turn, at === own.length - 1), startedAt: turn.startedAt, completedAt: turn.completedAt,
    }))];
  }

  get diagnostics(): readonly HistoryDiagnostic[] {
    return this.#file.diagnostics.list();
  }

  async *read(from: number, to: number): AsyncIterable<ReadTurn> {
    const inherited = this.#inherited().length;
    const first = Math.max(0, from);
    if (this.#parent !== null && first < inherited) yield* this.#parent.read(first, Math.min(Math.max(0, to), inherited));
    const own = this.#scan.list.turns;
    let index = Math.max(0, first - inherited);
    const turns = own.slice(index, Math.max(0, to - inherited));
    const last = own.at(-1);
    for await (const events of this.#file.read(turns, (turn, lines, diagnostics) => this.#eventsOf(turn, outcomeOf(turn, turn === last), lines, diagnostics))) {
      yield { index: inherited + index++, events };
    }
  }

  refresh(): Promise<boolean> {
    return this.#file.refresh(async () => {
      this.#name = await nameOf(this.nativeSessionId, this.file);
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  get #scan(): SessionScan {
    return this.#file.scan;
  }

  /** A fork may have taken back turns of its parent. */
  #inherited(): readonly HistoryTurn[] {
    if (this.#parent === null) return [];
    const { turns } = this.#parent;
    return turns.slice(0, Math.max(0, turns.length - this.#scan.takenBack));
  }

  #eventsOf(turn: IndexedTurn, outcome: TurnOutcome, lines: readonly TurnLine[], diagnostics: DiagnosticCounter): HarnessEvent[] {
    return turnEvents({ turn, outcome, records: recordsOf(lines, diagnostics), sessionId: this.nativeSessionId, cwd: this.cwd, diagnostics });
  }
}

/**
 * A rollout whose last turn has no end was cut off in the middle of it. Any other missing end is just that: versions
 * before 0.104 record none, and there only a debt of the agent tells that the last turn was not over.
 */
function outcomeOf(turn: IndexedTurn, isLast: boolean): TurnOutcome {
  if (turn.end !== null) return turn.end;
  return isLast && (turn.explicit || turn.busy) ? { status: "cancelled" } : { status: "unknown" };
}

/** Indexes a rollout. Rejects with a readable message when it cannot be read or holds no session. */
export async function openSession(path: string): Promise<SessionIndex> {
  if (path.endsWith(".zst")) throw new Error(`${path} is compressed; \`zstd -d\` makes a file of it that can be read`);
  return await openPart(path, null, []);
}

/** `before`: the ordinal up to which a fork of this session knows it. `forks`: the files that led here. */
async function openPart(path: string, before: number | null, forks: readonly string[]): Promise<SessionIndex> {
  const file = await ScannedFile.open(path, (diagnostics) => new SessionScan(diagnostics, before));
  const { scan, diagnostics } = file;
  if (scan.lines === 0) throw new Error(`${path} holds no Codex session`);
  const parent = await openParent(path, scan, [...forks, path], diagnostics);
  return new SessionIndex(file, parent, await nameOf(scan.meta?.id ?? null, path));
}

async function openParent(path: string, scan: SessionScan, forks: readonly string[], diagnostics: DiagnosticCounter): Promise<SessionIndex | null> {
  const base = scan.meta?.base ?? null;
  if (base === null) return null;
  const parent = await findRollout(base.id, path);
  if (parent === null || forks.includes(parent) || forks.length > MAX_FORKS) {
    diagnostics.count("fork.parentMissing", base.id);
    return null;
  }
  return await openPart(parent, base.before, forks).catch((error: unknown) => {
    diagnostics.count("fork.parentUnreadable", error instanceof Error ? error.message : null);
    return null;
  });
}
