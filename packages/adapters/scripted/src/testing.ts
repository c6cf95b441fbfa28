import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import type { HarnessAdapter, HarnessEnvironment, HarnessEvent, HarnessSession, SessionOptions, TurnInput } from "@foldcast/protocol-core/harness";
import { SessionListener } from "@foldcast/adapter-kit/conformance";
import { definition } from "./index.ts";
import type { ScenarioInput } from "./scenario/schema.ts";

const ENTRY = `const { runScriptedChild } = await import(${JSON.stringify(join(import.meta.dirname, "engine", "child-main.ts"))});
  await runScriptedChild(process.stdin, process.stdout);`;

/** Starts the child from source, as a program of its own. */
export const SOURCE_CHILD = [process.execPath, "--conditions=@foldcast/source", "--import", "tsx", "--input-type=module", "--eval", ENTRY];

/** Bundles the child into a file, as a build does, and gives the command that starts it. */
export async function bundledChild(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "scripted-child-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "child.mjs");
  await build({
    stdin: { contents: ENTRY, resolveDir: import.meta.dirname }, outfile,
    bundle: true, platform: "node", format: "esm", conditions: ["@foldcast/source"], logLevel: "error",
  });
  return [process.execPath, outfile];
}

export function environment(dataDir: string, now: () => number = Date.now): HarnessEnvironment {
  return {
    now,
    newId: randomUUID,
    sleep: (ms, signal) => sleep(ms, undefined, signal instanceof AbortSignal ? { signal } : {}),
    log: () => undefined,
    dataDir,
    toolMaps: {},
  };
}

export interface TestHarness {
  adapter: HarnessAdapter;
  folder: string;
  cleanup(): Promise<void>;
}

/** An adapter with a folder of its own; `scenarios` are written as files into it. */
export async function makeHarness(
  scenarios: readonly ScenarioInput[] = [], settings: Readonly<Record<string, unknown>> = {}, around: Partial<HarnessEnvironment> = {},
): Promise<TestHarness> {
  const folder = await mkdtemp(join(tmpdir(), "scripted-"));
  for (const [index, scenario] of scenarios.entries()) await writeFile(join(folder, `${index}.json`), JSON.stringify(scenario));
  const own = scenarios.length === 0 ? {} : { scenarios: folder };
  const adapter = await definition.create({ ...environment(folder), ...around }, { speed: 0, ...own, ...settings });
  return {
    adapter,
    folder,
    async cleanup() {
      await adapter.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function scenario(name: string, ...turns: ScenarioInput["turns"]): ScenarioInput {
  return { schema: 1, name, turns };
}

export function options(model: string | null = null): SessionOptions {
  return { cwd: "/workspace", model, thinking: null, permissionMode: null };
}

export function prompt(text: string, clientId: string | null = null): TurnInput {
  return { input: [{ type: "text", text, text_elements: [] }], clientId };
}

/** Plays one turn of a scenario to its end and closes the session. */
export async function play(
  steps: ScenarioInput["turns"][number]["steps"], rest: Partial<ScenarioInput["turns"][number]> = {}, settings: Readonly<Record<string, unknown>> = {},
): Promise<HarnessEvent[]> {
  const harness = await makeHarness([scenario("test", { steps, ...rest })], settings);
  try {
    const { session, listener } = await start(harness.adapter, "test");
    const events = await listener.turnEnd(0);
    await session.close();
    return events;
  } finally {
    await harness.cleanup();
  }
}

export async function start(adapter: HarnessAdapter, model: string | null, text = "go"): Promise<{ session: HarnessSession; listener: SessionListener }> {
  const session = await adapter.open({ kind: "create", options: options(model) });
  const listener = new SessionListener(session);
  await session.startTurn(prompt(text));
  return { session, listener };
}

/** Events without their times, and without the turn's start. */
export function shape(events: readonly HarnessEvent[]): object[] {
  return events.filter((event) => event.type !== "turn.started").map((event) => {
    const rest: Partial<HarnessEvent> & object = { ...event };
    delete rest.at;
    if (rest.type === "turn.completed") delete rest.durationMs;
    return rest;
  });
}
