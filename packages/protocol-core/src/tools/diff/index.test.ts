import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countHunkLines, hunksFromStructuredPatch, unifiedHunks } from "./index.ts";

/** Applies a hunk-only diff by line numbers and checks every context and removed line. */
function applyHunks(before: string, diff: string): string {
  const source = before.match(/[^\n]*\n|[^\n]+/g) ?? [];
  const out: string[] = [];
  let position = 0;
  const lines = diff.match(/[^\n]*\n/g) ?? [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!;
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n$/.exec(line);
    if (head !== null) {
      const start = head[2] === "0" ? Number(head[1]) : Number(head[1]) - 1;
      expect(start).toBeGreaterThanOrEqual(position);
      out.push(...source.slice(position, start));
      position = start;
      expect(out.length).toBe(head[4] === "0" ? Number(head[3]) : Number(head[3]) - 1);
      continue;
    }
    const bare = lines[index + 1]?.startsWith("\\") === true;
    const content = bare ? line.slice(1, -1) : line.slice(1);
    if (bare) index += 1;
    if (line.startsWith("+")) out.push(content);
    else {
      expect(source[position]).toBe(content);
      position += 1;
      if (line.startsWith(" ")) out.push(content);
    }
  }
  return out.join("") + source.slice(position).join("");
}

function shortestEdit(before: readonly string[], after: readonly string[]): number {
  let row = Array.from({ length: after.length + 1 }, () => 0);
  for (const line of before) {
    const next = [0];
    for (let index = 0; index < after.length; index += 1) {
      next.push(line === after[index] ? row[index]! + 1 : Math.max(next[index]!, row[index + 1]!));
    }
    row = next;
  }
  return before.length + after.length - 2 * row[after.length]!;
}

const fewLines = fc.array(fc.constantFrom("a", "b", "c", "", "\r"), { maxLength: 40 });
const anyText = fc
  .tuple(fewLines, fc.boolean())
  .map(([lines, ended]) => lines.join("\n") + (ended && lines.length > 0 ? "\n" : ""));

describe("unifiedHunks", () => {
  it("gives a diff that applied to the old text is the new text, whatever the effort", () => {
    fc.assert(
      fc.property(anyText, anyText, fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 200 }), (a, b, context, effort) => {
        expect(applyHunks(a, unifiedHunks(a, b, { context, effort }))).toBe(b);
        expect(applyHunks(a, unifiedHunks(a, b))).toBe(b);
      }),
      { numRuns: 1500 },
    );
  });

  it("finds a shortest edit for small texts", () => {
    fc.assert(
      fc.property(fewLines, fewLines, (a, b) => {
        const terminated = (lines: string[]): string => lines.map((line) => `${line}\n`).join("");
        const { added, removed } = countHunkLines(unifiedHunks(terminated(a), terminated(b)));
        expect(added + removed).toBe(shortestEdit(a, b));
      }),
      { numRuns: 1500 },
    );
  });

  it("cuts large texts at unique lines and still applies", () => {
    const unique = fc.array(fc.integer({ min: 0, max: 900 }).map(String), { minLength: 300, maxLength: 700 });
    fc.assert(
      fc.property(unique, unique, (a, b) => {
        expect(applyHunks(a.join("\n"), unifiedHunks(a.join("\n"), b.join("\n")))).toBe(b.join("\n"));
      }),
      { numRuns: 60 },
    );
  });

  it("writes git's form: three lines of context, merged neighbours, omitted counts of one", () => {
    const before = Array.from({ length: 20 }, (_, index) => `l${index + 1}\n`).join("");
    const after = before.replace("l2\n", "L2\n").replace("l9\n", "L9\n").replace("l20\n", "");
    expect(unifiedHunks(before, after)).toBe(
      "@@ -1,12 +1,12 @@\n l1\n-l2\n+L2\n l3\n l4\n l5\n l6\n l7\n l8\n-l9\n+L9\n l10\n l11\n l12\n" +
        "@@ -17,4 +17,3 @@\n l17\n l18\n l19\n-l20\n",
    );
    expect(unifiedHunks("a\n", "b\n")).toBe("@@ -1 +1 @@\n-a\n+b\n");
    expect(unifiedHunks("", "x\ny\n")).toBe("@@ -0,0 +1,2 @@\n+x\n+y\n");
    expect(unifiedHunks("x\n", "")).toBe("@@ -1 +0,0 @@\n-x\n");
    expect(unifiedHunks("same", "same")).toBe("");
  });

  it("marks a last line without newline on either side", () => {
    expect(unifiedHunks("a\nb", "a\nB\n")).toBe("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n");
    expect(unifiedHunks("a\n", "a")).toBe("@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
    expect(unifiedHunks("a\nz", "b\nz")).toBe("@@ -1,2 +1,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n");
  });

  it("keeps a small edit of a large file small, and bounds the search on unrelated texts", () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index % 977}`);
    const changed = [...lines];
    for (let index = 50; index < changed.length; index += 5_000) changed[index] = "changed";
    expect(countHunkLines(unifiedHunks(lines.join("\n"), changed.join("\n")))).toEqual({ added: 6, removed: 6 });
    const other = Array.from({ length: 30_000 }, (_, index) => `line ${(index * 31) % 983}`);
    const diff = unifiedHunks(lines.join("\n"), other.join("\n"));
    expect(applyHunks(lines.join("\n"), diff) === other.join("\n")).toBe(true);
  });
});

describe("countHunkLines", () => {
  it("counts after the first hunk head only, and takes doubled signs as content", () => {
    expect(countHunkLines("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n")).toEqual({ added: 1, removed: 1 });
    expect(countHunkLines("")).toEqual({ added: 0, removed: 0 });
  });
});

describe("hunksFromStructuredPatch", () => {
  it("writes the same text as the diff it stands for", () => {
    const lines = [" a", "-b", "\\ No newline at end of file", "+B"];
    expect(hunksFromStructuredPatch([{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines }])).toBe(unifiedHunks("a\nb", "a\nB\n"));
    expect(hunksFromStructuredPatch([{ oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: ["+x"] }])).toBe("@@ -0,0 +1 @@\n+x\n");
    expect(hunksFromStructuredPatch([])).toBe("");
  });
});
