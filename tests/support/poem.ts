import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, tool, type Bench, type Replies } from "./matrix.ts";

/** What the tools of a program call the path of a file. */
type PathName = "path" | "file_path";

export const POEM = {
  asked: "make the second line a number",
  beginning: "I read the poem and mark it as counted.",
  command: "touch counted.txt",
  answer: "The second line is a number now.",
  changed: "one\n2\nthree\n",
  endless: "Counting sheep",
} as const;

/**
 * A poem in the workspace, and a model that is asked to change its second line: thoughts, a text, a read, a command that
 * is asked for, an edit, the answer. Asked to wait it begins an answer that never ends. Gives the poem's path.
 */
export function preparePoem(bench: Bench, pathName: PathName, more: Replies = []): string {
  const poem = join(bench.workspace, "poem.txt");
  writeFileSync(poem, "one\ntwo\nthree\n");
  bench.model.play({
    replies: [
      ...more,
      { match: after("e1"), blocks: [{ text: POEM.answer, chunks: 8 }], chunkMs: 30 },
      { match: after("c1"), blocks: [tool("e1", "Edit", { [pathName]: poem, old_string: "two", new_string: "2" })] },
      { match: { says: "wait for it" }, blocks: [{ text: `${POEM.endless}, one by`, chunks: 4 }], hang: true },
      {
        blocks: [{ thinking: "The poem is in poem.txt.", chunks: 3 }, { text: POEM.beginning, chunks: 6 }, tool("r1", "Read", { [pathName]: poem }), tool("c1", "Bash", { command: POEM.command })],
        chunkMs: 30,
      },
    ],
  });
  return poem;
}
