import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { foldTurn } from "@foldcast/protocol-core/folding";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { DesktopClient } from "../support/desktop-client.ts";
import { desktopFold } from "../support/desktop-fold.ts";
import type { DesktopTurn } from "../support/desktop-turns.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { FOLDS, SCENARIOS } from "../support/scenarios.ts";
import { startServer, type RunningServer } from "../support/server.ts";

endToEnd();

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS });
});
afterAll(async () => {
  expect(server.stdout()).toHaveLength(1);
  await server.stop();
});

const DROPPED_NOTHING = { completedWithoutStart: 0, deltaWithoutItem: 0, unknownTurn: 0, unknownThread: 0 };

/** Why a turn stays open by the product's own rule. */
function verdict(turn: DesktopTurn): string {
  return foldTurn({ ...turn, id: turn.id ?? "", rootTurnId: null, itemsView: "full", completedAt: null }).reason ?? "folds";
}

/** What the two dialects must agree on: everything but how edits are grouped. */
function exceptEdits(turn: DesktopTurn): { status: string; items: ThreadItem[] } {
  return { status: turn.status, items: turn.items.filter((item) => item.type !== "fileChange") };
}

describe("a client like Codex Desktop", () => {
  test.for(Object.entries(FOLDS))("sees %s: %s, live and after re-opening", async ([name, expected]) => {
    await using desktop = await DesktopClient.connect(server.url);
    const threadId = await desktop.prewarm("/w", `scripted/${name}`);
    const live = structuredClone(await desktop.prompt(threadId, "go"));
    expect(desktop.dropped).toEqual(DROPPED_NOTHING);
    expect(verdict(live)).toBe(expected);
    expect(desktopFold(live).collapses).toBe(expected === "folds");

    await using later = await DesktopClient.connect(server.url);
    const [opened] = await later.open(threadId);
    expect(opened?.items).toEqual(live.items);
    expect(opened?.status).toBe(live.status);
    expect(desktopFold(opened!)).toEqual(desktopFold(live));
    const [byItems] = await later.openByItems(threadId);
    expect(byItems?.items).toEqual(live.items);
    expect(later.dropped).toEqual(DROPPED_NOTHING);
  });

  test("sees one summary of the turn's edits, at the place of the first one", async () => {
    await using desktop = await DesktopClient.connect(server.url);
    const turn = await desktop.prompt(await desktop.prewarm("/w", "scripted/work"), "first");
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "reasoning", "agentMessage", "commandExecution", "fileChange", "agentMessage"]);
    const changes = turn.items.flatMap((item) => (item.type === "fileChange" ? item.changes.map((change) => change.path) : []));
    expect(changes).toEqual(["/w/alpha.txt", "/w/beta.txt", "/w/gamma.txt"]);
    for (const path of changes) expect(turn.diff).toContain(path.slice("/w/".length));
  });

  test("opens a long thread page by page and meets no cursor twice", async () => {
    await using desktop = await DesktopClient.connect(server.url);
    const threadId = await desktop.prewarm("/w", "scripted/work");
    const live: DesktopTurn[] = [];
    for (let n = 0; n < 12; n++) live.push(structuredClone(await desktop.prompt(threadId, n % 2 === 0 ? "first" : "second")));
    await using later = await DesktopClient.connect(server.url);
    expect((await later.open(threadId)).map((turn) => turn.items)).toEqual(live.map((turn) => turn.items));
    expect((await later.openByItems(threadId)).map((turn) => turn.items)).toEqual(live.map((turn) => turn.items));
  });
});

describe("a client of the default dialect", () => {
  test.for(Object.keys(FOLDS))("ends with the same state as Desktop but for the grouping of edits: %s", async (name) => {
    await using plain = await PlainClient.connect(server.url);
    await using desktop = await DesktopClient.connect(server.url);
    const thread = await plain.start({ model: `scripted/${name}`, cwd: "/w" });
    await desktop.open(thread.id).catch(() => []);
    const live = await plain.prompt(thread.id, "go");
    const { turns } = await plain.read(thread.id);
    expect(turns[0]?.items).toEqual(live.items);
    expect(plain.dropped).toEqual(DROPPED_NOTHING);
    expect(Math.max(...plain.completions.values())).toBe(1);
    await using later = await DesktopClient.connect(server.url);
    const [desktopTurn] = await later.open(thread.id);
    expect(exceptEdits(desktopTurn!)).toEqual(exceptEdits(live));
  });

  test("gets one file change an edit", async () => {
    await using plain = await PlainClient.connect(server.url);
    const turn = await plain.prompt((await plain.start({ model: "scripted/work", cwd: "/w" })).id, "first");
    expect(turn.items.filter((item) => item.type === "fileChange")).toHaveLength(3);
  });
});
