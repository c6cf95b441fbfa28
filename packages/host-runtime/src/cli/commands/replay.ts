import { harnesses } from "@foldcast/adapter-registry";
import { toolMaps } from "@foldcast/adapter-registry/tool-maps";
import { LineWriter } from "../../replay/line-writer.ts";
import { replay } from "../../replay/replay.ts";
import { tableLines } from "../../replay/table.ts";
import type { Call } from "../command.ts";
import { pathFrom } from "../options/kinds.ts";
import type { REPLAY_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

/** A replay shorter than this needs no progress. */
const MOMENT_MS = 1000;

export async function run({ operands, settings, stdout, stderr }: Call<typeof REPLAY_OPTIONS>): Promise<number> {
  const { values: { json, items, harness } } = await settings();
  const [given, more] = operands;
  if (given === undefined) throw new UsageError("a PATH is needed: a session file, or a folder with some");
  if (more !== undefined) throw new UsageError("only one PATH can be given");
  if (items && !json) throw new UsageError("--items adds the items to the lines of --json; give both");
  const path = given.startsWith("~") ? pathFrom(given, ".") : given;
  const out = new LineWriter(stdout);
  const progress = new Progress(stderr);
  const rows = replay({ path, harness, withItems: items, entries: harnesses, extraToolMaps: toolMaps, onProgress: (done, of) => progress.show(done, of) });
  let unreadable = 0;
  let files = 0;
  let lastError: string | null = null;
  try {
    for await (const row of rows) {
      if (row.type === "total") ({ files, unreadable } = row);
      if (row.type === "error") lastError = row.message;
      for (const line of json ? [JSON.stringify(row)] : tableLines(row)) await out.write(line);
      if (!out.open) return 0;
    }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  } finally {
    progress.end();
    await out.end();
  }
  if (files > unreadable) return unreadable > 0 ? 1 : 0;
  stderr.write(`foldcast replay: ${files === 1 && lastError !== null ? lastError : `no saved session found in ${path}`}\n`);
  return 2;
}

/** How far the replay of a folder is, once a second. */
class Progress {
  readonly #stream: NodeJS.WritableStream;
  readonly #inPlace: boolean;
  #next = performance.now() + MOMENT_MS;
  #shown = false;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
    this.#inPlace = (stream as { isTTY?: boolean }).isTTY === true;
  }

  show(done: number, of: number): void {
    if (of < 2 || performance.now() < this.#next) return;
    this.#next = performance.now() + MOMENT_MS;
    this.#shown = true;
    this.#stream.write(`${this.#inPlace ? "\r" : ""}${done} of ${of} files${this.#inPlace ? "" : "\n"}`);
  }

  end(): void {
    if (this.#shown && this.#inPlace) this.#stream.write("\r\u001b[K");
  }
}
