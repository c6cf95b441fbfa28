import { memoryStore } from "../../store/open.ts";
import type { Call } from "../command.ts";
import { serverOptions } from "../server-options.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { MODELS_OPTIONS } from "../table/options.ts";

export async function run({ settings, env, stdout }: Call<typeof MODELS_OPTIONS>): Promise<number> {
  const { values, file } = await settings();
  const running = startHost(serverOptions(values, file, env), memoryStore(null));
  const models = await running.host.catalogue.models();
  const rows = models.map(({ id, harness, harnessName, model, ready, reason }) => ({
    id, harness, displayName: `${harnessName}: ${model.displayName}`, ready, reason, efforts: model.efforts,
  }));
  if (values.json) stdout.write(`${JSON.stringify(rows)}\n`);
  else for (const row of rows) stdout.write(`${row.id}  ${row.displayName}${row.ready ? "" : `  (not ready: ${row.reason ?? "unknown"})`}\n`);
  await stopHost(running);
  return 0;
}
