import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import type { SessionPeek } from "@foldcast/protocol-core/harness";
import type { Logger } from "../log/logger.ts";

/** What is known of a file, for as long as its size and time stay. */
export interface KnownFile {
  file: string;
  size: number;
  mtimeMs: number;
  /** Null for a file that no adapter reads. */
  harness: string | null;
  /** Null for one that holds no session. */
  peek: SessionPeek | null;
}

/** Of thousands of lines that we wrote ourselves. */
const known = z.object({
  file: z.string(),
  size: z.number(),
  mtimeMs: z.number(),
  harness: z.string().nullable(),
  peek: z.object({
    nativeSessionId: z.string(),
    cwd: z.string().nullable(),
    title: z.string().nullable(),
    prompt: z.string(),
    startedAt: z.number().nullable(),
    updatedAt: z.number().nullable(),
    kind: z.enum(["session", "child", "copy"]),
    parentNativeSessionId: z.string().nullable(),
    lineage: z.array(z.string()).exactOptional(),
  }).nullable(),
});

/** So many lines that nothing needs any more are left in the file before it is written anew. */
const MAX_DEAD_LINES = 1_000;

/**
 * What was seen of session files, in a file of its own beside the store: lines are added as files change, the last one of
 * a file counts. It may be deleted at any time; then the sessions are looked at again. Nothing in here ever throws.
 */
export class SessionCache {
  readonly files = new Map<string, KnownFile>();
  readonly #path: string | null;
  readonly #stamp: string;
  readonly #log: Logger;
  #lines = 0;

  /** `path` null = in memory only. A cache with another `stamp` is not used: another version might see other things. */
  constructor(path: string | null, stamp: string, log: Logger) {
    this.#path = path;
    this.#stamp = stamp;
    this.#log = log;
  }

  async load(): Promise<void> {
    if (this.#path === null) return;
    const text = await readFile(this.#path, "utf8").catch(() => "");
    const [stamp, ...lines] = text.split("\n");
    if (stamp !== this.#stamp) return;
    for (const line of lines) {
      const entry = parse(line);
      if (entry !== null) this.files.set(entry.file, entry);
    }
    this.#lines = lines.length;
  }

  /** Keeps what has changed since the last save. */
  async save(changed: readonly KnownFile[]): Promise<void> {
    if (this.#path === null || changed.length === 0) return;
    try {
      const isNew = this.#lines === 0;
      if (isNew || this.#lines + changed.length > this.files.size + MAX_DEAD_LINES) await this.#rewrite(this.#path);
      else {
        await appendFile(this.#path, changed.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
        this.#lines += changed.length;
      }
    } catch (error) {
      this.#log.info("what was seen of saved sessions could not be kept", { path: this.#path, error });
    }
  }

  async #rewrite(path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const entries = [...this.files.values()];
    await writeFile(`${path}.new`, `${this.#stamp}\n${entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")}`, { mode: 0o600 });
    await rename(`${path}.new`, path);
    this.#lines = entries.length;
  }
}

/** A line that was cut off, or that another hand wrote, is none. */
function parse(line: string): KnownFile | null {
  if (line === "") return null;
  try {
    return known.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
