import { readFile } from "node:fs/promises";
import { checkScenario } from "@foldcast/adapter-registry/scenarios";
import type { Call } from "../command.ts";
import type { NO_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

export async function run({ operands: [, file, more], stdout }: Call<typeof NO_OPTIONS>): Promise<number> {
  if (file === undefined || more !== undefined) throw new UsageError("the usage is `foldcast scenario check FILE`");
  const check = checkScenario(await readText(file));
  if (check.ok) {
    const { length } = check.scenario.turns;
    stdout.write(`${file}: ok, ${length} turn${length === 1 ? "" : "s"}\n`);
    return 0;
  }
  for (const { path, message } of check.errors) stdout.write(`${printable(`${file}: ${path === "" ? "" : `${path}: `}${message}`)}\n`);
  return 1;
}

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
  return text.replace(/\p{Cc}/gu, "\ufffd");
}
