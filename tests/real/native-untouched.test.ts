import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Thread } from "@foldcast/protocol-core/wire";
import { startModelServer, type ScenarioInput } from "../model-server/index.ts";
import { RpcFault } from "../support/client.ts";
import { nativeHome, QUIET_TUI, startBehind, type NativeHome } from "../support/native.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { Tui } from "../support/tui.ts";
import { finished, pickModel } from "../support/tui-steps.ts";
import { stillFor, until } from "../support/wait.ts";

endToEnd();

/** `FOLDCAST_STEPS=2000` goes on for longer, with a seed of its own. */
const STEPS = process.env["FOLDCAST_STEPS"];

const MODEL: ScenarioInput = { replies: [{ blocks: [{ text: "Said by the native model." }], times: 0 }] };
const SCENARIOS = Object.fromEntries(["one", "two"].map((name) => [name, {
  schema: 1,
  name,
  turns: [
    { match: "slowly", steps: [{ message: "I begin." }, { delayMs: 600_000 }, { message: "never seen" }], end: "succeeded" },
    { match: "quick", steps: [{ reasoning: "So be it." }, { message: `Said by scenario ${name}.` }], end: "succeeded" },
  ],
}]));
const MODELS = ["scripted/one", "scripted/two"] as const;

interface World {
  client: PlainClient;
  cwd: string;
  native: string;
  foreign: string[];
  archived: string[];
}
type Step = (world: World, pick: number) => Promise<unknown>;
const some = (ids: readonly string[], pick: number): string => ids[pick % ids.length] ?? "01900000-0000-7000-8000-000000000000";
const model = (pick: number): string => MODELS[pick % MODELS.length]!;
const ask = (method: string, params: (world: World, pick: number) => object): Step => ({ client, ...world }, pick) => client.wire.request(method, params({ client, ...world }, pick));

/** What a client can do with foreign threads and their models; each refusal is an answer, too. */
const STEPS_BY_NAME: Readonly<Record<string, Step>> = {
  async start({ client, cwd, foreign }, pick) {
    foreign.push((await client.start({ model: model(pick), cwd })).id);
  },
  /** The thread is native until its first turn names one of our models. */
  async adopt({ client, cwd, foreign }, pick) {
    const { id } = await client.start({ model: "gpt-5.5", cwd });
    const { turn } = await client.wire.request<{ turn: { id: string } }>("turn/start", { threadId: id, model: model(pick), input: [{ type: "text", text: "quick", text_elements: [] }] });
    await client.ended(id, turn.id);
    foreign.push(id);
  },
  async turn({ client, foreign }, pick) {
    await client.join(some(foreign, pick));
    await client.prompt(some(foreign, pick), "quick");
  },
  async interrupt({ client, foreign }, pick) {
    const threadId = some(foreign, pick);
    await client.join(threadId);
    const turnId = await client.submit(threadId, "slowly");
    await client.wire.request("turn/interrupt", { threadId, turnId });
    await client.ended(threadId, turnId);
  },
  async fork({ client, foreign }, pick) {
    foreign.push((await client.wire.request<{ thread: Thread }>("thread/fork", { threadId: some(foreign, pick) })).thread.id);
  },
  async archive({ client, foreign, archived }, pick) {
    const threadId = some(foreign, pick);
    await client.wire.request("thread/archive", { threadId });
    archived.push(...foreign.splice(foreign.indexOf(threadId), 1));
  },
  async unarchive({ client, foreign, archived }, pick) {
    const threadId = some(archived, pick);
    await client.wire.request("thread/unarchive", { threadId });
    foreign.push(...archived.splice(archived.indexOf(threadId), 1));
  },
  async remove({ client, foreign }, pick) {
    const threadId = some(foreign, pick);
    await client.wire.request("thread/delete", { threadId });
    foreign.splice(foreign.indexOf(threadId), 1);
  },
  rename: ask("thread/name/set", ({ foreign }, pick) => ({ threadId: some(foreign, pick), name: `Name ${pick}` })),
  settings: ask("thread/settings/update", ({ foreign }, pick) => ({ threadId: some(foreign, pick), model: model(pick), effort: "medium" })),
  /** As the TUI does it at `/model`. */
  configure: ask("config/batchWrite", (_, pick) => ({ edits: [{ keyPath: "model", value: model(pick), mergeStrategy: "replace" }, { keyPath: "model_reasoning_effort", value: "medium", mergeStrategy: "replace" }], filePath: null, expectedVersion: null, reloadUserConfig: true })),
  configureOne: ask("config/value/write", (_, pick) => ({ keyPath: "model", value: model(pick), mergeStrategy: "replace" })),
  configuration: ask("config/read", ({ cwd }) => ({ cwd, includeLayers: true })),
  list: ask("thread/list", (_, pick) => ({ limit: 1 + (pick % 5), archived: pick % 2 === 0 })),
  search: ask("thread/search", () => ({ searchTerm: "quick" })),
  models: ask("model/list", () => ({ includeHidden: true })),
  readForeign: ask("thread/read", ({ foreign }, pick) => ({ threadId: some(foreign, pick), includeTurns: true })),
  readNative: ask("thread/read", ({ native }) => ({ threadId: native, includeTurns: true })),
};
const names = Object.keys(STEPS_BY_NAME);
const step = fc.record({ name: fc.constantFrom(...names), pick: fc.nat(100) });
const plan = fc.sample(step, STEPS === undefined ? { seed: 20_261_130, numRuns: 150 } : { numRuns: Number(STEPS) });

describe("the user's own Codex files", () => {
  test("are byte for byte the same after random use of foreign threads, and after /model in the TUI", { timeout: 120_000 + plan.length * 500 }, async () => {
    await using modelServer = await startModelServer({ scenario: MODEL });
    const home = nativeHome(modelServer.url);
    writeFileSync(join(home.codexHome, "auth.json"), "{\n  \"OPENAI_API_KEY\":   \"not-a-key\"\n}");
    await using server = await startBehind(home, { scenarios: SCENARIOS, speed: 1 });
    const native = await nativeThread(server.url, home);
    // What Codex writes when a turn is over comes behind its end.
    const before = await stillFor("the user's files", () => filesOf(home), JSON.stringify);
    expect(Object.keys(before).filter((file) => file.endsWith(".jsonl"))).toHaveLength(1);

    await using client = await PlainClient.connect(server.url);
    const world: World = { client, cwd: home.cwd, native, foreign: [], archived: [] };
    const done = new Map<string, number>();
    for (const { name, pick } of plan) {
      try {
        await STEPS_BY_NAME[name]!(world, pick);
        done.set(name, (done.get(name) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error;
      }
      expect(filesOf(home), `after ${name}`).toEqual(before);
    }
    // Each of them has worked.
    expect(names.filter((name) => !done.has(name))).toEqual([]);

    await using tui = await Tui.start(server.url, "native-untouched", { args: ["-C", home.cwd], config: QUIET_TUI });
    await tui.ready();
    await pickModel(tui, "two", "Down");
    await tui.submit("quick");
    await finished(tui, "Said by scenario two.");
    await tui.submit("quick once more");
    await finished(tui, "Said by scenario two.", 2);
    await tui.capture("foreign-model");
    expect(await tui.quit()).toBe(0);
    expect(filesOf(home)).toEqual(before);

    // It would show: what is native changes them.
    await using last = await PlainClient.connect(server.url);
    await last.join(native);
    await last.prompt(native, "once more");
    await last.wire.request("config/value/write", { keyPath: "model", value: "gpt-6-sol", mergeStrategy: "replace" });
    const changed = (): string[] => {
      const after = filesOf(home);
      return Object.keys(before).filter((file) => before[file] !== after[file]).map((file) => (file.endsWith(".jsonl") ? "session" : file)).sort();
    };
    await until("the changes", () => (changed().length === 2 ? true : undefined), { everyMs: 100, describe: () => changed().join() });
    expect(changed()).toEqual(["config.toml", "session"]);
  });
});

/** One native thread with a turn, loaded by nobody afterwards. */
async function nativeThread(url: string, { cwd }: NativeHome): Promise<string> {
  await using client = await PlainClient.connect(url);
  const { id } = await client.start({ model: "gpt-5.5", cwd });
  await client.prompt(id, "a native prompt");
  return id;
}

/** The user's files, by name, as sums of their bytes; not what Codex keeps for itself (databases, caches, its own skills). */
function filesOf({ codexHome }: NativeHome): Record<string, string> {
  const files = readdirSync(codexHome, { recursive: true, encoding: "utf8" })
    .filter((name) => /^(config\.toml|auth\.json|history\.jsonl|(archived_)?sessions\/.*)$/.test(name))
    .map((name) => join(codexHome, name))
    .filter((path) => statSync(path).isFile());
  return Object.fromEntries(files.map((path) => [relative(codexHome, path), createHash("sha256").update(readFileSync(path)).digest("hex")]));
}
