import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { type JsonRecord, countOf, filledString, stringOf } from "../json.ts";

/** Larger files are not handed over whole; agents can ask for lines. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * `fs/read_text_file` and `fs/write_text_file` for an agent that works through its client. Only files of the session's
 * folders: links that lead out of them are followed before that is decided.
 */
export class ClientFiles {
  readonly #roots: readonly string[];

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** `line` counts from 1. */
  async read(params: JsonRecord): Promise<{ content: string }> {
    const text = await readFile(await this.#allowed(params), "utf8");
    const line = countOf(params["line"]);
    const limit = countOf(params["limit"]);
    if (line === null && limit === null) {
      if (text.length > MAX_BYTES) throw new Error("The file is too large to be read at once.");
      return { content: text };
    }
    const from = Math.max(0, (line ?? 1) - 1);
    return { content: text.split("\n").slice(from, limit === null ? undefined : from + limit).join("\n") };
  }

  async write(params: JsonRecord): Promise<Record<string, never>> {
    const content = stringOf(params["content"]);
    if (content === null) throw new Error("There is no content to write.");
    const path = await this.#allowed(params);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return {};
  }

  async #allowed(params: JsonRecord): Promise<string> {
    const path = filledString(params["path"]);
    if (path === null || !isAbsolute(path)) throw new Error("An absolute path is needed.");
    const real = await realOf(resolve(path));
    for (const root of this.#roots) {
      const inside = relative(await realOf(root), real);
      if (inside === "" || (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))) return real;
    }
    throw new Error(`${path} is outside of the session's folders.`);
  }
}

/** The path without links, also for a file that is not there yet. */
async function realOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(await realOf(parent), path.slice(parent.length));
}
