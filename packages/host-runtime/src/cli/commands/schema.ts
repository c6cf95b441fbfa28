import { z } from "zod";
import { scenarioJsonSchema } from "@foldcast/adapter-registry/scenarios";
import { FoldcastExtension } from "@foldcast/protocol-core/wire/params";
import type { CommandSpec } from "../command.ts";
import { parseFlags } from "../options.ts";
import { UsageError } from "../usage-error.ts";

const HELP = `foldcast schema [extension|scenario]

Prints JSON schemas: of what foldcast adds to the Codex protocol, and of scenario files. Without a name, all by name.
`;

export const command: CommandSpec = {
  name: "schema",
  summary: "print JSON schemas of what foldcast adds",
  help: HELP,
  run(argv, io) {
    const { positionals } = parseFlags({ args: argv, allowPositionals: true, options: {} });
    const schemas: Readonly<Record<string, object>> = {
      extension: z.toJSONSchema(FoldcastExtension, { io: "input" }),
      scenario: scenarioJsonSchema(),
    };
    const [name] = positionals;
    const chosen = name === undefined ? schemas : schemas[name];
    if (chosen === undefined) throw new UsageError(`there is no schema \`${name ?? ""}\`; there are ${Object.keys(schemas).join(", ")}`);
    io.stdout.write(`${JSON.stringify(chosen, null, 2)}\n`);
    return Promise.resolve(0);
  },
};
