import { dirname } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { foldTurn } from "@foldcast/protocol-core/folding";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { foldcast, jsonLines } from "../support/command.ts";
import { DesktopClient } from "../support/desktop-client.ts";
import { desktopFold } from "../support/desktop-fold.ts";
import type { DesktopTurn } from "../support/desktop-turns.ts";
import { generatedPlan, MARK, promptOf, scenarioOf, type GeneratedPlan } from "../support/generated-scenarios.ts";
import { withoutIds } from "../support/normal.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = 80;
/** Changes only with intent: a failure must come back. `FOLDCAST_SEED` tries others. */
const SEED = Number(process.env["FOLDCAST_SEED"] ?? 20_261_130);

const NOTHING = { completedWithoutStart: 0, deltaWithoutItem: 0, unknownTurn: 0, unknownThread: 0 };

interface Played {
  plan: GeneratedPlan;
  file: string;
  live: DesktopTurn[];
}

test("what a new process reads from the session file is what the clients saw live", { timeout: 240_000 }, async () => {
  const plans = fc.sample(generatedPlan, { seed: SEED, numRuns: SCENARIOS });
  const scenarios = Object.fromEntries(plans.map((plan, n) => [`g${n}`, scenarioOf(plan, `g${n}`)]));
  const played: Played[] = [];
  {
    await using server = await startServer({ scenarios, speed: 1 });
    for (let at = 0; at < plans.length; at += 8) {
      played.push(...(await Promise.all(plans.slice(at, at + 8).map((plan, n) => play(server, plan, `scripted/g${at + n}`)))));
    }
  }
  const folder = dirname(played[0]!.file);
  const replay = await foldcast(["replay", folder, "--json", "--items"]);
  expect(replay.stderr).not.toMatch(/error/i);
  const lines = jsonLines(replay.stdout);
  for (const { plan, file, live } of played) {
    const threads = lines.filter((line) => line["type"] === "session" && line["file"] === file);
    expect(threads, JSON.stringify(plan)).toHaveLength(1);
    const start = lines.indexOf(threads[0]!) + 1;
    const rest = lines.slice(start);
    const next = rest.findIndex((line) => line["type"] === "session");
    const turns = (next < 0 ? rest : rest.slice(0, next)).filter((line) => line["type"] === "turn");
    expect(withoutIds(turns.map(ofReplay)), JSON.stringify(plan)).toEqual(withoutIds(live.map(ofLive)));
  }
  const hit = new Map<string, number>();
  for (const { plan, live } of played) {
    for (const feature of plan.turns.flatMap((turn) => turn.features)) hit.set(feature, (hit.get(feature) ?? 0) + 1);
    for (const turn of live) hit.set(`ended ${turn.status}`, (hit.get(`ended ${turn.status}`) ?? 0) + 1);
  }
  console.log(Object.fromEntries([...hit].sort()));
  const needed = [
    "steer", "hiddenItem", "blankText", "revertedEdit", "failedLastMessage", "openAtEnd", "parallelTools", "failure", "cancellation", "interrupt",
    "crash", "explicitPhase", "mergedEdits", "rename", "declined", "subagent", "usage", "compaction", "longOutput",
    "ended completed", "ended failed", "ended interrupted",
  ];
  expect(needed.filter((feature) => !hit.has(feature))).toEqual([]);
});

/** Plays all turns of a scenario in one thread, and gives them as a client that follows by state saw them. */
async function play(server: RunningServer, plan: GeneratedPlan, model: string): Promise<Played> {
  await using client = await PlainClient.connect(server.url);
  await using desktop = await DesktopClient.connect(server.url);
  const thread = await client.start({ model, cwd: "/w" });
  await desktop.open(thread.id);
  for (const [n, turn] of plan.turns.entries()) {
    const turnId = await client.submit(thread.id, promptOf(n));
    if (turn.act !== "none") await act(client, thread.id, turnId, turn.act);
    await client.ended(thread.id, turnId);
  }
  expect(client.dropped).toEqual(NOTHING);
  await sameForDesktop(desktop, thread.id, plan);
  const read = await client.read(thread.id);
  const live = structuredClone(client.threads.get(thread.id) ?? []);
  expect(read.turns.map((turn) => turn.items), JSON.stringify(plan)).toEqual(live.map((turn) => turn.items));
  if (read.thread.path === null) throw new Error("the thread has no session file");
  return { plan, file: read.thread.path, live };
}

/** A client like Desktop sees the same turns live and when it opens them again, and folds them as the product says. */
async function sameForDesktop(desktop: DesktopClient, threadId: string, plan: GeneratedPlan): Promise<void> {
  const ended = (): number | undefined => desktop.threads.get(threadId)?.filter((turn) => turn.status !== "inProgress").length;
  await until("Desktop's end", () => (ended() === plan.turns.length ? true : undefined), { everyMs: 5 });
  const live = structuredClone(desktop.threads.get(threadId) ?? []);
  const opened = await desktop.open(threadId);
  expect(opened.map((turn) => [turn.status, turn.items]), JSON.stringify(plan)).toEqual(live.map((turn) => [turn.status, turn.items]));
  for (const turn of opened) {
    const verdict = foldTurn({ ...turn, id: turn.id ?? "", rootTurnId: null, itemsView: "full", completedAt: null });
    const fold = desktopFold(turn);
    expect({ collapses: fold.collapses, hidden: fold.hidden }, JSON.stringify(plan)).toEqual({ collapses: verdict.folds, hidden: verdict.foldedItemIds });
  }
  expect(desktop.dropped).toEqual(NOTHING);
}

async function act(client: PlainClient, threadId: string, turnId: string, what: "steer" | "interrupt"): Promise<void> {
  const marked = (): true | undefined =>
    client.threads.get(threadId)?.some((turn) => turn.id === turnId && turn.items.some((item) => item.type === "agentMessage" && item.text === MARK)) === true || undefined;
  await until("the mark", marked, { everyMs: 2 });
  if (what === "interrupt") {
    await client.wire.request("turn/interrupt", { threadId, turnId });
    return;
  }
  await client.wire.request("turn/steer", { threadId, expectedTurnId: turnId, input: [{ type: "text", text: "and mind the edges", text_elements: [] }] });
  const { id } = await until("the request", () => client.wire.requests.find(({ params }) => params["turnId"] === turnId), { everyMs: 2 });
  client.wire.respond(id, { answers: { approval: { answers: ["Approve"] } } });
}

interface Comparable {
  status: unknown;
  startedAt: unknown;
  durationMs: unknown;
  items: ThreadItem[];
}

function ofLive(turn: DesktopTurn): Comparable {
  return { status: turn.status, startedAt: turn.startedAt, durationMs: turn.durationMs, items: turn.items };
}

function ofReplay(line: Record<string, unknown>): Comparable {
  return { status: line["status"], startedAt: line["startedAt"], durationMs: line["durationMs"], items: line["threadItems"] as ThreadItem[] };
}
