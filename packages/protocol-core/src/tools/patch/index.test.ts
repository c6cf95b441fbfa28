import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { languageOfPath, parsePatch, patchFromShell } from "./index.ts";

const wrap = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const errorOf = (input: string, files: Record<string, string> = {}): string => {
  const result = parsePatch(input, { lookup: (path) => files[path] ?? null });
  return result.ok ? "" : result.error;
};
const fileOf = (input: string, files?: Record<string, string>) => {
  const result = parsePatch(input, files === undefined ? {} : { lookup: (path) => files[path] ?? null });
  if (!result.ok) throw new Error(result.error);
  return result.files[0]!;
};

describe("parsePatch", () => {
  const recorded = new URL("../../../../../../shared/data/commands/patch-cases-dev.jsonl", import.meta.url);
  it.skipIf(!existsSync(recorded))("gives the diffs the app-server gave for the same patches", () => {
    let compared = 0;
    for (const line of readFileSync(recorded, "utf8").split("\n")) {
      if (line === "") continue;
      const row = JSON.parse(line) as {
        input?: string;
        setup: Record<string, string>;
        expected: { ok: boolean };
        rawDiffs?: { path: string; diff: string }[];
      };
      if (row.input === undefined || !row.expected.ok) continue;
      const result = parsePatch(row.input, { lookup: (name) => row.setup[name] ?? null });
      const diffs = result.ok ? result.files.map(({ path: name, diff }) => ({ path: `/workspace/${name}`, diff })) : [];
      expect(diffs).toEqual(row.rawDiffs?.map(({ path: name, diff }) => ({ path: name, diff })));
      compared += 1;
    }
    expect(compared).toBeGreaterThan(12);
  });

  it("counts an update without the old file from its chunks, and leaves a deletion's count open", () => {
    const update = wrap("*** Update File: a.ts", "@@ f()", " x", "-y", "+z", "+w", "@@", "-q");
    expect(fileOf(update)).toEqual({
      path: "a.ts",
      kind: "update",
      movePath: null,
      added: 2,
      removed: 2,
      diff: "@@ f()\n x\n-y\n+z\n+w\n@@\n-q\n",
      language: "typescript",
    });
    expect(fileOf(wrap("*** Delete File: a"))).toMatchObject({ removed: null, added: 0, diff: "" });
    expect(fileOf(wrap("*** Delete File: a"), { a: "1\n2" })).toMatchObject({ removed: 2, diff: "1\n2" });
  });

  it("reports a move as an update of the old path", () => {
    const moved = wrap("*** Update File: a.js", "*** Move to: b.py", "@@", "-x", "+y");
    expect(fileOf(moved, { "a.js": "x\n" })).toMatchObject({ path: "a.js", movePath: "b.py", kind: "update", language: "python" });
    expect(errorOf(wrap("*** Update File: a", "*** Move to: b"), { a: "x\n" })).toContain("is empty");
  });

  it("adds empty files", () => {
    expect(fileOf(wrap("*** Add File: e"), {})).toMatchObject({ kind: "add", added: 0, removed: 0, diff: "" });
  });

  it.each([
    ["an update without chunk", wrap("*** Update File: a"), "is empty"],
    ["stacked heads", wrap("*** Update File: a", "@@ x", "@@ y", "-x", "+z"), "Unexpected line"],
    ["a head without lines at the end", wrap("*** Update File: a", "@@"), "does not contain any lines"],
    ["a head without lines before another file", wrap("*** Update File: a", "@@", "*** Delete File: b"), "Unexpected line"],
    ["two operations on one file", wrap("*** Update File: a", "-x", "*** Delete File: ./a"), "multiple operations target"],
    ["an empty patch", wrap(), "No files"],
    ["an unknown header", wrap("*** Rename File: a"), "not a valid hunk header"],
    ["text before the begin marker", `hi\n${wrap("*** Add File: n")}`, "first line"],
    ["text after the end marker", `${wrap("*** Add File: n")}\nhi`, "last line"],
    ["an early end marker", wrap("*** Add File: n", "*** End Patch", "*** Add File: m"), "last line"],
    ["context that is not there", wrap("*** Update File: a", "@@ nowhere", "-x", "+y"), "Failed to find context"],
    ["lines that are not there", wrap("*** Update File: a", "-nothing", "+y"), "Failed to find expected lines"],
    ["lines after the end of file", wrap("*** Update File: a", "-x", "*** End of File", "+y"), "context marker"],
  ])("rejects %s", (_name, patch, error) => {
    expect(errorOf(patch, { a: "x\ny\n", b: "" })).toContain(error);
  });

  it("searches with falling strictness, below the previous chunk, and at the end when told", () => {
    expect(fileOf(wrap("*** Update File: a", "-  x", "+y"), { a: "x  \n" })).toMatchObject({ added: 1, removed: 1 });
    expect(fileOf(wrap("*** Update File: a", "-a - 'b'", "+y"), { a: "a \u2013 \u2018b\u2019\n" }).removed).toBe(1);
    expect(fileOf(wrap("*** Update File: a", "-x", "+1", "@@", "-x", "+2"), { a: "x\nx\n" }).diff).toContain("+1\n+2\n");
    const atEnd = fileOf(wrap("*** Update File: a", "-x", "+y", "*** End of File"), { a: "x\nm\nx\n" });
    expect(atEnd.diff).toBe("@@ -2,2 +2,2 @@\n m\n-x\n+y\n");
    expect(fileOf(wrap("*** Update File: a", "-x", "-", "+y", "+"), { a: "x\n" })).toMatchObject({ added: 1, removed: 1 });
  });

  it("is done with very many lines that nearly match everywhere", () => {
    // Comparing each with each would take minutes: the limit of the test is the measure.
    const text = "a\n".repeat(60_000);
    const lines = Array.from({ length: 30_000 }, () => "-a");
    expect(errorOf(wrap("*** Update File: f", ...lines, "-b"), { f: text })).toContain("Failed to find");
  });

  it("never throws", () => {
    const line = fc.oneof(
      fc.constantFrom("*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Delete File: b", "*** Update File: c"),
      fc.constantFrom("*** Move to: d", "@@", "@@ x", "*** End of File", "+x", "-x", " x", "", "\r", "<<EOF", "EOF"),
      fc.string(),
    );
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.array(line, { maxLength: 20 }).map((lines) => lines.join("\n")));
    fc.assert(
      fc.property(text, fc.array(line).map((lines) => wrap(...lines)), (loose, wrapped) => {
        for (const input of [loose, wrapped, wrap(loose)]) {
          parsePatch(input);
          parsePatch(input, { lookup: () => "x\n\nx" });
          patchFromShell(input);
          patchFromShell(`apply_patch <<'EOF'\n${input}\nEOF`);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("patchFromShell", () => {
  const body = wrap("*** Add File: n", "+1");
  it.each([
    ["quoted tag", `apply_patch <<'EOF'\n${body}\nEOF`, null],
    ["bare tag and trailing newlines", `applypatch <<EOF\n${body}\nEOF\n\n`, null],
    ["double quoted tag", `apply_patch << "P"\n${body}\nP`, null],
    ["assignment before it", `FOO=1 BAR=x apply_patch <<'EOF'\n${body}\nEOF`, null],
    ["cd to a bare directory", `cd sub/x && apply_patch <<'EOF'\n${body}\nEOF`, "sub/x"],
    ["cd to a quoted directory", `cd "a b" && apply_patch <<'EOF'\n${body}\nEOF`, "a b"],
    ["cd to a raw directory", `cd 'a $b' && apply_patch <<'EOF'\n${body}\nEOF`, "a $b"],
  ])("takes %s", (_name, script, workdir) => {
    expect(patchFromShell(script)).toEqual({ patch: body, workdir });
  });

  it.each([
    ["semicolon", `cd x; apply_patch <<'EOF'\n${body}\nEOF`],
    ["or", `cd x || apply_patch <<'EOF'\n${body}\nEOF`],
    ["two arguments of cd", `cd x y && apply_patch <<'EOF'\n${body}\nEOF`],
    ["expansion in cd", `cd "$X" && apply_patch <<'EOF'\n${body}\nEOF`],
    ["two cds", `cd x && cd y && apply_patch <<'EOF'\n${body}\nEOF`],
    ["argument", `apply_patch foo <<'EOF'\n${body}\nEOF`],
    ["patch as argument", `apply_patch '${body}'`],
    ["pipe in", `cat <<'EOF' | apply_patch\n${body}\nEOF`],
    ["pipe out", `apply_patch <<'EOF' | cat\n${body}\nEOF`],
    ["command before", `echo hi && apply_patch <<'EOF'\n${body}\nEOF`],
    ["command after", `apply_patch <<'EOF'\n${body}\nEOF\necho hi`],
    ["missing end", `apply_patch <<'EOF'\n${body}\n`],
    ["the body alone", body],
  ])("leaves alone: %s", (_name, script) => {
    expect(patchFromShell(script)).toBeNull();
  });
});

describe("languageOfPath", () => {
  it("knows suffixes and a few names, and nothing else", () => {
    expect(["a/b.TS", "x.tar.rs", "d/Dockerfile", "Makefile", "none", "a.unknown", "x.constructor"].map(languageOfPath)).toEqual(
      ["typescript", "rust", "dockerfile", "makefile", null, null, null],
    );
  });
});
