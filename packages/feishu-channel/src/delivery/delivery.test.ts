import { describe, expect, it } from "vitest";
import { messageItem } from "../card/testing.ts";
import { planFaults, seeded, type FakeFeishu } from "../fake/index.ts";
import { startPortOnFake, until, type PortOnFake } from "../platform/testing.ts";
import { newTurnRecord, TurnRecord } from "./record.ts";
import { memoryTable, stateOf, story } from "./testing.ts";
import { TurnDelivery, type DeliveryDeps, type DeliveryResult } from "./turn-delivery.ts";

type AtTheEnd = (close: () => Promise<void>) => void;

/** Its end comes with the test's: tests run side by side, since they wait more than they work. */
async function setUp(atTheEnd: AtTheEnd): Promise<{ world: PortOnFake; deps: DeliveryDeps; record: TurnRecord }> {
  const world = await startPortOnFake({ config: { requestTimeoutMs: 10_000 } });
  atTheEnd(() => world.close());
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 1_100)));
  const times = { intervalMs: 120, reopenMs: 8 * 60_000, backoffMs: 30, maxBackoffMs: 400 };
  const deps: DeliveryDeps = {
    port: world.port, table: memoryTable(TurnRecord), clock: { now: () => world.fake.now(), sleep }, log: () => undefined,
    writerTimes: times, sendTimes: { backoffMs: 30, maxBackoffMs: 400, uuidMs: 55 * 60_000 },
  };
  const record = newTurnRecord({ turnId: "t", threadId: "th", mark: "k7f3", chatId: world.chatId, replyTo: null, inThread: false, startedBy: world.person, createdAt: world.fake.now(), title: "Do it" });
  return { world, deps, record };
}

/** Everything that a reader of the chat sees, messages that were taken back left out. */
function chatText(fake: FakeFeishu, chatId: string): string {
  return fake.chat({ chatId }).messages.map((message) => message.text).join("\n");
}

const streaming = (fake: FakeFeishu, chatId: string): number => fake.chat({ chatId }).messages.filter((message) => message.card?.streaming === true).length;

async function settle(delivery: TurnDelivery, state: Parameters<TurnDelivery["finish"]>[0]): Promise<DeliveryResult> {
  for (let round = 0; round < 6; round += 1) {
    const result = await delivery.finish(state);
    if (result !== "later") return result;
  }
  return "later";
}

describe.concurrent("the delivery of a turn", () => {
  it("is one card from the first word to the folded answer", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const delivery = new TurnDelivery(deps, record);
    const states = story(seeded(3), "The answer is 42.");
    for (const state of states.slice(0, -1)) {
      delivery.show(state);
      await deps.clock.sleep(130);
    }
    await until(() => streaming(world.fake, world.chatId) === 1, "the card");
    await expect(delivery.finish(states.at(-1)!)).resolves.toBe("delivered");
    const { messages } = world.fake.chat({ chatId: world.chatId });
    expect(messages).toHaveLength(1);
    expect(messages[0]?.card).toMatchObject({ streaming: false, summary: "The answer is 42." });
    expect(world.fake.broken()).toEqual([]);
    expect(world.fake.advice()).toEqual([]);
  });

  it("makes one card, also where it is told twice that the turn is over before there is any", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const delivery = new TurnDelivery(deps, record);
    const state = story(seeded(3), "The answer is 42.").at(-1)!;
    expect(await Promise.all([delivery.finish(state), delivery.finish(state)])).toEqual(["delivered", "delivered"]);
    expect(world.fake.chat({ chatId: world.chatId }).messages.map(({ card }) => card?.summary)).toEqual(["The answer is 42."]);
    expect(world.fake.calls().filter(({ api }) => api === "card.create")).toHaveLength(1);
    expect(world.fake.unsentCards()).toEqual([]);
  });

  it("sends the answer as messages of their own when the card was taken back", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const delivery = new TurnDelivery(deps, record);
    delivery.show(stateOf([messageItem("m", "Half")]));
    await until(() => streaming(world.fake, world.chatId) === 1, "the card");
    const [card] = world.fake.chat({ chatId: world.chatId }).messages;
    world.fake.takeBack({ messageId: card!.messageId });
    await expect(settle(delivery, stateOf([messageItem("m", "Half of the whole.", "final_answer")], "completed"))).resolves.toMatch(/delivered/);
    expect(chatText(world.fake, world.chatId).match(/Half of the whole\./g) ?? []).toHaveLength(1);
  });

  it("masks mail addresses when the server refuses them, and only then", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    world.fake.planFaults({ faults: [{ id: "audit", on: { api: "card.update", nth: 1 }, fault: { kind: "refuse", code: 230028, msg: "the messages do not pass the audit" } }] });
    const delivery = new TurnDelivery(deps, record);
    await expect(settle(delivery, stateOf([messageItem("m", "Ask ada@mail.example.org.", "final_answer")], "completed"))).resolves.toBe("delivered");
    expect(chatText(world.fake, world.chatId)).toContain("Ask ada[at]mail.example.org.");
  });

  it.for<[string, number, string, string]>([
    ["more tables than it takes", 230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: card table number over limit", "```"],
    ["more elements than it takes", 300305, "element exceeds the limit", "| 1 |"],
    ["a larger card than it takes", 200860, "card content exceeds limit", "| 1 |"],
  ])("renders again, smaller, when the server finds %s", async ([, code, msg, shown], { expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    world.fake.planFaults({ faults: [{ id: "limit", on: { api: "card.update", nth: 1 }, fault: { kind: "refuse", code, msg } }] });
    const table = "| n |\n| --- |\n| 1 |";
    await expect(settle(new TurnDelivery(deps, record), stateOf([messageItem("m", `So:\n\n${table}`, "final_answer")], "completed"))).resolves.toBe("delivered");
    const { messages } = world.fake.chat({ chatId: world.chatId });
    expect(messages).toHaveLength(1);
    expect(messages[0]!.text).toContain(shown);
    expect(messages[0]!.text).toContain("So:");
    expect(world.fake.firedFaults()).toHaveLength(1);
  });

  it("tells who started a long turn that it is over, once, in a message of its own; a short one has its card alone", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const done = stateOf([messageItem("m", "The one answer.", "final_answer")], "completed");
    const long = { ...done, turn: { ...done.turn, durationMs: 400_000 } };
    const delivery = new TurnDelivery({ ...deps, pingAfterMs: 300_000 }, record);
    world.fake.planFaults({ faults: [{ id: "lost", on: { api: "message.create", nth: 2 }, fault: { kind: "lostAnswer" } }] });
    await expect(settle(delivery, long)).resolves.toBe("delivered");
    await expect(delivery.finish(long)).resolves.toBe("delivered");
    const { messages } = world.fake.chat({ chatId: world.chatId });
    expect(messages.map(({ type, text }) => (type === "text" ? text : type))).toEqual(["interactive", `Done · 6m 40s · #${record.mark}.end`]);
    const next = newTurnRecord({ ...record, turnId: "t2", mark: "zzzz" });
    await expect(settle(new TurnDelivery({ ...deps, pingAfterMs: 300_000 }, next), done)).resolves.toBe("delivered");
    expect(world.fake.chat({ chatId: world.chatId }).messages).toHaveLength(3);
  });

  it("draws a running turn less often when the process wakes late", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const asked: number[] = [];
    let skew = 0;
    const clock = {
      now: () => world.fake.now() + skew,
      sleep: async (ms: number) => {
        asked.push(ms);
        if (ms === 120) skew += 405;
        await deps.clock.sleep(10);
      },
    };
    const delivery = new TurnDelivery({ ...deps, clock }, record);
    for (const text of ["A", "A b", "A b c"]) {
      delivery.show(stateOf([messageItem("m", text)]));
      await deps.clock.sleep(150);
    }
    await until(() => Math.max(...asked) > 2_000, "the longer pause");
    await expect(settle(delivery, stateOf([messageItem("m", "A b c d", "final_answer")], "completed"))).resolves.toBe("delivered");
  });

  it("asks once for a live card that is refused, and again with the turn's end", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const delivery = new TurnDelivery(deps, record);
    world.fake.planFaults({ faults: [{ id: "no", on: { api: "card.create", nth: 1 }, fault: { kind: "refuse", code: 200220, msg: "card content failed" } }] });
    for (const text of ["A", "A b", "A b c", "A b c d"]) {
      delivery.show(stateOf([messageItem("m", text)]));
      await deps.clock.sleep(150);
    }
    const created = (): number => world.fake.calls().filter(({ api }) => api === "card.create").length;
    await until(() => created() > 0, "the first try");
    expect(created()).toBe(1);
    await expect(settle(delivery, stateOf([messageItem("m", "A b c d e", "final_answer")], "completed"))).resolves.toBe("delivered");
    expect(created()).toBe(2);
    expect(chatText(world.fake, world.chatId)).toContain("A b c d e");
  });

  it("learns from one refusal of a live card once", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const delivery = new TurnDelivery(deps, record);
    delivery.show(stateOf([messageItem("m", "A")]));
    await until(() => streaming(world.fake, world.chatId) === 1, "the card");
    world.fake.planFaults({ faults: [{ id: "large", on: { api: "card.content", nth: 1 }, fault: { kind: "refuse", code: 200860, msg: "card content exceeds limit" } }] });
    for (const text of ["A b", "A b c", "A b c d", "A b c d e", "A b c d e f"]) {
      delivery.show(stateOf([messageItem("m", text)]));
      await deps.clock.sleep(200);
    }
    await until(() => record.scale > 1, "what was learnt");
    expect(world.fake.firedFaults()).toHaveLength(1);
    expect(record.scale).toBe(2);
    await expect(settle(delivery, stateOf([messageItem("m", "A b c d e f g", "final_answer")], "completed"))).resolves.toBe("delivered");
  });

  it("closes a card that was refused when it was sent, and sends the answer alone", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const refuse = { kind: "refuse", code: 200220, msg: "card content failed" } as const;
    world.fake.planFaults({ faults: [1, 2].map((nth) => ({ id: `no ${nth}`, on: { api: "message.create", nth }, fault: refuse })) });
    const delivery = new TurnDelivery(deps, record);
    delivery.show(stateOf([messageItem("m", "A")]));
    await until(() => world.fake.firedFaults().length > 0, "the refusal");
    await expect(settle(delivery, stateOf([messageItem("m", "A and the rest.", "final_answer")], "completed"))).resolves.toBe("delivered");
    expect(world.fake.calls().filter(({ api }) => api === "card.settings")).toHaveLength(1);
    expect(world.fake.chat({ chatId: world.chatId }).messages.map(({ text }) => text.includes("A and the rest."))).toEqual([true]);
    expect(world.fake.broken()).toEqual([]);
  });

  it("finds in its topic what it sent there more than an hour ago", async ({ expect, onTestFinished }) => {
    const { world: { fake, person }, deps, record } = await setUp(onTestFinished);
    const { chatId } = fake.addChat({ mode: "group", name: "topics", people: [person], threads: true });
    const { messageId } = fake.say({ chatId, from: person, text: "in a topic" });
    const inTopic = { ...record, chatId, replyTo: messageId, inThread: true };
    fake.planFaults({ faults: [{ id: "lost", on: { api: "message.reply", nth: 1 }, fault: { kind: "lostAnswer" } }] });
    const first = new TurnDelivery(deps, inTopic);
    first.show(stateOf([messageItem("m", "A")]));
    await until(() => fake.firedFaults().length > 0, "the lost answer");
    first.close();
    fake.advance({ ms: 3_700_000 });
    await expect(settle(new TurnDelivery(deps, deps.table.get("t")!), stateOf([messageItem("m", "A and the rest.", "final_answer")], "completed"))).resolves.toBe("delivered");
    expect(fake.chat({ chatId }).messages.filter(({ sender }) => sender.kind === "app").map(({ text }) => text.includes("A and the rest."))).toEqual([true]);
  });

  it("keeps the answer while the app's token or secret is not taken", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const refuse = { kind: "refuse", code: 99991663, msg: "invalid access token" } as const;
    world.fake.planFaults({ faults: (["card.create", "message.create", "card.update"] as const).flatMap((api) => [1, 2].map((nth) => ({ id: `${api} ${nth}`, on: { api, nth }, fault: refuse }))) });
    await expect(settle(new TurnDelivery(deps, record), stateOf([messageItem("m", "The one answer.", "final_answer")], "completed"))).resolves.toBe("delivered");
    expect(world.fake.firedFaults()).toHaveLength(6);
    expect(world.fake.chat({ chatId: world.chatId }).messages.map(({ type, text }) => [type, text.includes("The one answer.")])).toEqual([["interactive", true]]);
  });

  it("says who is to be told when the bot was thrown out", async ({ expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    world.fake.setBotIn({ chatId: world.chatId, by: world.person, inside: false });
    await expect(settle(new TurnDelivery(deps, record), stateOf([messageItem("m", "x", "final_answer")], "completed"))).resolves.toBe("undeliverable");
  });

  it.for(["card", "post", "text"] as const)("goes on with the next form when the answer is refused as %s", async (form, { expect, onTestFinished }) => {
    const { world, deps, record } = await setUp(onTestFinished);
    const refusals = { card: 1, post: 2, text: 3 }[form];
    const refuse = { kind: "refuse", code: 200220, msg: "card content failed" } as const;
    world.fake.planFaults({ faults: [
      { id: "rich", on: { api: "card.update", nth: 1 }, fault: refuse },
      ...Array.from({ length: refusals }, (_, index) => ({ id: `part${index}`, on: { api: "message.create", nth: 2 }, fault: refuse })),
    ] });
    await expect(settle(new TurnDelivery(deps, record), stateOf([messageItem("m", "The one answer.", "final_answer")], "completed"))).resolves.toBe("delivered");
    const { messages } = world.fake.chat({ chatId: world.chatId });
    expect(messages.map((message) => message.type)).toEqual(["interactive", { card: "post", post: "text", text: "file" }[form]]);
    expect(streaming(world.fake, world.chatId)).toBe(0);
    expect(world.fake.pendingFaults()).toEqual([]);
  });

  // FEISHU_RUNS=1000 for a long search; each run has its own server, faults and moment of death.
  const runs = Number(process.env["FEISHU_RUNS"] ?? 12);
  const firstSeed = Number(process.env["FEISHU_SEED"] ?? 1);
  it(`delivers the answer exactly once through ${runs} random fault plans and restarts`, async ({ expect }) => {
    let fired = 0;
    const width = 24;
    for (let base = 0; base < runs; base += width) {
      const seeds = Array.from({ length: Math.min(width, runs - base) }, (_, index) => firstSeed + base + index);
      const closing: (() => Promise<void>)[] = [];
      fired += (await Promise.all(seeds.map(async (seed) => oneRun(seed, (close) => void closing.push(close))))).reduce((sum, count) => sum + count, 0);
      await Promise.all(closing.map((close) => close()));
    }
    expect(fired).toBeGreaterThan(runs);
  }, 3_600_000);
});

async function oneRun(seed: number, atTheEnd: AtTheEnd): Promise<number> {
  const { world, deps, record } = await setUp(atTheEnd);
  const { fake, chatId } = world;
  const random = seeded(seed);
  const marker = `MARKER-${seed}`;
  const states = story(random, `It is done. ${marker} ${"Some more words. ".repeat(Math.floor(random() * 20))}`);
  const planned = planFaults(seed, {
    count: 1 + Math.floor(random() * 4), maxDelayMs: 200, calls: { "card.create": 1, "message.create": 1, "card.settings": 1, "card.update": 1 },
    kinds: ["rateLimit", "serverError", "lostAnswer", "cut", "slow", "refuse", "clockJump"],
  });
  fake.planFaults({ faults: planned });
  const diesAt = random() < 0.5 ? Math.floor(random() * states.length) : -1;
  let delivery = new TurnDelivery(deps, record);
  for (const [index, state] of states.slice(0, -1).entries()) {
    delivery.show(state);
    await deps.clock.sleep(Math.floor(random() * 200));
    if (index !== diesAt) continue;
    // The process dies here; another one finds what the ledger holds, at once or more than an hour later.
    delivery.close();
    // Its last request still has its effect; what was answered stands in no ledger.
    await deps.clock.sleep(300);
    if (random() < 0.4) fake.advance({ ms: 3_700_000 });
    delivery = new TurnDelivery(deps, deps.table.get("t") ?? record);
  }
  const result = await settle(delivery, states.at(-1)!);
  const why = `seed ${seed}, dies at ${diesAt}, faults ${JSON.stringify(planned)}, calls ${fake.calls().map((call) => `${call.api}:${JSON.stringify((call as { code?: unknown }).code)}`).join(" ")}`;
  expect(result, why).toBe("delivered");
  expect(chatText(fake, chatId).match(new RegExp(`${marker}\\b`, "g")) ?? [], why).toHaveLength(1);
  expect(streaming(fake, chatId), why).toBe(0);
  expect(fake.broken(), why).toEqual([]);
  return fake.firedFaults().length;
}
