import { open, type FileHandle } from "node:fs/promises";
import type { HistoryDiagnostic } from "@foldcast/protocol-core/harness";
import { DiagnosticCounter } from "./diagnostics.ts";
import { changeSince, demandSameFile, fileState, type FileState, lookAt, stillBeginsWith } from "./growth.ts";
import type { PieceList } from "./pieces.ts";
import { turnLines, type TurnLine } from "./turn-lines.ts";

/** Reads a file's lines in their order, each time on from where it stopped. */
export interface LineScan {
  readonly scanned: number;
  read(file: FileHandle): Promise<unknown>;
}

/** What an index can go on from, beside its scan; as JSON. */
export interface KeptFile {
  state: FileState;
  counted: string[];
  diagnostics: HistoryDiagnostic[];
}

type MakeScan<Scan> = (diagnostics: DiagnosticCounter, fromKept: boolean) => Scan;

/**
 * The file of a session as an index has it: scanned once and from there on as it grows, anew when it was rewritten; and
 * each turn's peculiarities counted once, however often it is read. Nothing is held open between calls.
 */
export class ScannedFile<Scan extends LineScan> {
  readonly path: string;
  readonly #make: MakeScan<Scan>;
  #scan: Scan;
  #state: FileState;
  #diagnostics: DiagnosticCounter;
  readonly #counted: Set<string>;
  #refreshing: Promise<boolean> = Promise.resolve(false);

  private constructor(path: string, make: MakeScan<Scan>, scan: Scan, state: FileState, diagnostics: DiagnosticCounter, counted: readonly string[]) {
    this.path = path;
    this.#make = make;
    this.#scan = scan;
    this.#state = state;
    this.#diagnostics = diagnostics;
    this.#counted = new Set(counted);
  }

  /** `kept` counts where the file still begins with what was scanned then; `make` is told whether it does. Rejects when the file cannot be read. */
  static async open<Scan extends LineScan>(path: string, make: MakeScan<Scan>, kept: KeptFile | null = null): Promise<ScannedFile<Scan>> {
    const file = await open(path);
    try {
      const fits = kept !== null && (await stillBeginsWith(file, kept.state));
      const diagnostics = new DiagnosticCounter();
      for (const { code, count, sample } of fits ? kept.diagnostics : []) diagnostics.count(code, sample, count);
      const scan = make(diagnostics, fits);
      const seen = await lookAt(file);
      await scan.read(file);
      return new ScannedFile(path, make, scan, await fileState(file, seen, scan.scanned), diagnostics, fits ? kept.counted : []);
    } finally {
      await file.close();
    }
  }

  get scan(): Scan {
    return this.#scan;
  }

  get diagnostics(): DiagnosticCounter {
    return this.#diagnostics;
  }

  keep(): KeptFile {
    return { state: this.#state, counted: [...this.#counted], diagnostics: this.#diagnostics.list() };
  }

  /**
   * What `eventsOf` makes of the lines of each turn, in their order. `isMarked` as in `turnLines`. Rejects where the file
   * was written anew since the last look.
   */
  async *read<Turn extends { readonly key: string; readonly pieces: PieceList }, Events>(
    turns: readonly Turn[], eventsOf: (turn: Turn, lines: readonly TurnLine[], diagnostics: DiagnosticCounter) => Events | Promise<Events>, isMarked?: (text: string) => boolean,
  ): AsyncGenerator<Events> {
    if (turns.length === 0) return;
    const file = await open(this.path);
    try {
      await demandSameFile(file, this.path, this.#state);
      for await (const { turn, lines } of turnLines(turns, file, isMarked)) {
        const diagnostics = this.#counted.has(turn.key) ? new DiagnosticCounter() : this.#diagnostics;
        this.#counted.add(turn.key);
        yield await eventsOf(turn, lines, diagnostics);
      }
    } finally {
      await file.close();
    }
  }

  /** Looks for growth, one look at a time; `onChange` runs before it resolves with true. */
  refresh(onChange: () => Promise<void>): Promise<boolean> {
    const run = (): Promise<boolean> => this.#refresh(onChange);
    this.#refreshing = this.#refreshing.then(run, run);
    return this.#refreshing;
  }

  async #refresh(onChange: () => Promise<void>): Promise<boolean> {
    const file = await open(this.path);
    try {
      const change = await changeSince(file, this.#state);
      if (change === "same") return false;
      if (change === "rewritten") {
        this.#diagnostics = new DiagnosticCounter();
        this.#scan = this.#make(this.#diagnostics, false);
        this.#counted.clear();
      }
      const seen = await lookAt(file);
      await this.#scan.read(file);
      this.#state = await fileState(file, seen, this.#scan.scanned);
      await onChange();
      return true;
    } finally {
      await file.close();
    }
  }
}
