import { describe, expect, it } from "vitest";
import type { FeishuPort, Outcome, Refusal, RefusalKind } from "../platform/port.ts";
import type { TurnCard } from "./document.ts";
import { layoutTurn } from "./pages.ts";
import type { CardChange } from "./plan.ts";
import { applied, commandItem, inputOf, messageItem, turnWith } from "./testing.ts";
import { CardWriter, type WriterClock } from "./writer.ts";

const OK: Outcome<null> = { kind: "ok", value: null };
const refused = (kind: RefusalKind, retryAfterMs: number | null = null): Outcome<null> => {
  const refusal: Refusal = { kind, code: 1, subCode: null, msg: kind, httpStatus: 200, retryable: retryAfterMs !== null, retryAfterMs, logId: null };
  return { kind: "refused", refusal };
};
const LOST: Outcome<null> = { kind: "uncertain", uncertainty: { reason: "timeout", httpStatus: null, code: null, detail: "no answer" } };

/** A card as the platform would keep it: it judges sequences and streaming, and answers as the test says. */
class Server {
  card: TurnCard;
  sequence = 0;
  calls: string[] = [];
  answers: ((Outcome<null> | "lost after the effect") | undefined)[] = [];
  inFlight = 0;
  worst = 0;

  constructor(card: TurnCard) {
    this.card = card;
  }

  async take(name: string, sequence: number, effect: () => void): Promise<Outcome<null>> {
    this.calls.push(name);
    this.worst = Math.max(this.worst, ++this.inFlight);
    await Promise.resolve();
    this.inFlight -= 1;
    const planned = this.answers.shift();
    if (planned !== undefined && planned !== "lost after the effect") return planned;
    if (sequence <= this.sequence) return refused("sequence");
    this.sequence = sequence;
    effect();
    return planned === undefined ? OK : LOST;
  }

  readonly port = {
    pace: ((api) => Promise.resolve({ api, grantedAtMs: 0 })) as FeishuPort["pace"],
    updateCard: ({ sequence, card }: { sequence: number; card: object }) => this.take("full", sequence, () => (this.card = card as TurnCard)),
    batchUpdate: ({ sequence, actions }: { sequence: number; actions: Extract<CardChange, { kind: "batch" }>["actions"] }) =>
      this.take("batch", sequence, () => (this.card = applied(this.card, { kind: "batch", actions }))),
    updateElementContent: ({ sequence, elementId, content }: { sequence: number; elementId: string; content: string }) => {
      if (!this.card.config.streaming_mode) return Promise.resolve(refused("streamingClosed"));
      return this.take("content", sequence, () => (this.card = applied(this.card, { kind: "content", elementId, content })));
    },
    setCardSettings: ({ sequence, streaming }: { sequence: number; streaming?: boolean }) =>
      this.take("settings", sequence, () => (this.card = { ...this.card, config: { ...this.card.config, streaming_mode: streaming ?? false } })),
  };
}

const growing = (text: string): TurnCard => layoutTurn(inputOf(turnWith([commandItem("c", "ls"), messageItem("m", text)], { status: "inProgress" }))).cards[0]!;
const DONE = layoutTurn(inputOf(turnWith([commandItem("c", "ls"), messageItem("m", "All.", "final_answer")]))).cards[0]!;

interface SetUp {
  server: Server;
  writer: CardWriter;
  reserved: number[];
  time: { now: number };
  clock: WriterClock;
}

function setUp(first = growing("A")): SetUp {
  const server = new Server(first);
  const time = { now: 0 };
  const reserved: number[] = [];
  const clock: WriterClock = { now: () => time.now, sleep: async (ms) => void (time.now += ms) };
  const writer = new CardWriter({
    port: server.port, cardId: "1", chatId: "oc", shadow: first, openedAt: 0, sequence: 0, reserve: (sequence) => void reserved.push(sequence),
    clock, log: () => undefined,
  });
  return { server, writer, reserved, time, clock };
}

const idle = async (): Promise<void> => {
  for (let round = 0; round < 50; round += 1) await Promise.resolve();
};

describe("the writer of a card", () => {
  it("sends the newest text only, one request at a time", async () => {
    const { server, writer } = setUp();
    for (const text of ["Al", "All", "All i", "All is"]) writer.show(growing(text));
    await idle();
    expect(server.card).toEqual(growing("All is"));
    expect(server.calls.length).toBeLessThanOrEqual(2);
    expect(server.worst).toBe(1);
  });

  it("asks for the newest state when it may write, and for no more than that", async () => {
    let asked = 0;
    const server = new Server(growing("A"));
    let open: () => void = () => undefined;
    server.port.pace = (api) => new Promise((resolve) => (open = () => resolve({ api, grantedAtMs: 0 })));
    const writer = new CardWriter({
      port: server.port, cardId: "1", chatId: "oc", shadow: growing("A"), openedAt: 0, sequence: 0, reserve: () => undefined, clock: { now: () => 0, sleep: () => Promise.resolve() }, log: () => undefined,
      newest: () => growing(`All is well${"!".repeat((asked += 1))}`),
    });
    writer.show(growing("Al"));
    let isIdle = false;
    void writer.idle().then(() => (isIdle = true));
    await idle();
    expect([asked, isIdle]).toEqual([0, false]);
    open();
    await idle();
    expect(server.card).toEqual(growing("All is well!"));
    expect([asked, isIdle]).toEqual([1, true]);
  });

  it("sends nothing when nothing differs", async () => {
    const { server, writer } = setUp();
    writer.show(growing("A"));
    await idle();
    expect(server.calls).toEqual([]);
  });

  it("closes streaming first and writes the last state as a whole", async () => {
    const { server, writer, reserved } = setUp();
    await expect(writer.finish(DONE)).resolves.toEqual({ kind: "written" });
    expect(server.calls).toEqual(["settings", "full"]);
    expect(server.card).toEqual(DONE);
    expect(reserved).toEqual([1, 2]);
  });

  it("writes nothing after the last state, whatever comes late", async () => {
    const { server, writer } = setUp();
    await writer.finish(DONE);
    writer.show(growing("Too late"));
    await idle();
    expect(server.calls).toEqual(["settings", "full"]);
    expect(server.card).toEqual(DONE);
  });

  it("takes a lost answer for neither yes nor no: the whole card again, with a higher sequence", async () => {
    const { server, writer } = setUp();
    server.answers = [undefined, "lost after the effect", "lost after the effect"];
    await expect(writer.finish(DONE)).resolves.toEqual({ kind: "written" });
    expect(server.calls).toEqual(["settings", "full", "full", "full"]);
    expect(server.sequence).toBe(4);
  });

  it("waits as long as Feishu asks, then sends the newest", async () => {
    const { server, writer, time } = setUp();
    server.answers = [refused("rateLimited", 3_000)];
    writer.show(growing("Al"));
    writer.show(growing("All"));
    await idle();
    expect(time.now).toBeGreaterThanOrEqual(3_000);
    expect(server.card).toEqual(growing("All"));
  });

  it("jumps ahead when the sequence was used by somebody else", async () => {
    const { server, writer } = setUp();
    server.sequence = 40;
    await expect(writer.finish(DONE)).resolves.toEqual({ kind: "written" });
    expect(server.sequence).toBeGreaterThan(40);
  });

  it("opens streaming anew when it was closed, and never repeats the refused call", async () => {
    const { server, writer } = setUp();
    server.card = { ...server.card, config: { ...server.card.config, streaming_mode: false } };
    writer.show(growing("All"));
    await idle();
    expect(server.card).toEqual(growing("All"));
    expect(server.calls).toEqual(["batch"]);
  });

  it("opens streaming anew before the platform closes it", async () => {
    const { server, writer, time } = setUp();
    time.now = 9 * 60_000;
    writer.show(growing("All"));
    await idle();
    expect(server.calls).toEqual(["batch"]);
  });

  it.each(["tooLarge", "tooManyElements", "tableLimit", "gone", "invalidCard"] as const)("gives a last state back that is refused as %s", async (kind) => {
    const { server, writer } = setUp();
    server.answers = [undefined, refused(kind)];
    await expect(writer.finish(DONE)).resolves.toMatchObject({ kind: "refused", refusal: { kind } });
  });

  it("goes on after a live state was refused for good", async () => {
    const { server, writer } = setUp();
    server.answers = [refused("tableLimit")];
    writer.show(growing("All"));
    await idle();
    expect(server.calls).toEqual(["content"]);
    writer.show(growing("All is well"));
    await idle();
    expect(server.card).toEqual(growing("All is well"));
  });

  it.each(["the limits leave no place for it", "its pause has not gone by", "Feishu asked to wait"])("lets no live state hold up the last one: %s", async (why) => {
    const { server, writer, clock } = setUp();
    const never = new Promise<never>(() => undefined);
    if (why.startsWith("Feishu")) server.answers = [refused("rateLimited", 60_000)];
    if (why.startsWith("the limits")) {
      const pace = server.port.pace;
      server.port.pace = (api, target, options) => (options?.signal === undefined ? pace(api, target) : new Promise((_resolve, reject) => options.signal!.addEventListener("abort", () => reject(new Error("aborted")))));
    } else clock.sleep = () => never;
    if (why.startsWith("its pause")) {
      writer.show(growing("Al"));
      await idle();
    }
    writer.show(growing("All"));
    await idle();
    await expect(writer.finish(DONE)).resolves.toEqual({ kind: "written" });
    expect(server.card).toEqual(DONE);
  });

  it.each([["gone", 1], ["forbidden", 1], ["invalidCard", 3]] as const)("stops to write live states of a card that is refused as %s, after %i; the last one is tried", async (kind, tries) => {
    const { server, writer } = setUp();
    server.answers = Array.from({ length: tries }, () => refused(kind));
    for (let index = 0; index < 8; index += 1) {
      writer.show(growing(`All${"!".repeat(index)}`));
      await idle();
    }
    expect(server.calls).toHaveLength(tries);
    await expect(writer.finish(DONE)).resolves.toEqual({ kind: "written" });
    expect(server.card).toEqual(DONE);
  });

  it("says so when no try was answered", async () => {
    const { server, writer } = setUp();
    server.answers = Array.from({ length: 40 }, () => LOST);
    await expect(writer.finish(DONE)).resolves.toEqual({ kind: "uncertain" });
    expect(server.calls.length).toBeLessThan(20);
  });
});
