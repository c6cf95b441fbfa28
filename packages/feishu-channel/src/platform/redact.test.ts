import { afterEach, describe, expect, it } from "vitest";
import { Redactor } from "./redact.ts";
import { startPortOnFake, until, valueOf, type PortOnFake } from "./testing.ts";

let world: PortOnFake | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const card = { schema: "2.0" as const, body: { elements: [{ tag: "markdown", content: "private-words-of-the-model" }] } };

describe("the log of the platform", () => {
  it("has no secret, token, ticket or text of people at any level, whatever fails", async () => {
    world = await startPortOnFake();
    const { fake, port, chatId, person, lines } = world;
    await port.start(() => Promise.reject(new Error("the listener failed")));
    await until(() => port.connection().state === "connected");
    fake.say({ chatId, from: person, text: "private-words-of-a-person" });
    await until(() => lines.some((line) => line.includes("invoke event failed")));
    fake.planFaults({ faults: (["token", "card.create", "card.create", "message.create"] as const).map((api, index) => ({ id: `${index}`, on: { api, nth: 1 }, fault: index % 2 === 0 ? { kind: "serverError", status: 500, effect: false } : { kind: "cut" } })) });
    fake.dropTokens();
    await port.createCard(card);
    await port.createCard(card);
    await port.createCard({ schema: "2.0", body: { private: "private-words-of-the-model" } } as never);
    await port.sendMessage({ to: { chatId }, body: { type: "text", text: "private-words-of-the-bot" } });
    fake.setDiscoveryCode({ code: 514 });
    fake.closeSockets();
    await until(() => port.connection().state === "waiting" && port.connection().nextTryAtMs !== null);
    const all = lines.join("\n");
    expect(lines.length).toBeGreaterThan(15);
    for (const secret of [fake.app.appSecret, "FAKETENANTTOKEN", "Bearer", "ticket-", "secret&", "private-words"]) expect(all).not.toContain(secret);
  });

  it("has none when the app secret is wrong and the token call fails", async () => {
    world = await startPortOnFake({ config: { appSecret: "wrong-secret-0123456789" } });
    const outcome = await world.port.botInfo();
    expect(outcome).toMatchObject({ kind: "refused", refusal: { kind: "unauthorized", code: 10014 } });
    world.fake.planFaults({ faults: [{ id: "t", on: { api: "token", nth: 1 }, fault: { kind: "refuse", code: 10014, msg: "app secret invalid", status: 400 } }] });
    expect(await world.port.botInfo()).toMatchObject({ kind: "refused", refusal: { kind: "unauthorized" } });
    expect(JSON.stringify([outcome, world.lines])).not.toContain("wrong-secret");
    expect(valueOf({ kind: "ok", value: world.lines.length })).toBeGreaterThan(0);
  });
});

describe("the redactor", () => {
  it("hides secrets that it knows and those that only look like some", () => {
    const redactor = new Redactor();
    redactor.add("known-value-77");
    const lines = [
      'x known-value-77 y', 'Authorization: Bearer abc.def', 't-g1044abcdefghijklmnop', '{"app_secret":"q1w2e3r4","token":"zzz"}', "wss://host/ws/v2?device_id=1&ticket=abc&access_key=def", "receive message; data: {\"text\":\"hello\"}",
    ].map((line) => redactor.describe(line));
    expect(lines).toEqual([
      "x ‹hidden› y", "Authorization: Bearer ‹hidden›", "‹hidden›", '{"app_secret":"‹hidden›","token":"‹hidden›"}', "wss://host/ws/v2?‹hidden›", "receive message; data: ‹hidden›",
    ]);
  });

  it("tells an HTTP error by method, path, status and code only", () => {
    const error = Object.assign(new Error("Request failed"), { config: { method: "post", url: "http://h/p?ticket=1", data: '{"app_secret":"s3cr3t"}', headers: { Authorization: "Bearer t-x" } }, response: { status: 400, data: { code: 10003, msg: "s3cr3t" } } });
    expect(new Redactor().describe([error])).toBe("Error Request failed post http://h/p status=400 feishu=10003");
    expect(new Redactor().describe({ tenant_access_token: "t-1234567890123" })).toBe("{tenant_access_token}");
  });
});
