import { appendFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HistoryIndex, HistorySource } from "@foldcast/protocol-core/harness";
import { readTurns } from "./history.ts";

export interface KeptIndexHooks<Line> {
  history: HistorySource;
  /** Lines as they stand in a file. */
  text: (lines: readonly Line[]) => string;
  /** Writes a new session file and gives its path. */
  write: (content: string) => string;
  /** Kinds of files: any lines, and the one that they all begin with. */
  kinds: Readonly<Record<string, { line: fc.Arbitrary<Line>; first: Line }>>;
  /** Two sessions of one turn each, and the keys of the turns. */
  sessions: readonly [{ lines: readonly Line[]; key: string }, { lines: readonly Line[]; key: string }];
}

/** Tests of an index whose `snapshot` is given to a later `open`: what it goes on from must make no difference. */
export function describeKeptIndex<Line>({ history, text, write, kinds, sessions }: KeptIndexHooks<Line>): void {
  describe("an index that goes on from a kept one", () => {
    test.each(Object.entries(kinds))("knows what an index of the whole file knows, wherever the file was when it was kept: %s", async (_, { line, first }) => {
      await fc.assert(fc.asyncProperty(fc.array(line, { minLength: 2, maxLength: 40 }), fc.double({ min: 0, max: 1, noNaN: true }), async (lines, part) => {
        const content = Buffer.from(text([first, ...lines]));
        const least = Buffer.byteLength(text([first]));
        const cut = least + Math.floor((content.length - least) * part);
        const file = write("");
        writeFileSync(file, content.subarray(0, cut));
        const earlier = kept(await history.open(file));
        appendFileSync(file, content.subarray(cut));
        const index = await history.open(file, earlier);
        const whole = await history.open(file);
        expect(index.turns).toEqual(whole.turns);
        expect([index.title, index.cwd, index.nativeSessionId]).toEqual([whole.title, whole.cwd, whole.nativeSessionId]);
        expect(await readTurns(index)).toEqual(await readTurns(whole));
      }), { numRuns: 60, seed: 9 });
    });

    test("starts anew where the file was rewritten, is another one, or the kept one is of no use", async () => {
      const [one, another] = sessions;
      const keys = async (file: string, known: unknown): Promise<string[]> => (await history.open(file, known)).turns.map((turn) => turn.key);
      const file = write(text(one.lines));
      const earlier = kept(await history.open(file));
      expect(earlier).not.toBeNull();
      writeFileSync(file, text(another.lines));
      for (const known of [earlier, null, "?", { version: 1 }, { version: 0, file }]) expect(await keys(file, known)).toEqual([another.key]);
      expect(await keys(write(text(one.lines)), earlier)).toEqual([one.key]);
    });
  });
}

/** As it comes back from a file. */
function kept(index: HistoryIndex): unknown {
  return JSON.parse(JSON.stringify(index.snapshot?.() ?? null));
}
