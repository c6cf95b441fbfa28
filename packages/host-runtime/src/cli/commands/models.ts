import { CODEX } from "../../native/program.ts";
import { memoryStore } from "../../store/open.ts";
import type { Call } from "../command.ts";
import { nativeModels } from "../native-models.ts";
import { nativeProgram } from "../native.ts";
import { serverOptions } from "../server-options.ts";
import { chosenHarnesses, startHost, stopHost } from "../start-host.ts";
import type { MODELS_OPTIONS } from "../table/options.ts";

export async function run({ settings, env, stdout, stderr }: Call<typeof MODELS_OPTIONS>): Promise<number> {
  const { values, file } = await settings();
  const native = await nativeProgram(values, env);
  const options = { ...serverOptions(values, file, env), native };
  const running = startHost(options, memoryStore(null));
  const own = native === null ? [] : await nativeModels(running.host);
  const models = await running.host.catalogue.models();
  const rows = [...own.map(({ id, displayName, supportedReasoningEfforts }) => ({
    id, harness: CODEX, displayName, ready: true, reason: null, efforts: supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort),
  })), ...models.map(({ id, harness, harnessName, model, ready, reason }) => ({
    id, harness, displayName: `${harnessName}: ${model.displayName}`, ready, reason, efforts: model.efforts,
  }))];
  if (values.json) stdout.write(`${JSON.stringify(rows)}\n`);
  else for (const line of modelLines(rows)) stdout.write(`${line}\n`);
  const offering = new Set(rows.flatMap(({ harness, ready }) => (ready ? [harness] : [])));
  const silent = chosenHarnesses(options).flatMap(({ id, isReplayOnly }) => (offering.has(id) || isReplayOnly === true ? [] : [id]));
  if (!values.json && silent.length > 0) stderr.write(`not ready: ${silent.join(", ")}; foldcast doctor says what to do\n`);
  await stopHost(running);
  return 0;
}

/** A line for each model. All models of a harness lack the same: what it is stands at the first. */
export function modelLines(rows: readonly { id: string; harness: string; displayName: string; ready: boolean; reason: string | null }[]): string[] {
  const width = Math.max(...rows.map(({ id }) => id.length));
  const told = new Set<string>();
  return rows.map(({ id, harness, displayName, ready, reason }) => {
    const why = `${harness}: ${reason ?? "unknown"}`;
    const lacks = ready ? "" : told.has(why) ? "  (not ready)" : `  (not ready: ${reason ?? "unknown"})`;
    if (!ready) told.add(why);
    return `${id.padEnd(width)}  ${displayName}${lacks}`;
  });
}
