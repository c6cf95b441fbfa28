import { expect, test } from "vitest";
import type { Thread } from "@foldcast/protocol-core/wire";
import { WireClient } from "../support/client.ts";
import { memoryOf } from "../support/process.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { stalledClient } from "../support/stalled-client.ts";
import { webSocket } from "../support/transport.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = {
  short: { schema: 1, name: "short", turns: [{ steps: [{ message: "Short.", chunks: 3 }] }] },
  flood: { schema: 1, name: "flood", turns: [{ steps: [{ message: "x".repeat(30_000_000), chunks: 3_000 }] }] },
};

test("a reader that stops is cut off while others get everything, and what waits for it is bounded", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 0, args: ["--scenario-process"] });
  const connectCounting = async (): Promise<{ wire: WireClient; deltas: () => number; turns: () => number }> => {
    const wire = new WireClient(await webSocket(server.url), { record: false });
    await wire.request("initialize", { clientInfo: { name: "counting", title: null, version: "1" }, capabilities: { experimentalApi: true } });
    let [deltas, turns] = [0, 0];
    wire.on(({ method }) => {
      if (method === "item/agentMessage/delta") deltas += 1;
      else if (method === "turn/completed") turns += 1;
      wire.notifications.length = 0;
    });
    return { wire, deltas: () => deltas, turns: () => turns };
  };
  const one = await connectCounting();
  const two = await connectCounting();
  const { thread } = await one.wire.request<{ thread: Thread }>("thread/start", { model: "scripted/short", cwd: "/w" });
  const submit = (model: string): Promise<unknown> => one.wire.request("turn/start", { threadId: thread.id, model, input: [{ type: "text", text: "go", text_elements: [] }] });
  await submit("scripted/short");
  await until("the first turn", () => (one.turns() === 1 ? true : undefined));
  await two.wire.request("thread/resume", { threadId: thread.id, excludeTurns: true });
  const raw = await stalledClient(server.url, thread.id);
  const before = memoryOf(server.pid);
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, memoryOf(server.pid))), 50);
  try {
    // Each turn is 30 MB: the limit of 64 MB is passed with the third one at the latest.
    for (let turn = 1; turn <= 4; turn += 1) {
      await submit("scripted/flood");
      await until("the turn's end", () => (one.turns() === turn + 1 && two.turns() === turn ? true : undefined), { timeoutMs: 60_000 });
    }
  } finally {
    clearInterval(watch);
    raw.destroy();
  }
  console.log(`a stalled reader of 120 MB: ${before.toFixed(0)} → ${peak.toFixed(0)} MB`);
  expect([one.deltas(), two.deltas()]).toEqual([12_003, 12_000]);
  await until("a word on it", () => (server.stderr().includes("cutting off a slow reader") ? true : undefined));
  expect(server.stderr().match(/cutting off a slow reader/g)).toHaveLength(1);
  expect(peak).toBeLessThan(before + 500);
  await one.wire.close();
  await two.wire.close();
});
