import fc from "fast-check";
import { expect, it } from "vitest";
import type { DiffHunk, FileEdit } from "../harness/index.ts";
import { unifiedHunks } from "../tools/diff/index.ts";
import { applyHunks } from "./file-changes.ts";
import { HunkComposer } from "./hunk-composer.ts";
import { NetChanges } from "./net-changes.ts";

const file = fc.array(fc.constantFrom("a", "b", "c", "d", ""), { minLength: 1, maxLength: 12 }).map((lines) => `${lines.join("\n")}\n`);

function parseHunks(diff: string): DiffHunk[] {
  const hunks: (DiffHunk & { lines: string[] })[] = [];
  for (const line of diff.split("\n").slice(0, -1)) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(line);
    if (head === null) hunks.at(-1)!.lines.push(line);
    else hunks.push({ oldStart: Number(head[1]), oldLines: Number(head[2] ?? 1), newStart: Number(head[3]), newLines: Number(head[4] ?? 1), lines: [] });
  }
  return hunks;
}

function net(edits: readonly FileEdit[]): NetChanges {
  const changes = new NetChanges();
  for (const edit of edits) changes.add(edit);
  return changes;
}

it("hunks apply to the text that they were made from", () => {
  fc.assert(fc.property(file, file, (before, after) => {
    expect(applyHunks(before, parseHunks(unifiedHunks(before, after)))).toBe(after);
  }));
});

it("adds up diffs of a file whose text is not known to the one net diff", () => {
  fc.assert(fc.property(fc.array(file, { minLength: 2, maxLength: 8 }), (versions) => {
    const edits = versions.slice(1).map((after, i): FileEdit => ({ path: "/w/f", hunks: parseHunks(unifiedHunks(versions[i]!, after)) }));
    const changes = net(edits.filter((edit) => edit.hunks!.length > 0)).changes();
    const first = versions[0]!;
    const last = versions.at(-1)!;
    // The way back may go through other lines than the way there: then a diff is left that says the same text again.
    expect(applyHunks(first, parseHunks(changes[0]?.diff ?? ""))).toBe(last);
  }), { numRuns: 500 });
});

it("adds up many scattered changes, whatever the size of its blocks", () => {
  const line = fc.constantFrom("a", "b", "c");
  const change = fc.record({ at: fc.nat(59), remove: fc.nat(4), add: fc.array(line, { maxLength: 4 }) });
  fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 6 }), (changes, blockSize) => {
    const first = Array.from({ length: 60 }, (_, n) => `line ${n}`);
    let now = first;
    const composer = new HunkComposer(blockSize);
    for (const { at, remove, add } of changes) {
      const next = [...now.slice(0, at), ...add, ...now.slice(at + remove)];
      const hunks = parseHunks(unifiedHunks(`${now.join("\n")}\n`, `${next.join("\n")}\n`));
      if (next.length > 0 && now.length > 0) expect(composer.add(hunks)).toBe(true);
      now = next.length > 0 ? next : now;
    }
    expect(applyHunks(`${first.join("\n")}\n`, composer.hunks())).toBe(`${now.join("\n")}\n`);
  }), { numRuns: 500 });
});

it("leaves nothing of a diff that is taken back line by line", () => {
  const there: FileEdit = { path: "/w/f", hunks: [{ oldStart: 2, oldLines: 1, newStart: 2, newLines: 2, lines: ["-b", "+x", "+y"] }] };
  const back: FileEdit = { path: "/w/f", hunks: [{ oldStart: 2, oldLines: 2, newStart: 2, newLines: 1, lines: ["-x", "-y", "+b"] }] };
  expect(net([there, back]).changes()).toEqual([]);
});

it("gives first against last where the texts are known, whatever the kind of edit in between", () => {
  const changes = net([
    { path: "/w/f", before: "1\n2\n3\n", after: "1\nx\n3\n" },
    { path: "/w/f", fragments: [{ old: "3", new: "y" }] },
    { path: "/w/f", hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-1", "+z"] }] },
  ]).changes();
  expect(changes).toEqual([{ path: "/w/f", kind: { type: "update", move_path: null }, diff: "@@ -1,3 +1,3 @@\n-1\n-2\n-3\n+z\n+x\n+y\n" }]);
});

it("add then edit is an add; add then delete is nothing; a rename keeps both paths", () => {
  expect(net([{ path: "/w/n", before: null, after: "a\n" }, { path: "/w/n", fragments: [{ old: "a", new: "b" }] }]).changes()).toEqual([{ path: "/w/n", kind: { type: "add" }, diff: "b\n" }]);
  expect(net([{ path: "/w/n", before: null, after: "a\n" }, { path: "/w/n", before: "a\n", after: null }]).changes()).toEqual([]);
  expect(net([{ path: "/w/a", before: "1\n", after: "2\n", movePath: "/w/b" }, { path: "/w/b", before: "2\n", after: "3\n" }]).changes()).toEqual([
    { path: "/w/a", kind: { type: "update", move_path: "/w/b" }, diff: "@@ -1 +1 @@\n-1\n+3\n" },
  ]);
});

it("sees through a move of a file whose text is not known", () => {
  const hunk = (path: string, from: string, to: string): FileEdit => ({ path, hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`-${from}`, `+${to}`] }] });
  const there: FileEdit = { path: "/w/x", movePath: "/w/y" };
  expect(net([there, { path: "/w/y", movePath: "/w/x" }]).changes()).toEqual([]);
  expect(net([there, hunk("/w/y", "a", "b"), hunk("/w/y", "b", "c")]).changes()).toEqual([
    { path: "/w/x", kind: { type: "update", move_path: "/w/y" }, diff: "@@ -1 +1 @@\n-a\n+c\n" },
  ]);
});

it("keeps the net of a file when an edit says nothing", () => {
  const hunk = (from: string, to: string): FileEdit => ({ path: "/w/x", hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`-${from}`, `+${to}`] }] });
  expect(net([hunk("a", "b"), { path: "/w/x", movePath: null, fragments: [] }, hunk("b", "a")]).changes()).toEqual([]);
});

it("lists the fragments of an edit whose hunks are empty", () => {
  expect(net([{ path: "/w/x", hunks: [], fragments: [{ old: "a\n", new: "b\n" }] }]).changes()[0]?.diff).toBe("@@ -1 +1 @@\n-a\n+b\n");
});

it("lists fragments that have no place in a known text", () => {
  const changes = net([{ path: "/w/f", fragments: [{ old: "a\n", new: "b\n" }] }, { path: "/w/f", fragments: [{ old: "c\n", new: "d\n" }] }]).changes();
  expect(changes).toEqual([{ path: "/w/f", kind: { type: "update", move_path: null }, diff: "@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-c\n+d\n" }]);
});

it("renders git's form of an add, a delete, an update and a rename, relative to the working directory", () => {
  const diff = net([
    { path: "/w/n.txt", before: null, after: "n\n" },
    { path: "/w/d.txt", before: "d\n", after: null },
    { path: "/w/a", before: "1\n", after: "1\n", movePath: "/w/b" },
    { path: "/etc/x", before: "1\n", after: "2\n" },
  ]).diff("/w");
  expect(diff).toBe([
    "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n",
    "diff --git a/d.txt b/d.txt\ndeleted file mode 100644\n--- a/d.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n",
    "diff --git a/a b/b\nrename from a\nrename to b\n",
    "diff --git a/etc/x b/etc/x\n--- a/etc/x\n+++ b/etc/x\n@@ -1 +1 @@\n-1\n+2\n",
  ].join(""));
});

it("adds up changes of more lines than a call takes arguments", () => {
  const count = 200_000;
  const lines = Array.from({ length: count }, (_, n) => `+${String(n)}`);
  const composer = new HunkComposer();
  expect(composer.add([{ oldStart: 0, oldLines: 0, newStart: 1, newLines: count, lines }])).toBe(true);
  expect(composer.add([{ oldStart: 7, oldLines: 1, newStart: 7, newLines: 1, lines: ["-6", "+six"] }])).toBe(true);
  const [hunk] = composer.hunks();
  expect([hunk?.lines.length, hunk?.lines[6], hunk?.lines.at(-1)]).toEqual([count, "+six", `+${String(count - 1)}`]);
});
