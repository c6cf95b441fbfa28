import { createHash } from "node:crypto";

/** Lines of one file that tell their time: one that stands there word for word again was written once. */
export class RepeatedLines {
  readonly #seen: Set<string>;

  /** `kept`: of an earlier look at the same file. */
  constructor(kept: readonly string[] = []) {
    this.#seen = new Set(kept);
  }

  /** To go on from later: a short digest a line. */
  get digests(): string[] {
    return [...this.#seen];
  }

  /** Whether these bytes were given before. */
  isRepeated(line: Buffer): boolean {
    const digest = createHash("md5").update(line).digest("base64").slice(0, 16);
    if (this.#seen.has(digest)) return true;
    this.#seen.add(digest);
    return false;
  }
}
