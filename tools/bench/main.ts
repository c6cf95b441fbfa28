import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { BenchCase } from "./case.ts";
import { measure, type BenchResult } from "./measure.ts";

const CASES = fileURLToPath(new URL("./cases/", import.meta.url));

/**
 * `npm run -s bench -- [--case NAME]… [--json]`: one line a case; `--json` as in `BenchResult`. Without `--case` all of
 * them, each in a process of its own, so that one case does not warm or spoil the engine for the next. Exit 0 all ran,
 * 1 a case threw, 2 wrong usage or unknown case. Times are reported, never judged.
 */
async function main(argv: string[]): Promise<number> {
  const known = readdirSync(CASES).flatMap((file) => (/\.test\.ts$/.test(file) ? [] : (/^([a-z0-9-]+)\.ts$/.exec(file)?.[1] ?? []))).sort();
  let wanted: string[];
  let json: boolean;
  try {
    const { values } = parseArgs({ args: argv, options: { case: { type: "string", multiple: true }, json: { type: "boolean", default: false } } });
    wanted = values.case ?? known;
    json = values.json;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`unknown case ${unknown.join(", ")}; known: ${known.join(", ")}\n`);
    return 2;
  }
  if (wanted.length > 1) return Math.max(...wanted.map((name) => runApart(name, json)));
  try {
    const name = wanted[0]!;
    const module = (await import(pathToFileURL(join(CASES, `${name}.ts`)).href)) as { default: BenchCase };
    const result = await measure(name, module.default);
    process.stdout.write(`${json ? JSON.stringify(result) : readable(result)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${wanted[0]!} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 1;
  }
}

function runApart(name: string, json: boolean): number {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), "--case", name, ...(json ? ["--json"] : [])];
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
}

function readable({ case: name, n, unit, value, p95, growth, also = {}, more = {} }: BenchResult): string {
  const grows = growth === null ? "" : `  ${String(growth.from)} → ${String(growth.from * 10)}: ${String(growth.ratio)} × linear`;
  const others = Object.entries(also).map(([way, figures]) => `\n${" ".repeat(17)}${way}: ${String(figures.value)} ${unit} (p95 ${String(figures.p95)})`);
  const costs = Object.entries(more).map(([what, figure]) => `\n${" ".repeat(17)}${what}: ${String(figure)}`);
  return `${name.padEnd(16)} n=${String(n).padEnd(8)} ${String(value)} ${unit} (p95 ${String(p95)})${grows}${others.join("")}${costs.join("")}`;
}

process.exitCode = await main(process.argv.slice(2));
