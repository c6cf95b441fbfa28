import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const CHECK = resolve(import.meta.dirname, "check-boundaries.mjs");
const source = (path: string): Record<string, string> => ({ "@foldcast/source": path });

/** A small tree of the repository's layout in which every import is lawful. */
const LAWFUL: Record<string, string> = {
  "packages/protocol-core/package.json": JSON.stringify({ name: "@foldcast/protocol-core", type: "module", exports: { "./wire": source("./src/wire/index.ts") } }),
  "packages/protocol-core/src/wire/index.ts": "export const codex = 'codex';\nexport const at = (ms: number): Date => new Date(ms);\n",
  "packages/protocol-core/src/wire/index.test.ts": "import { readFileSync } from 'node:fs';\nexport const x = [readFileSync, Date.now(), process.pid, 'scripted'];\n",
  "packages/adapters/kit/package.json": JSON.stringify({ name: "@foldcast/adapter-kit", type: "module", exports: { ".": source("./src/index.ts") } }),
  "packages/adapters/kit/src/index.ts": "export { codex } from '@foldcast/protocol-core/wire';\n",
  "packages/adapters/scripted/package.json": JSON.stringify({ name: "@foldcast/adapter-scripted", type: "module", exports: { ".": source("./src/index.ts") } }),
  "packages/adapters/scripted/src/index.ts": "import { codex } from '@foldcast/adapter-kit';\nexport const definition = { manifest: { id: 'scripted', displayName: codex } };\n",
  "packages/adapters/other/package.json": JSON.stringify({ name: "@foldcast/adapter-other", type: "module", exports: { ".": source("./src/index.ts") } }),
  "packages/adapters/other/src/index.ts": "export const definition = { manifest: { id: 'codex', displayName: 'x' } };\n",
  "packages/adapters/registry/package.json": JSON.stringify({ name: "@foldcast/adapter-registry", type: "module", exports: { ".": source("./src/index.ts") } }),
  "packages/adapters/registry/src/index.ts": "export const harnesses = [\n  { id: 'scripted', load: async () => (await import('@foldcast/adapter-scripted')).definition },\n  { id: 'codex', load: async () => (await import('@foldcast/adapter-other')).definition },\n];\n",
  "packages/adapters/registry/src/tool-maps.ts": "export const toolMaps = { 'kimi-code': {}, pi: {} };\n",
  "packages/host-runtime/package.json": JSON.stringify({ name: "foldcast", type: "module", exports: { "./host": source("./src/index.ts") } }),
  "packages/host-runtime/src/index.ts": "export { codex } from '@foldcast/protocol-core/wire';\nexport const text = 'a scripted tool, or scripted/demo in a sentence';\n",
  "packages/host-runtime/src/native/codex.ts": "export const program = 'codex';\n",
  "packages/host-runtime/src/cli/main.ts": "import { harnesses } from '@foldcast/adapter-registry';\nimport { card } from '@foldcast/feishu-channel';\nexport const all = [harnesses, card];\n",
  "packages/feishu-channel/package.json": JSON.stringify({ name: "@foldcast/feishu-channel", type: "module", exports: { ".": source("./src/index.ts") } }),
  "packages/feishu-channel/src/index.ts": "export { codex as card } from '@foldcast/protocol-core/wire';\n",
  "tools/tool.ts": "export {};\n",
};

interface Planted {
  rule: string;
  file: string;
  text: string;
}

/** One fault a file, each refused by the rule of its name. */
const PLANTED: Planted[] = [
  { rule: "core-imports-nothing-above", file: "packages/protocol-core/src/up.ts", text: "export type { codex } from '@foldcast/adapter-kit';\n" },
  { rule: "core-no-node-builtin", file: "packages/protocol-core/src/files.ts", text: "export { readFileSync } from 'node:fs';\n" },
  { rule: "core-no-node-builtin", file: "packages/protocol-core/src/bare.ts", text: "export const load = () => import('path');\n" },
  { rule: "core-no-node-builtin", file: "packages/protocol-core/src/newer.ts", text: "export { DatabaseSync } from 'node:sqlite';\n" },
  { rule: "core-no-ambient-global", file: "packages/protocol-core/src/print.ts", text: "console.error('x');\n" },
  { rule: "core-no-ambient-global", file: "packages/protocol-core/src/timer.ts", text: "setTimeout(() => {}, 1);\n" },
  { rule: "core-no-ambient-global", file: "packages/protocol-core/src/page.ts", text: "export const page = () => document.title;\n" },
  { rule: "core-no-ambient-global", file: "packages/protocol-core/src/smuggled.ts", text: "export const now = () => globalThis.performance.now();\n" },
  { rule: "core-no-ambient-global", file: "packages/protocol-core/src/bytes.ts", text: "export const bytes = (s: string) => Buffer.from(s);\n" },
  { rule: "core-no-clock-or-chance", file: "packages/protocol-core/src/now.ts", text: "export const now = () => Date.now();\n" },
  { rule: "core-no-clock-or-chance", file: "packages/protocol-core/src/date.ts", text: "export const now = () => new Date();\n" },
  { rule: "core-no-clock-or-chance", file: "packages/protocol-core/src/text.ts", text: "export const now = () => Date();\n" },
  { rule: "core-no-clock-or-chance", file: "packages/protocol-core/src/dice.ts", text: "export const dice = () => Math['random']();\n" },
  { rule: "nothing-imports-host", file: "packages/adapters/scripted/src/host.ts", text: "export { text } from 'foldcast/host';\n" },
  { rule: "nothing-imports-host", file: "packages/feishu-channel/src/host.ts", text: "export { text } from 'foldcast/host';\n" },
  { rule: "adapters-never-import-each-other", file: "packages/adapters/other/src/friend.ts", text: "export { definition } from '@foldcast/adapter-scripted';\n" },
  { rule: "adapters-never-import-each-other", file: "packages/adapters/kit/src/friend.ts", text: "export { definition } from '@foldcast/adapter-scripted';\n" },
  { rule: "adapters-import-core-and-kit-only", file: "packages/adapters/registry/src/channel.ts", text: "export type { card } from '@foldcast/feishu-channel';\n" },
  { rule: "only-the-command-line-composes", file: "packages/host-runtime/src/compose.ts", text: "export { harnesses } from '@foldcast/adapter-registry';\n" },
  { rule: "only-the-command-line-composes", file: "packages/host-runtime/src/channel.ts", text: "export { card } from '@foldcast/feishu-channel';\n" },
  { rule: "host-knows-no-adapter", file: "packages/host-runtime/src/cli/direct.ts", text: "export { definition } from '@foldcast/adapter-scripted';\n" },
  { rule: "channel-imports-core-only", file: "packages/feishu-channel/src/kit.ts", text: "export { codex } from '@foldcast/adapter-kit';\n" },
  { rule: "product-imports-no-tooling", file: "packages/host-runtime/src/tooling.ts", text: "export * from '../../../tools/tool.ts';\n" },
  { rule: "import-resolves", file: "packages/host-runtime/src/nowhere.ts", text: "export * from './nothing.ts';\n" },
  { rule: "no-deep-import", file: "packages/adapters/scripted/src/deep.ts", text: "export { codex } from '@foldcast/protocol-core/src/wire/index.ts';\n" },
  { rule: "no-relative-import-across-packages", file: "packages/adapters/scripted/src/relative.ts", text: "export { codex } from '../../../protocol-core/src/wire/index.ts';\n" },
  { rule: "harness-names-in-adapters-only", file: "packages/host-runtime/src/name.ts", text: "export const special = (id: string) => id === 'scripted';\n" },
  { rule: "harness-names-in-adapters-only", file: "packages/protocol-core/src/folding/name.ts", text: "export const special: { 'scripted': number } | 1 = 1;\n" },
  { rule: "harness-names-in-adapters-only", file: "packages/feishu-channel/src/model.ts", text: "export const model = `scripted/demo`;\n" },
  { rule: "harness-names-in-adapters-only", file: "packages/host-runtime/src/codex.ts", text: "export const special = 'codex';\n" },
  { rule: "harness-names-in-adapters-only", file: "packages/host-runtime/src/mapped.ts", text: "export const special = ['kimi-code'];\n" },
  { rule: "harness-names-in-adapters-only", file: "packages/host-runtime/src/cli/default.ts", text: "export const special = ['pi'];\n" },
  { rule: "product-never-reads-shared", file: "packages/adapters/scripted/src/data.ts", text: "export const data = '../shared/data';\n" },
];
/** These break a second rule by their nature: the import does not resolve, or crosses a border in its other form. */
const ALSO = new Set([
  "packages/adapters/scripted/src/deep.ts  import-resolves",
  "packages/host-runtime/src/tooling.ts  no-relative-import-across-packages",
]);

const trees: string[] = [];
function plant(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "foldcast-boundaries-"));
  trees.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    if (!path.endsWith("package.json")) continue;
    const name = (JSON.parse(text) as { name: string }).name;
    mkdirSync(dirname(join(root, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, dirname(path)), join(root, "node_modules", name));
  }
  return root;
}

function check(root: string): { status: number | null; lines: string[] } {
  const run = spawnSync(process.execPath, [CHECK, "--root", root], { encoding: "utf8" });
  return { status: run.status, lines: `${run.stdout}${run.stderr}`.trim().split("\n") };
}

/** `path:line  rule  message` without line and message. */
const pairs = (lines: string[]): string[] => lines.map((line) => /^(\S+?)(?::\d+)? {2}(\S+) {2}/.exec(line)).flatMap((match) => (match ? [`${match[1]!}  ${match[2]!}`] : []));

afterAll(() => {
  for (const root of trees) rmSync(root, { recursive: true, force: true });
});

describe("the boundary check", () => {
  let refused: { status: number | null; lines: string[] };
  beforeAll(() => {
    refused = check(plant({ ...LAWFUL, ...Object.fromEntries(PLANTED.map(({ file, text }) => [file, text])) }));
  }, 60_000);

  it("accepts a lawful tree", () => {
    const { status, lines } = check(plant(LAWFUL));
    expect(lines.at(-1)).toMatch(/^boundaries: 11 files, harnesses codex, kimi-code, pi, scripted: no fault$/);
    expect(status).toBe(0);
  }, 60_000);

  it("exits 1 when something is refused", () => {
    expect(refused.status).toBe(1);
  });

  it.each(PLANTED)("$rule refuses $file", ({ rule, file }) => {
    expect(pairs(refused.lines)).toContain(`${file}  ${rule}`);
  });

  it("refuses nothing but what was planted", () => {
    const planted = new Set(PLANTED.map(({ rule, file }) => `${file}  ${rule}`));
    expect(pairs(refused.lines).filter((pair) => !planted.has(pair) && !ALSO.has(pair))).toEqual([]);
  });

  it.each([
    ["has an entry without a literal id", "export const harnesses = [{ id: name(), load: () => null }];\n"],
    ["lists no harness", "export const harnesses = [];\n"],
  ])("refuses a registry that %s", (message, text) => {
    const { status, lines } = check(plant({ ...LAWFUL, "packages/adapters/registry/src/index.ts": text }));
    expect(lines).toContain(`packages/adapters/registry/src/index.ts  registry-is-readable  ${message}`);
    expect(status).toBe(1);
  }, 60_000);
});
