import { DEFAULT_POLICY } from "@foldcast/protocol-core/delivery";
import type { ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import { expect, test } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { Connection } from "../rpc/connection.ts";
import type { Frame } from "../rpc/frame.ts";
import { Feed } from "./feed.ts";

function watcher(detail = false) {
  const frames: Frame[] = [];
  const connection = new Connection({
    transport: { write: (written, taken) => (frames.push(...written), taken()), terminate: () => undefined },
    handler: { request: () => ({}), notification: () => undefined, answer: () => undefined }, log: silentLogger, now: () => 1,
    limits: { maxQueuedBytes: 1_000_000, maxOpenRequests: 10 },
  });
  connection.session = { name: "w", version: "1", experimental: false, optOut: new Set(), policy: DEFAULT_POLICY, detail, interaction: false, channel: null };
  return { connection, frames };
}

const message = (text: string): ThreadItem => ({
  type: "agentMessage", moderation: null, id: "m", text, phase: null, memoryCitation: null, delivery: null, questions: null, startedAtMs: 1, completedAtMs: 1,
});
const turnOf = (item: ThreadItem): Turn => ({
  id: "t", rootTurnId: "t", items: [item], itemsView: "summary", status: "completed", error: null, startedAt: 1, completedAt: 1, durationMs: 1,
});

test("a long item is in memory once, whoever watches, and once more at the end of its turn it is the same", async () => {
  const feed = new Feed("thread", () => 1);
  const watchers = [watcher(), watcher(), watcher(true)];
  for (const { connection } of watchers) feed.add(connection);
  const item = message("x".repeat(3_000_000));
  feed.output({ type: "item.completed", item, at: 1, detail: { rawName: "n" } }, "t");
  feed.output({ type: "turn.completed", turn: turnOf(item) }, "t");
  const next = message("y".repeat(1_000_000));
  feed.output({ type: "turn.completed", turn: turnOf(next) }, "t");
  await new Promise((resolve) => setImmediate(resolve));
  const [one, two, detailed] = watchers.map(({ frames }) => frames);
  expect(one!.map((frame, at) => frame === two![at])).toEqual([true, true, true]);
  const [completed, ended, other] = one!.map(({ parts }) => parts);
  expect(ended).toHaveLength(completed!.length);
  expect(ended!.slice(1, -1).every((part, at) => part === completed![at + 1])).toBe(true);
  expect(other!.some((part) => completed!.includes(part))).toBe(false);
  const parsed = one!.map(({ text }) => JSON.parse(text) as { params: { item: ThreadItem; turn: Turn } });
  expect([parsed[0]!.params.item, parsed[1]!.params.turn.items[0], parsed[2]!.params.turn.items[0]]).toEqual([item, item, next]);
  expect(JSON.parse(detailed![0]!.text)).toMatchObject({ params: { item: { foldcast: { rawName: "n" } } } });
});

test("what a late joiner has to wait for is bounded; the others get all of it", async () => {
  const feed = new Feed("thread", () => 1);
  const [joined, joining] = [watcher(), watcher()];
  feed.add(joined.connection);
  feed.addHeld(joining.connection);
  const delta = "x".repeat(100_000);
  for (let sent = 0; sent < 12; sent += 1) {
    feed.output({ type: "message.delta", itemId: "m", delta }, "t");
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([joining.connection.isOpen, joined.connection.isOpen]).toEqual([false, true]);
  expect([...feed.subscribers]).toEqual([joined.connection]);
  feed.release(joining.connection);
  expect([joining.frames.length, joined.frames.length]).toEqual([0, 12]);
});
