import { open, stat } from "node:fs/promises";
import { scanLines, parseRecord } from "@foldcast/adapter-kit";
import { decode } from "../history/dialects.ts";
import type { NotedLine } from "../history/notes.ts";
import type { SideFiles } from "../history/side-files.ts";

/** While something is awaited, and while nothing is. */
const BUSY_MS = 15;
const IDLE_MS = 250;

/**
 * Follows a session's file while the program writes it. Polling: what notifies of changes differs by platform and file
 * system, and one look at a file costs little.
 */
export class WireTail {
  readonly #file: string;
  readonly #side: SideFiles;
  readonly #onLine: (line: NotedLine) => Promise<void>;
  #offset: number;
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<boolean> = Promise.resolve(false);
  #busy = false;
  #stopped = false;

  private constructor(file: string, offset: number, side: SideFiles, onLine: (line: NotedLine) => Promise<void>) {
    this.#file = file;
    this.#offset = offset;
    this.#side = side;
    this.#onLine = onLine;
  }

  /** From the end of the file as it is now; one that is not there yet is read from its beginning. */
  static async start(file: string, side: SideFiles, onLine: (line: NotedLine) => Promise<void>): Promise<WireTail> {
    const size = await stat(file).then((stats) => stats.size, () => 0);
    const tail = new WireTail(file, size, side, onLine);
    tail.#schedule();
    return tail;
  }

  /** Looks more often. */
  set busy(busy: boolean) {
    this.#busy = busy;
    if (busy) this.#schedule();
  }

  /** Reads what is new now; true when there was something. */
  read(): Promise<boolean> {
    const run = (): Promise<boolean> => this.#read();
    this.#reading = this.#reading.then(run, run);
    return this.#reading;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#reading.catch(() => undefined);
  }

  #schedule(): void {
    if (this.#stopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.read().catch(() => false).then(() => this.#schedule());
    }, this.#busy ? BUSY_MS : IDLE_MS);
    this.#timer.unref();
  }

  async #read(): Promise<boolean> {
    if (this.#stopped) return false;
    const size = await stat(this.#file).then((stats) => stats.size, () => 0);
    // A file that became shorter was written anew, as a migration of its format does: what it says was told.
    if (size < this.#offset) this.#offset = size;
    if (size === this.#offset) return false;
    const lines: string[] = [];
    const file = await open(this.#file);
    try {
      const scan = await scanLines(file, (bytes, start, end, _offset, ended) => {
        if (ended) lines.push(bytes.toString("utf8", start, end));
      }, { from: this.#offset });
      this.#offset = scan.unendedFrom;
    } finally {
      await file.close();
    }
    for (const text of lines) {
      const record = parseRecord(text);
      if (record !== null) await this.#onLine(decode(text.includes("\"blobref:") ? await this.#side.withBlobs(record) : record));
    }
    return lines.length > 0;
  }
}

const PROMPT = Buffer.from("\"type\":\"turn.prompt\"");

/** The number that the program will give to the next turn, by the numbers of those before; 0 for a new session. */
export async function nextTurnOf(path: string): Promise<number> {
  const file = await open(path).catch(() => null);
  if (file === null) return 0;
  let next = 0;
  try {
    await scanLines(file, (bytes, start, end) => {
      // Only the lines that begin turns are read.
      const at = bytes.indexOf(PROMPT, start);
      if (at === -1 || at >= Math.min(end, start + 64)) return;
      const turnId = parseRecord(bytes.toString("utf8", start, end))?.["turnId"];
      if (typeof turnId === "number" && turnId >= next) next = turnId + 1;
    });
  } finally {
    await file.close();
  }
  return next;
}
