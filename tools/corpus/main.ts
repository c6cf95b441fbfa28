import { readFile } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import type { CorpusSuite } from "./suite.ts";

const USAGE = `usage: npm run -s corpus -- <suite> FILE.jsonl [--json]

  commands   shell command lines against the actions Codex reported
  exec       code-mode programs against the calls they make
  patch      patches against the file changes they stand for

Each miss is one line {"i","pass":false,"got","want"}; the last line is {"total","passed","ms"}.
Exit code: 0 all rows pass, 1 a row misses, 2 wrong usage or an unreadable file.`;

const SUITES: Readonly<Record<string, () => Promise<{ suite: CorpusSuite }>>> = {
  commands: () => import("./commands.ts"),
  exec: () => import("./exec.ts"),
  patch: () => import("./patch.ts"),
};

process.exitCode = await run(process.argv.slice(2));

async function run(args: string[]): Promise<number> {
  let positionals: string[];
  try {
    // `--json` is the only output there is; it is accepted so that callers may ask for it by name.
    ({ positionals } = parseArgs({ args, allowPositionals: true, options: { json: { type: "boolean" } } }));
  } catch (error) {
    return usageError(messageOf(error));
  }
  const [name, file, ...rest] = positionals;
  if (name === undefined || file === undefined || rest.length > 0) return usageError("a suite and one file are needed");
  const load = Object.hasOwn(SUITES, name) ? SUITES[name] : undefined;
  if (load === undefined) return usageError(`there is no suite "${name}"`);

  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    return usageError(`cannot read ${file}: ${messageOf(error)}`);
  }
  const { suite } = await load();
  return judge(
    suite,
    text.split("\n").filter((line) => line.trim() !== ""),
  );
}

function judge(suite: CorpusSuite, lines: readonly string[]): number {
  const started = performance.now();
  let passed = 0;
  for (const [i, line] of lines.entries()) {
    const { pass, got, want } = checkLine(suite, line);
    if (pass) passed++;
    else print({ i, pass, got, want });
  }
  const ms = Math.round((performance.now() - started) * 10) / 10;
  print({ total: lines.length, passed, ms });
  return passed === lines.length ? 0 : 1;
}

function checkLine(suite: CorpusSuite, line: string): ReturnType<CorpusSuite["check"]> {
  try {
    return suite.check(JSON.parse(line));
  } catch (error) {
    return { pass: false, got: { error: messageOf(error) }, want: null };
  }
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function usageError(message: string): number {
  process.stderr.write(`corpus: ${message}\n\n${USAGE}\n`);
  return 2;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
