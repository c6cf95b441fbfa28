import { parseArgs } from "node:util";
import { harnesses } from "@foldcast/adapter-registry";
import { toolMaps } from "@foldcast/adapter-registry/tool-maps";
import { LineWriter } from "../../replay/line-writer.ts";
import { replay } from "../../replay/replay.ts";
import { tableLines } from "../../replay/table.ts";
import type { CommandSpec } from "../command.ts";

const HELP = `foldcast replay PATH [--json] [--items] [--harness ID]

Reads saved sessions of coding agents and says, turn by turn, how Codex folds them.
PATH is a session file, or a folder that is searched for them.

  --json        JSON Lines: session, turn, diagnostic and error lines, a total last
  --items       with --json, each turn with all its items
  --harness ID  read the files as this harness's, without a look at them

Exit code: 0 all read, 1 some files could not be read, 2 no session found or wrong usage.
`;

/** A replay shorter than this needs no progress. */
const MOMENT_MS = 1000;

export const command: CommandSpec = {
  name: "replay",
  summary: "show how saved sessions fold",
  help: HELP,
  async run(argv, io) {
    let path: string | undefined;
    let flags: { json: boolean; items: boolean; harness?: string };
    try {
      const { values, positionals } = parseArgs({
        args: argv,
        allowPositionals: true,
        options: { json: { type: "boolean", default: false }, items: { type: "boolean", default: false }, harness: { type: "string" }, help: { type: "boolean", short: "h", default: false } },
      });
      if (values.help) {
        io.stdout.write(HELP);
        return 0;
      }
      if (positionals.length > 1) throw new Error("only one PATH can be given");
      path = positionals[0];
      flags = values;
    } catch (error) {
      return usage(io.stderr, error instanceof Error ? error.message : String(error));
    }
    if (path === undefined) return usage(io.stderr, "a PATH is needed");
    if (flags.items && !flags.json) return usage(io.stderr, "--items adds the items to the lines of --json; give both");
    return run(path, flags, io);
  },
};

function usage(stderr: NodeJS.WritableStream, message: string): number {
  stderr.write(`foldcast replay: ${message}\nTry foldcast replay --help.\n`);
  return 2;
}

async function run(
  path: string, flags: { json: boolean; items: boolean; harness?: string }, io: { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream },
): Promise<number> {
  const out = new LineWriter(io.stdout);
  const progress = new Progress(io.stderr);
  const rows = replay({
    path, harness: flags.harness ?? null, withItems: flags.items && flags.json, entries: harnesses, extraToolMaps: toolMaps,
    onProgress: (done, of) => progress.show(done, of),
  });
  let unreadable = 0;
  let files = 0;
  let lastError: string | null = null;
  try {
    for await (const row of rows) {
      if (row.type === "total") ({ files, unreadable } = row);
      if (row.type === "error") lastError = row.message;
      for (const line of flags.json ? [JSON.stringify(row)] : tableLines(row)) await out.write(line);
      if (!out.open) return 0;
    }
  } catch (error) {
    return usage(io.stderr, error instanceof Error ? error.message : String(error));
  } finally {
    progress.end();
    await out.end();
  }
  if (files > unreadable) return unreadable > 0 ? 1 : 0;
  io.stderr.write(`foldcast replay: ${files === 1 && lastError !== null ? lastError : `no saved session found in ${path}`}\n`);
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
