import { expect, test } from "vitest";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { SCENARIOS } from "../support/scenarios.ts";
import { startServer } from "../support/server.ts";

endToEnd();

test("only a client that asks gets the call in the harness's own words, live and from history", async () => {
  await using server = await startServer({ scenarios: SCENARIOS });
  await using asking = await PlainClient.connect(server.url, { foldcast: { detail: true } });
  await using silent = await PlainClient.connect(server.url);
  const thread = await asking.start({ model: "scripted/work", cwd: "/w" });
  silent.threads.set(thread.id, []);
  await silent.wire.request("thread/resume", { threadId: thread.id });
  const live = await asking.prompt(thread.id, "first");
  const other = await silent.ended(thread.id, live.id ?? "");
  const read = await asking.read(thread.id);
  for (const items of [live.items, read.turns[0]?.items ?? []]) {
    const command = items.find((item) => item.type === "commandExecution");
    expect(command).toMatchObject({ foldcast: { rawName: "Bash", rawInput: { command: "echo hello && date" } } });
  }
  expect(read.turns[0]?.items).toEqual(live.items);
  expect(JSON.stringify(other)).not.toContain("foldcast");
  const plain = live.items.map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => name !== "foldcast")));
  expect(other.items).toEqual(plain);
});
