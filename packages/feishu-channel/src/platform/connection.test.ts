import { afterEach, describe, expect, it } from "vitest";
import { startPortOnFake, until, type PortOnFake } from "./testing.ts";

let world: PortOnFake | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function connect(options: Parameters<typeof startPortOnFake>[0] = {}): Promise<PortOnFake> {
  world = await startPortOnFake(options);
  const { port, events } = world;
  await port.start((event) => void events.push(event));
  await until(() => port.connection().state === "connected", "the connection");
  return world;
}

describe("the long connection", () => {
  it("comes back after the server cut it, and says so", async () => {
    const { fake, port, events, chatId, person } = await connect();
    const states: string[] = [];
    port.onConnection(({ state }) => states.push(state));
    fake.closeSockets();
    await until(() => port.connection().connections === 2, "the second connection");
    expect(states).toEqual(["waiting", "connected"]);
    fake.say({ chatId, from: person, text: "still there?" });
    await until(() => events.length === 1, "the event");
  });

  it("notices a socket that says nothing any more", async () => {
    const { fake, port } = await connect({ config: { pingTimeoutMs: 60, pingIntervalCapMs: 50 } });
    const { connections } = port.connection();
    fake.silenceSockets();
    // On a busy machine it may have seen silence before.
    await until(() => port.connection().connections > connections, "a new connection");
  });

  it("tries again where the SDK gives up for good", async () => {
    const { fake, port } = await connect({ config: { retryFromMs: 20 } });
    fake.setDiscoveryCode({ code: 1000040350 });
    fake.closeSockets();
    await until(() => {
      const { state, reason, nextTryAtMs } = port.connection();
      return state === "waiting" && nextTryAtMs !== null && reason?.includes("1000040350") === true;
    }, "the pause, with its reason");
    fake.setDiscoveryCode({ code: null });
    await until(() => port.connection().state === "connected", "the connection");
  });

  it("pings no more seldom than asked for, though the server says two minutes", async () => {
    const { fake } = await connect({ config: { pingIntervalCapMs: 20, pingTimeoutMs: 10 } });
    await until(() => fake.counts().pings > 5, "pings");
  });

  it("puts together events that come in pieces", async () => {
    const { fake, events, chatId, person } = await connect({ fake: { fragmentBytes: 100 } });
    fake.say({ chatId, from: person, text: "长".repeat(500) });
    await until(() => events.length === 1, "the event");
    expect(events[0]).toMatchObject({ type: "message", content: JSON.stringify({ text: "长".repeat(500) }) });
  });

  it("asks for the event again when the listener fails, and acknowledges it when it does not", async () => {
    world = await startPortOnFake();
    const { fake, port, chatId, person } = world;
    let calls = 0;
    await port.start(() => (calls++ === 0 ? Promise.reject(new Error("full disk")) : undefined));
    await until(() => port.connection().state === "connected");
    const { eventId } = fake.say({ chatId, from: person, text: "note this" });
    await until(() => calls === 1);
    fake.advance({ ms: 15_001 });
    await until(() => fake.deliveries()[0]!.acknowledged, "the acknowledgement");
    expect(fake.deliveries()).toMatchObject([{ eventId, pushes: 2 }]);
    fake.advance({ ms: 12 * 3_600_000 });
    expect(calls).toBe(2);
  });

  it("answers a click that nobody answered before three seconds are over, and tells late answers that they are late", async () => {
    world = await startPortOnFake({ config: { cardAnswerMs: 30 } });
    const { fake, port, chatId, person } = world;
    let late: string | undefined;
    await port.start(async (event) => {
      if (event.type !== "cardAction") return;
      await new Promise((resolve) => setTimeout(resolve, 60));
      late = await event.respond({ toast: { type: "info", content: "too late" } });
    });
    await until(() => port.connection().state === "connected");
    const sent = await port.sendMessage({ to: { chatId }, body: { type: "card", card: { schema: "2.0", body: { elements: [{ tag: "markdown", content: "x" }] } } as never } });
    const messageId = sent.kind === "ok" ? sent.value.messageId : "";
    expect(await fake.click({ messageId, by: person, value: { a: 1 } })).toMatchObject({ outcome: "answered", toast: null });
    await until(() => late === "late", "the late answer");
  });

  it.each(["value", "behaviors", "flat"] as const)("reads the callback of the form %s, in event and card frames", async (shape) => {
    const { fake, port, events, chatId, person } = await connect({ config: { cardAnswerMs: 5 } });
    const sent = await port.sendMessage({ to: { chatId }, body: { type: "card", card: { schema: "2.0", body: { elements: [{ tag: "markdown", content: "x" }] } } as never } });
    const messageId = sent.kind === "ok" ? sent.value.messageId : "";
    for (const frame of ["event", "card"] as const) expect(await fake.click({ messageId, by: person, value: { interaction_id: "i1" }, shape, frame })).toMatchObject({ outcome: "answered" });
    for (const event of events) expect(event).toMatchObject({ type: "cardAction", messageId, chatId, operator: { openId: person }, action: { value: { interaction_id: "i1" } } });
    expect(events).toHaveLength(2);
  });
});
