import { emptyTurn, turnOfView } from "@foldcast/protocol-core/view";
import type { Notification, Thread, ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import { afterEach, describe, expect, it } from "vitest";
import { messageItem, userItem } from "../card/testing.ts";
import { memoryTable } from "../delivery/testing.ts";
import { type PortOnFake, startPortOnFake, until } from "../platform/testing.ts";
import { Beginning } from "./binding.ts";
import { Follower } from "./follower.ts";
import { type PromptDeps, sendPrompt } from "./prompting.ts";
import { TurnRecord } from "../delivery/record.ts";

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

interface Followed {
  readonly world: PortOnFake;
  readonly follower: Follower;
  readonly told: string[];
  /** Sends a message of Ada's to the thread, as the chat does. */
  readonly send: (messageId: string, answer: (method: string) => unknown, isRecovered?: boolean) => Promise<void>;
  readonly tell: (method: string, params: object) => void;
}

async function follow(): Promise<Followed> {
  const world = await startPortOnFake();
  const beginnings = memoryTable(Beginning);
  const clock = { now: () => world.fake.now(), sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, 20))) };
  const delivery = { port: world.port, table: memoryTable(TurnRecord), clock, log: () => undefined };
  const thread = { id: "th", name: null, status: { type: "idle" }, cwd: "/w", preview: "", turns: [] } as unknown as Thread;
  const follower = new Follower({ delivery, beginnings, locale: "en", openRequests: () => 0, retryMs: 50 }, thread, null, { chatId: world.chatId, anchor: null, inThread: false });
  opened.push(async () => {
    follower.close();
    await world.close();
  });
  const told: string[] = [];
  const tell = (method: string, params: object): void => follower.notify({ method, params: { threadId: "th", ...params } } as unknown as Notification);
  const send: Followed["send"] = (messageId, answer, isRecovered = false) => {
    const request: PromptDeps["request"] = async <T>(method: string) => (await Promise.resolve(answer(method))) as T;
    const deps: PromptDeps = { request, beginnings, noteThread: () => undefined, sayQueued: () => Promise.resolve(void told.push("queued")), sleep: clock.sleep };
    return sendPrompt(follower, { messageId, chatId: world.chatId, openId: world.person, inThread: false, isRecovered, input: [{ type: "text", text: "do it", text_elements: [] }] }, deps);
  };
  return { world, follower, told, send, tell };
}

const turn = (id: string, items: ThreadItem[] = [], status: Turn["status"] = "inProgress"): Turn => ({ ...turnOfView(emptyTurn(id)), items, status });
const prompt = (messageId: string | null): ThreadItem => ({ ...userItem("u", "do it"), clientId: messageId === null ? null : `feishu:${messageId}` }) as ThreadItem;
const begin = ({ tell }: Followed, id: string, messageId: string | null): void => {
  tell("turn/started", { turn: turn(id) });
  tell("item/started", { turnId: id, startedAtMs: 0, item: prompt(messageId) });
};
const isRefused = (): never => {
  throw new Error("it takes nothing while it works");
};

describe("whose a turn is", () => {
  it("is known from the answer to its request, also when its first news come before", async () => {
    const followed = await follow();
    await followed.send("om_1", () => {
      followed.tell("turn/started", { turn: turn("t1") });
      return { turn: turn("t1") };
    });
    expect(followed.follower.startedBy("t1")).toBe(followed.world.person);
    expect(followed.follower.placeOf("t1")).toMatchObject({ replyTo: "om_1" });
  });

  it("is nobody's of the chat where a terminal began it in the same moment", async () => {
    const followed = await follow();
    await followed.send("om_1", () => {
      begin(followed, "theirs", null);
      return { turn: turn("ours") };
    });
    expect(followed.follower.startedBy("theirs")).toBeNull();
    expect(followed.follower.placeOf("theirs")).toMatchObject({ replyTo: null });
    expect(followed.follower.startedBy("ours")).toBe(followed.world.person);
  });

  it("stays whoever's message waited while another turn ran, and the person is told that it waits", async () => {
    const followed = await follow();
    const { fake, chatId, person } = followed.world;
    const { messageId } = fake.say({ chatId, from: person, text: "do it" });
    begin(followed, "t1", null);
    await followed.send(messageId, (method) => (method === "thread/queue/list" ? { data: [{ clientUserMessageId: `feishu:${messageId}` }] } : {}));
    expect(followed.told).toEqual(["queued"]);
    followed.tell("turn/completed", { turn: turn("t1", [], "completed") });
    begin(followed, "t2", messageId);
    expect(followed.follower.startedBy("t2")).toBe(person);
    await until(() => fake.chat({ chatId }).messages.some(({ parentId, card }) => parentId === messageId && card?.streaming === true), "the card of its turn");
  });

  it("is not asked for again by a process that finds its message waiting", async () => {
    const followed = await follow();
    const asked: string[] = [];
    await followed.send("om_3", (method) => {
      asked.push(method);
      return { data: method === "thread/queue/list" ? [{ clientUserMessageId: "feishu:om_3" }] : [] };
    }, true);
    expect(asked).toEqual(["thread/turns/list", "thread/queue/list"]);
    begin(followed, "t3", "om_3");
    expect(followed.follower.startedBy("t3")).toBe(followed.world.person);
  });

  it("is not changed by a message that was added to it", async () => {
    const followed = await follow();
    begin(followed, "t1", null);
    await followed.send("om_4", (method) => (method === "thread/queue/list" ? { data: [] } : {}));
    expect(followed.told).toEqual([]);
    followed.tell("item/started", { turnId: "t1", startedAtMs: 0, item: { ...prompt("om_4"), id: "added" } });
    followed.tell("turn/completed", { turn: turn("t1", [], "completed") });
    begin(followed, "t2", "om_4");
    expect(followed.follower.startedBy("t2")).toBeNull();
  });

  it("is known of a message that was handed to a turn which ended in that moment", async () => {
    const followed = await follow();
    begin(followed, "t1", null);
    await followed.send("om_6", (method) => (method === "thread/queue/list" ? { data: [] } : {}));
    followed.tell("turn/completed", { turn: turn("t1", [], "completed") });
    begin(followed, "t2", "om_6");
    expect(followed.follower.startedBy("t2")).toBe(followed.world.person);
  });

  it("is the next one's where the running turn takes nothing", async () => {
    const followed = await follow();
    begin(followed, "t1", null);
    await followed.send("om_5", (method) => (method === "turn/steer" ? isRefused() : { turn: turn("t2") }));
    expect(followed.follower.startedBy("t2")).toBe(followed.world.person);
    expect(followed.follower.startedBy("t1")).toBeNull();
  });
});

it("shows a turn that ended while nobody was connected", async () => {
  const { follower, world } = await follow();
  follower.refresh({ id: "th", name: null, status: { type: "idle" }, turns: [turn("t", [prompt(null), messageItem("m", "All is done.", "final_answer")], "completed")] } as unknown as Thread);
  await until(() => world.fake.chat({ chatId: world.chatId }).messages.some(({ text, card }) => text.includes("All is done.") && card?.streaming === false), "its answer");
});
