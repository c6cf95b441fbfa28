import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { z } from "zod";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { HARNESS_ID } from "../manifest.ts";

/** First line of a session file. `createdAt` in Unix milliseconds. */
const headerSchema = z.looseObject({
  type: z.literal("session"),
  version: z.literal(1),
  harness: z.literal(HARNESS_ID),
  id: z.string().min(1),
  cwd: z.string(),
  createdAt: z.number(),
  model: z.string(),
  forkedFrom: z.looseObject({ id: z.string(), throughTurnKey: z.string().exactOptional() }).exactOptional(),
});
export type SessionHeader = z.infer<typeof headerSchema>;

/** Null when the line is no header of ours. */
export function parseHeader(line: string): SessionHeader | null {
  try {
    return headerSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

/** One line of a session file after its header. `turn` is absent for what belongs to no turn. */
export interface SessionLine {
  turn?: string;
  event: HarnessEvent;
}

/**
 * The append-only file of one session. Writes are synchronous, so that what is emitted after `append` returned is in
 * the file whatever happens to this process next, and their order needs no queue.
 */
export class SessionFile {
  readonly path: string;
  readonly #fd: number;
  #closed = false;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
  }

  /** Makes a file with its header; throws when it exists. */
  static create(path: string, header: SessionHeader): SessionFile {
    const file = new SessionFile(path, openSync(path, "ax", 0o600));
    file.write(Buffer.from(`${JSON.stringify(header)}\n`));
    return file;
  }

  /** Opens an existing file to go on behind its last line. */
  static append(path: string): SessionFile {
    const file = new SessionFile(path, openSync(path, "a+", 0o600));
    const { size } = fstatSync(file.#fd);
    const last = Buffer.alloc(1);
    // A killed writer may have left half a line: what follows must not become part of it.
    if (size > 0 && readSync(file.#fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a) file.write(Buffer.from("\n"));
    return file;
  }

  append(turn: string | null, events: readonly HarnessEvent[]): void {
    const lines = events.map((event) => JSON.stringify(turn === null ? { event } : { turn, event }) + "\n");
    this.write(Buffer.from(lines.join("")));
  }

  write(bytes: Uint8Array): void {
    let written = 0;
    while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }
}
