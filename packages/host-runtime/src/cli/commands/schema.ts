import { z } from "zod";
import { scenarioJsonSchema } from "@foldcast/adapter-registry/scenarios";
import { interactionSchemas } from "@foldcast/protocol-core/interaction/schema";
import { FoldcastExtension } from "@foldcast/protocol-core/wire/params";
import type { Call } from "../command.ts";
import type { NO_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

export function run({ operands: [name], stdout }: Call<typeof NO_OPTIONS>): Promise<number> {
  const schemas: Readonly<Record<string, object>> = {
    extension: z.toJSONSchema(FoldcastExtension, { io: "input" }),
    interaction: Object.fromEntries(Object.entries(interactionSchemas).map(([of, schema]) => [of, z.toJSONSchema(schema, { io: "input" })])),
    scenario: scenarioJsonSchema(),
  };
  const chosen = name === undefined ? schemas : Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  if (chosen === undefined) throw new UsageError(`there is no schema \`${name ?? ""}\`; there are ${Object.keys(schemas).join(", ")}`);
  stdout.write(`${JSON.stringify(chosen, null, 2)}\n`);
  return Promise.resolve(0);
}
