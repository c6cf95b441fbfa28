import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { presentRecordings, tabulate } from "./lift/table.ts";

const USAGE = `usage: tsx tools/lift-calls.ts [DATA] [--titles] [--json]

Lifts every tool call out of the recordings under DATA (default: the data folder beside the repository), presents each
and prints one row a harness (kept in tools/lift/table.txt). --titles prints the titles instead, --json the rows as JSON Lines.
Exit code: 0 all calls are presented well, 1 too many stay unknown or a title is raw, 2 wrong usage.`;

process.exitCode = run(process.argv.slice(2));

function run(args: string[]): number {
  let parsed: ReturnType<typeof parseOptions>;
  try {
    parsed = parseOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    return 2;
  }
  const data = resolve(parsed.positionals[0] ?? join(import.meta.dirname, "../../shared/data"));
  const presented = presentRecordings(data);
  if (parsed.values.titles === true) {
    for (const { harness, call, titles } of presented) console.log([harness, call.name, ...titles].join("\t"));
    return 0;
  }
  const rows = tabulate(presented);
  for (const row of rows) {
    if (parsed.values.json === true) console.log(JSON.stringify(row));
    else {
      const kinds = Object.entries(row.kinds).sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${kind} ${count}`).join(", ");
      console.log(`${row.harness.padEnd(22)} ${String(row.calls).padStart(5)} calls, ${row.mcp} mcp, refused ${row.refused}, unknown ${row.unknown} (${row.unknownPercent} %) ${row.unknownNames.join(" ")}, raw titles ${row.rawTitles}, { ${row.braceTitles} · ${kinds}`);
    }
  }
  const isGood = rows.every((row) => row.unknownPercent <= 2 && row.rawTitles === 0 && row.braceTitles === 0 && row.knownButUnknown === 0);
  return isGood ? 0 : 1;
}

function parseOptions(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options: { titles: { type: "boolean" }, json: { type: "boolean" } } });
}
