import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type PatchFile, parsePatch, patchFromShell } from "../../packages/protocol-core/src/tools/patch/index.ts";
import { z } from "zod";
import type { CorpusSuite } from "./suite.ts";

const fileSchema = z.object({
  path: z.string(),
  kind: z.enum(["add", "delete", "update"]),
  added: z.number(),
  removed: z.number(),
  move_path: z.string().nullish(),
});

const rowSchema = z.object({
  input: z.string().optional(),
  command: z.string().optional(),
  setup: z.record(z.string(), z.string()),
  expected: z.object({ ok: z.boolean(), intercepted: z.boolean().optional(), files: z.array(fileSchema) }),
});

/** The rows were made with this working directory; absolute paths in patches name it. */
const ROOT = "/workspace";

/** apply_patch texts and shell scripts: whether they apply, are intercepted, and which files they change. */
export const suite: CorpusSuite = {
  name: "patch",
  check(input) {
    const row = rowSchema.parse(input);
    const want = {
      ok: row.expected.ok,
      ...(row.expected.intercepted === undefined ? {} : { intercepted: row.expected.intercepted }),
      files: row.expected.files.map(comparable).sort(byPath),
    };
    const got = row.command === undefined ? apply(row.input ?? "", null, row.setup) : runShell(row.command, row.setup);
    return { pass: isDeepStrictEqual(got, want), got, want };
  },
};

function runShell(command: string, setup: Readonly<Record<string, string>>): object {
  const found = patchFromShell(command);
  if (found !== null) {
    const { ok, files } = apply(found.patch, found.workdir, setup);
    return { ok, intercepted: true, files };
  }
  // A patch given as the script itself is refused, not run.
  return { ok: false, intercepted: parsePatch(command).ok, files: [] };
}

function apply(patch: string, workdir: string | null, setup: Readonly<Record<string, string>>): { ok: boolean; files: object[] } {
  const files = new Map(Object.entries(setup));
  const resolve = (path: string): string => relativeToRoot(posix.resolve(ROOT, workdir ?? ".", path));
  const result = parsePatch(patch, { lookup: (path) => files.get(resolve(path)) ?? null });
  if (!result.ok) return { ok: false, files: [] };
  return {
    ok: true,
    files: result.files.map((file: PatchFile) =>
      comparable({
        path: resolve(file.path),
        kind: file.kind,
        added: file.added,
        removed: file.removed ?? 0,
        move_path: file.movePath === null ? null : resolve(file.movePath),
      }),
    ).sort(byPath),
  };
}

function relativeToRoot(path: string): string {
  return posix.relative(ROOT, posix.resolve(ROOT, path));
}

interface Comparable {
  readonly path: string;
  readonly kind: string;
  readonly added: number;
  readonly removed: number;
  readonly move_path: string | null;
}

function comparable(file: z.infer<typeof fileSchema>): Comparable {
  const { path, kind, added, removed, move_path } = file;
  const target = move_path === null || move_path === undefined ? null : relativeToRoot(move_path);
  return { path: relativeToRoot(path), kind, added, removed, move_path: target };
}

function byPath(a: Comparable, b: Comparable): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
