import type { CommandSpec } from "../command.ts";
import { environmentSettings, parseFlags, SERVER_FLAGS, serverOptions } from "../options.ts";
import { memoryStore } from "../../store/open.ts";
import { startHost, stopHost } from "../start-host.ts";

const HELP = `foldcast models [--json] [--harness ID]

Lists the models that clients can choose, in the order of their pickers. The first one that is ready is the default.

  --json   [{"id","harness","displayName","ready","reason","efforts"}]
`;

export const command: CommandSpec = {
  name: "models",
  summary: "list the models on offer",
  help: HELP,
  async run(argv, io) {
    const { values } = parseFlags({ args: argv, options: { ...SERVER_FLAGS, json: { type: "boolean" } } });
    const running = startHost(serverOptions(values, environmentSettings(process.env), process.env), memoryStore(null));
    const models = await running.host.catalogue.models();
    const rows = models.map(({ id, harness, harnessName, model, ready, reason }) => ({
      id, harness, displayName: `${harnessName}: ${model.displayName}`, ready, reason, efforts: model.efforts,
    }));
    if (values.json === true) io.stdout.write(`${JSON.stringify(rows)}\n`);
    else for (const row of rows) io.stdout.write(`${row.id}  ${row.displayName}${row.ready ? "" : `  (not ready: ${row.reason ?? "unknown"})`}\n`);
    await stopHost(running);
    return 0;
  },
};
