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
    let text: string;
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      throw new UsageError(`cannot read the file: ${error instanceof Error ? error.message : String(error)}`);
    }
    const check = checkScenario(text);
    if (check.ok) {
      io.stdout.write(`${file}: ok, ${check.scenario.turns.length} turns\n`);
      return 0;
    }
    for (const { path, message } of check.errors) io.stdout.write(`${file}: ${path === "" ? "" : `${path}: `}${message}\n`);
    return 1;
  },
};
