import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { createFeishuPort } from "./feishu-port.ts";
import { Redactor, type SdkLogger } from "./redact.ts";
import { loadSdk, type SdkModule } from "./sdk.ts";
import { startPortOnFake, until, valueOf, type PortOnFake } from "./testing.ts";

let world: PortOnFake | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const card = { schema: "2.0" as const, body: { elements: [{ tag: "markdown", content: "private-words-of-the-model" }] } };

/** The real SDK, with everything that it hands to its logger kept as it is beside what the redactor makes of it. */
function eavesdrop(raw: string[]): SdkModule {
  const sdk = loadSdk();
  const spying = (logger: SdkLogger): SdkLogger => {
    const spy = (name: keyof SdkLogger) => (...parts: unknown[]): void => {
      raw.push(inspect(parts, { depth: 12, maxStringLength: null }));
      logger[name](...parts);
    };
    return { error: spy("error"), warn: spy("warn"), info: spy("info"), debug: spy("debug"), trace: spy("trace") };
  };
  const Client = class extends sdk.Client {
    constructor(options: ConstructorParameters<SdkModule["Client"]>[0]) {
      super({ ...options, logger: spying(options.logger) });
    }
  };
  const WSClient = class extends sdk.WSClient {
    constructor(options: ConstructorParameters<SdkModule["WSClient"]>[0]) {
      super({ ...options, logger: spying(options.logger) });
    }
  };
  return { Client, WSClient, defaultHttpInstance: sdk.defaultHttpInstance, LoggerLevel: sdk.LoggerLevel };
}

describe("the log of the platform", () => {
  it("has no secret, token, ticket or text of people at any level, though the SDK logs all of them", async () => {
    world = await startPortOnFake();
    const { fake, chatId, person } = world;
    const raw: string[] = [];
    const lines: string[] = [];
    const keep = (line: string): void => void lines.push(line);
    const port = createFeishuPort({ appId: fake.app.appId, appSecret: fake.app.appSecret, baseUrl: fake.baseUrl, log: { error: keep, warn: keep, info: keep, debug: keep } }, eavesdrop(raw));
    await port.start(() => Promise.reject(new Error("the listener failed")));
    await until(() => port.connection().state === "connected");
    fake.say({ chatId, from: person, text: "private-words-of-a-person" });
    await until(() => lines.some((line) => line.includes("invoke event failed")));
    const failing = (["token", "card.create", "message.create"] as const).map((api) => ({ id: api, on: { api, nth: 1 }, fault: { kind: "serverError", status: 500, effect: false } as const }));
    fake.planFaults({ faults: failing });
    await port.createCard(card);
    await port.createCard(card);
    await port.createCard({ schema: "2.0", body: { private: "private-words-of-the-model" } } as never);
    await port.sendMessage({ to: { chatId }, body: { type: "text", text: "private-words-of-the-bot" } });
    fake.setDiscoveryCode({ code: 514 });
    fake.closeSockets();
    await until(() => port.connection().state === "waiting" && port.connection().nextTryAtMs !== null);
    await port.close();
    const secrets = [fake.app.appSecret, "FAKETENANTTOKEN", "Bearer t-", "ticket-", "private-words-of-the-model", "private-words-of-the-bot"];
    const loggedBy = (all: readonly string[]) => secrets.filter((secret) => all.some((line) => line.includes(secret)));
    expect(loggedBy(raw)).toEqual(secrets);
    expect(loggedBy(lines)).toEqual([]);
    expect(lines.join("\n")).not.toContain("private-words");
    expect(lines.length).toBeGreaterThan(15);
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
