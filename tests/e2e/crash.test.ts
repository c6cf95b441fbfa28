import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Thread, Turn } from "@foldcast/protocol-core/wire";
import { PlainClient } from "../support/plain-client.ts";
import { temporaryDir } from "../support/paths.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { sleep, until } from "../support/wait.ts";

endToEnd();

const KILLS = Number(process.env["FOLDCAST_KILLS"] ?? 2);

const run = (id: string): object[] => [
  { tool: { id, name: "shell", input: { command: `make ${id}` } } },
  { output: id, text: `${id}\n` },
  { result: { id, output: `${id}\n`, exitCode: 0 } },
];
const SCENARIO = {
  schema: 1,
  name: "long",
  turns: [{
    steps: Array.from({ length: 2_000 }, (_, at) => [{ message: `Step ${at}.`, chunks: 3, chunkDelayMs: 2 }, ...run(`c${at}`), { delayMs: 15 }]).flat(),
  }],
};

type Steps = { completed: Map<string, string[]>; turnIds: string[] };

interface Found {
  turns: Turn[];
  queued: string[];
}

/** Has a turn played until the host is killed, on a thread of its own where none is given. `before` is what the thread was when the host came up. */
async function killWhile(dataDir: string, threadId: string | null, afterMs: number): Promise<{ before: Found | null; told: Steps; threadId: string; queued: string }> {
  await using server = await startServer({ scenarios: { long: SCENARIO }, speed: 1, dataDir });
  await using client = await PlainClient.connect(server.url);
  const told: Steps = { completed: new Map(), turnIds: [] };
  client.wire.on(({ method, params }) => {
    if (method !== "item/completed") return;
    const { turnId, item } = params as { turnId: string; item: { id: string } };
    told.completed.set(turnId, [...(told.completed.get(turnId) ?? []), item.id]);
  });
  const before = threadId === null ? null : await find(client, threadId);
  const id = threadId ?? (await client.start({ model: "scripted/long", cwd: "/w" })).id;
  if (threadId !== null) await client.join(id);
  told.turnIds.push(await client.submit(id, "go"));
  const queued = randomUUID();
  await client.wire.request("thread/queue/add", { threadId: id, input: [{ type: "text", text: "after", text_elements: [] }], clientUserMessageId: queued });
  await until("the first items", () => ([...told.completed.values()].flat().length > 2 ? true : undefined), { everyMs: 1 });
  await sleep(afterMs);
  await server.stop("SIGKILL");
  return { before, told, threadId: id, queued };
}

async function findAfter(dataDir: string, threadId: string): Promise<Found> {
  await using server = await startServer({ scenarios: { long: SCENARIO }, speed: 1, dataDir });
  await using client = await PlainClient.connect(server.url);
  return await find(client, threadId);
}

async function find(client: PlainClient, threadId: string): Promise<Found> {
  const { thread } = await client.wire.request<{ thread: Thread }>("thread/read", { threadId, includeTurns: true });
  const { data } = await client.wire.request<{ data: { clientUserMessageId: string }[] }>("thread/queue/list", { threadId });
  return { turns: thread.turns, queued: data.map((each) => each.clientUserMessageId) };
}

function demandAll({ turns }: { turns: readonly Turn[] }, { completed, turnIds }: Steps): void {
  const ids = turns.flatMap((turn) => turn.items.map((item) => item.id));
  expect(new Set(ids).size).toBe(ids.length);
  for (const turnId of turnIds) expect(turns.filter((turn) => turn.id === turnId)).toHaveLength(1);
  for (const [turnId, items] of completed) expect(turns.find((turn) => turn.id === turnId)?.items.map((item) => item.id)).toEqual(expect.arrayContaining(items));
  for (const turn of turns) expect(turn.status).toBe("interrupted");
}

describe("after the host was killed in the middle of a turn", () => {
  test("that turn is interrupted, and what the client had is there once, under the same ids; what waited still waits", async () => {
    const dataDir = temporaryDir("data");
    const { told, threadId, queued } = await killWhile(dataDir, null, 150);
    const after = await findAfter(dataDir, threadId);
    demandAll(after, told);
    expect(after.turns).toHaveLength(1);
    expect(after.queued).toEqual([queued]);
  });

  // FOLDCAST_KILLS=200 for a long run.
  test(`the same at ${KILLS} random moments, one after the other on the same thread`, async () => {
    const dataDir = temporaryDir("data");
    let threadId: string | null = null;
    const all: Steps = { completed: new Map(), turnIds: [] };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const round: Awaited<ReturnType<typeof killWhile>> = await killWhile(dataDir, threadId, Math.floor(Math.random() * 700));
      if (round.before !== null) demandAll(round.before, all);
      threadId = round.threadId;
      all.turnIds.push(...round.told.turnIds);
      for (const [turnId, items] of round.told.completed) all.completed.set(turnId, items);
    }
    demandAll(await findAfter(dataDir, threadId!), all);
    console.log(`${KILLS} kills: ${[...all.completed.values()].flat().length} items told and found`);
  }, 60_000 + KILLS * 30_000);
});
