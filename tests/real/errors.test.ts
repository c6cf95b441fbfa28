import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RpcFault, WireClient } from "../support/client.ts";
import { codexProgram } from "../support/codex.ts";
import { isolatedEnv, temporaryDir } from "../support/paths.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { childProcess, webSocket } from "../support/transport.ts";
import { endToEnd } from "../support/recording.ts";

endToEnd();

/** Not the id of any thread. */
const NOBODY = "01a229e8-e9f7-71b2-860b-81d668b09a46";
const text = (words: string): object => ({ type: "text", text: words, text_elements: [] });

/** Requests that both servers refuse, or answer without knowing more than the request. `THREAD` = a fresh thread's id. */
const REQUESTS: readonly [string, unknown][] = [
  ["initialize", { clientInfo: { name: "again", version: "1" } }],
  ["nope/nope", {}],
  ["thread/read", undefined],
  ["thread/read", null],
  ["thread/read", {}],
  ["thread/read", { threadId: 5 }],
  ["thread/read", { threadId: NOBODY }],
  ["thread/read", { threadId: "nonsense" }],
  ["thread/resume", { threadId: NOBODY }],
  ["thread/archive", { threadId: NOBODY }],
  ["thread/name/set", { threadId: NOBODY, name: "x" }],
  ["thread/unsubscribe", { threadId: NOBODY }],
  ["turn/start", { threadId: NOBODY, input: [] }],
  ["turn/start", { threadId: "THREAD", input: "x" }],
  ["turn/start", { threadId: "THREAD", input: [text("x".repeat(1_048_577))] }],
  ["turn/interrupt", { threadId: NOBODY, turnId: NOBODY }],
  ["turn/interrupt", { threadId: "THREAD", turnId: NOBODY }],
  ["turn/steer", { threadId: "THREAD", input: [text("x")] }],
  ["turn/steer", { threadId: "THREAD", input: [text("x")], expectedTurnId: NOBODY }],
  ["thread/turns/list", { threadId: "THREAD" }],
  ["thread/items/list", { threadId: "THREAD" }],
  ["thread/read", { threadId: "THREAD", includeTurns: true }],
  ["thread/list", { cursor: "garbage" }],
  ["thread/list", { sortKey: "bogus" }],
  ["thread/list", { sortKey: "section_position" }],
];

let ours: RunningServer;
let fresh: Record<"real" | "ours", WireClient>;
beforeAll(async () => {
  const { bin } = await codexProgram();
  const home = temporaryDir("real-home");
  mkdirSync(`${home}/.codex`);
  ours = await startServer();
  fresh = {
    real: new WireClient(childProcess(bin, ["app-server"], isolatedEnv(home), home), { label: "real", record: false }),
    ours: new WireClient(await webSocket(ours.url), { label: "ours" }),
  };
});
afterAll(async () => {
  await fresh.real.close();
  await fresh.ours.close();
  await ours.stop();
});

/** An answer in the parts that must be the same; ids of fresh threads are the servers' own. */
async function answer(client: WireClient, method: string, params: unknown, threadId: string): Promise<unknown> {
  const filled = JSON.parse(JSON.stringify({ params }).replaceAll("THREAD", threadId)) as { params?: unknown };
  const given = await client.request(method, filled.params).then(
    (result) => ({ result }),
    (error: unknown) => {
      if (!(error instanceof RpcFault)) throw error;
      return { code: error.code, message: error.message, data: error.data };
    },
  );
  const plain = JSON.stringify(given).replaceAll(threadId, "THREAD");
  // The list of all methods that the text ends with is the real program's; its head is what clients match.
  return JSON.parse(plain.replace(/(expected one of `initialize`).*?(?=")/, "$1")) as unknown;
}

test("requests that fail fail with the real server's codes and words", async () => {
  const faults: unknown[] = [];
  const before = await Promise.all([fresh.real, fresh.ours].map((client) => answer(client, "thread/list", {}, "none")));
  if (JSON.stringify(before[0]) !== JSON.stringify(before[1])) faults.push({ method: "thread/list before initialize", real: before[0], ours: before[1] });
  const threads = await Promise.all(
    [fresh.real, fresh.ours].map(async (client) => {
      await client.request("initialize", { clientInfo: { name: "errors", title: null, version: "1" }, capabilities: { experimentalApi: true } });
      return (await client.request<{ thread: { id: string } }>("thread/start", { cwd: temporaryDir("cwd") })).thread.id;
    }),
  );
  for (const [method, params] of REQUESTS) {
    const [real, own] = await Promise.all([answer(fresh.real, method, params, threads[0]!), answer(fresh.ours, method, params, threads[1]!)]);
    if (JSON.stringify(real) !== JSON.stringify(own)) faults.push({ method, params: JSON.stringify([params]).slice(0, 100), real, ours: own });
  }
  expect(faults).toEqual([]);
});
