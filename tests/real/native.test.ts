import { describe, expect, test } from "vitest";
import { isJsonObject, type Thread } from "@foldcast/protocol-core/wire";
import { startModelServer } from "../model-server/index.ts";
import { QUIET_TUI, nativeHome, startBehind, startCodexServer, type NativeHome } from "../support/native.ts";
import { FLOWS_SCENARIO, nativeFlows, type FlowRecord } from "../support/native-flows.ts";
import { archivedThreads, stableFrames, stableScreen, type StableFrames } from "../support/native-normal.ts";
import { nativeReads } from "../support/native-reads.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { SCENARIOS } from "../support/scenarios.ts";
import { Tui } from "../support/tui.ts";
import { choose, shown } from "../support/tui-steps.ts";

endToEnd();

interface Seen extends FlowRecord {
  home: NativeHome;
  /** What a client reads afterwards, when all is quiet. */
  reads: Record<string, unknown>;
}

describe("native threads behind foldcast", () => {
  test("the TUI's whole day is the same with foldcast in between and without: frames, screens, and what is read afterwards", async () => {
    const [alone, behind] = await Promise.all([seenOf("alone"), seenOf("behind")]);
    const frames = { alone: stableFrames(alone, alone.home), behind: stableFrames(behind, behind.home) };
    // Ours stand behind the native ones, and in no other answer.
    expect(takeOurModels(frames.behind)).toBeGreaterThan(1);
    expect(Object.keys(frames.alone).length).toBeGreaterThan(100);
    expect(frames.behind).toEqual(frames.alone);
    for (const seen of [alone, behind]) expect([...archivedThreads(seen).values()]).toEqual([true]);
    for (const step of Object.keys(alone.screens)) {
      expect(stableScreen(behind.screens[step]!, behind.home), step).toBe(stableScreen(alone.screens[step]!, alone.home));
    }
    expect(behind.reads).toEqual(alone.reads);
  });

  test("native and foreign threads run at once and stand in one list, also in the resume picker", async () => {
    await using model = await startModelServer({ scenario: FLOWS_SCENARIO });
    const home = nativeHome(model.url);
    await using server = await startBehind(home, { scenarios: SCENARIOS, speed: 1 });
    await using client = await PlainClient.connect(server.url);
    const { cwd } = home;
    const native = await client.start({ model: "gpt-5.5", cwd });
    const foreign = await client.start({ model: "scripted/work", cwd });
    const running = [await client.submit(native.id, "never end"), await client.submit(foreign.id, "a long one")] as const;
    await client.wire.waitFor("item/agentMessage/delta", (params) => params["threadId"] === native.id);
    await client.wire.waitFor("item/agentMessage/delta", (params) => params["threadId"] === foreign.id);
    expect((await statuses(client)).sort()).toEqual(["active", "active"]);
    for (const [at, thread] of [native, foreign].entries()) await client.wire.request("turn/interrupt", { threadId: thread.id, turnId: running[at] });
    expect((await client.ended(native.id, running[0])).status).toBe("interrupted");
    expect((await client.ended(foreign.id, running[1])).status).toBe("interrupted");
    const plain = await client.prompt(foreign.id, "the first prompt");
    expect(plain.status).toBe("completed");

    const { data } = await client.wire.request<{ data: Thread[] }>("thread/list", { sortKey: "updated_at", sourceKinds: ["cli", "vscode"], cwd });
    expect(data.map(({ modelProvider }) => modelProvider).sort()).toEqual(["foldcast", "mock"]);
    const seen = new Map([[native.id, { title: "never end", content: "Conversation interrupted" }], [foreign.id, { title: "a long one", content: "All three files are changed" }]]);
    const rows = data.map(({ id }) => seen.get(id)!);
    for (const [down, { title, content }] of rows.entries()) {
      await using tui = await Tui.start(server.url, `native-one-list-${down}`, { args: ["resume", "-C", cwd], config: QUIET_TUI });
      await shown(tui, new RegExp(rows.map((row) => row.title).join("[^]*")));
      await choose(tui, "Down", new RegExp(`[›❯] .*${title}`));
      await tui.capture("1-picker");
      await tui.press("Enter");
      await tui.waitFor(content);
      await tui.capture("2-opened");
    }
  });
});

async function seenOf(which: "alone" | "behind"): Promise<Seen> {
  await using model = await startModelServer({ scenario: FLOWS_SCENARIO });
  const home = nativeHome(model.url);
  await using server = which === "alone" ? await startCodexServer(home) : await startBehind(home, { scenarios: SCENARIOS });
  const flows = await nativeFlows(server.url, which, home.cwd);
  expect(model.unused()).toEqual([]);
  expect(model.strange).toEqual([]);
  return { ...flows, home, reads: await nativeReads(server.url, home) };
}

/** Takes our models out of the lists, where they have to be the last. How many there were. */
function takeOurModels(frames: StableFrames): number {
  let most = 0;
  for (const [key, answers] of Object.entries(frames)) {
    if (!key.includes("answers model/list")) continue;
    for (const answer of answers) {
      const result = isJsonObject(answer) && isJsonObject(answer["result"]) ? answer["result"] : {};
      const list = (result["data"] as { model: string }[]).map(({ model }) => model);
      const first = list.findIndex((model) => model.startsWith("scripted/"));
      expect(list.slice(first).every((model) => model.startsWith("scripted/"))).toBe(true);
      most = Math.max(most, (result["data"] as unknown[]).splice(first).length);
    }
  }
  return most;
}

async function statuses(client: PlainClient): Promise<string[]> {
  const { data } = await client.wire.request<{ data: Thread[] }>("thread/list", {});
  return data.map(({ status }) => status.type);
}
