import { readFile } from "node:fs/promises";
import { checkScenario } from "@foldcast/adapter-registry/scenarios";
import type { CommandSpec } from "../command.ts";
import { parseFlags } from "../options.ts";
import { UsageError } from "../usage-error.ts";

const HELP = `foldcast scenario check FILE

Says whether the scripted harness can play a scenario file, and what is wrong where.
The JSON schema of the format: foldcast schema scenario

Exit code: 0 it can, 1 it has faults, 2 it cannot be read.
`;

export const command: CommandSpec = {
  name: "scenario",
  summary: "check a scenario file of the scripted harness",
  help: HELP,
  async run(argv, io) {
    const { positionals } = parseFlags({ args: argv, allowPositionals: true, options: {} });
    const [verb, file, more] = positionals;
    if (verb !== "check" || file === undefined || more !== undefined) throw new UsageError("the usage is `foldcast scenario check FILE`");
    const check = checkScenario(await readText(file));
    if (check.ok) {
      io.stdout.write(`${file}: ok, ${check.scenario.turns.length} turns\n`);
      return 0;
    }
    for (const { path, message } of check.errors) io.stdout.write(printable(`${file}: ${path === "" ? "" : `${path}: `}${message}`) + "\n");
    return 1;
  },
};

async function readText(file: string): Promise<string> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
    if (!text.includes("\0")) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw new UsageError(`cannot read the file: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError(`${file} is not a text file; a scenario is JSON in UTF-8`);
}

/** Messages quote the file; nothing in it may move the cursor. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "�");
}
