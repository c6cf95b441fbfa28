import { readFile } from "node:fs/promises";
import { presentRow } from "./present-row.ts";

const USAGE = `usage: npm run -s present -- FILE.jsonl

Rows {"harness","name","input","output"?,"status","cwd","locale"} to rows {"kind","canonicalName","title","evidence","limits"}.
Exit code: 0 all rows presented, 1 a row could not be read, 2 wrong usage or an unreadable file.`;

process.exitCode = await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<number> {
  const [file, ...rest] = args;
  if (file === undefined || file.startsWith("-") || rest.length > 0) return usageError("one file is needed");
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    return usageError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  let faults = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const row = presentLine(line);
    if (row === null) {
      faults++;
      process.stderr.write(`present: line ${index + 1} is no row\n`);
    }
    process.stdout.write(`${JSON.stringify(row ?? { error: "not a row" })}\n`);
  }
  return faults === 0 ? 0 : 1;
}

function presentLine(line: string): ReturnType<typeof presentRow> {
  try {
    return presentRow(JSON.parse(line));
  } catch {
    return null;
  }
}

function usageError(message: string): number {
  process.stderr.write(`present: ${message}\n\n${USAGE}\n`);
  return 2;
}
