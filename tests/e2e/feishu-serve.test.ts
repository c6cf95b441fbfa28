import { readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { startFakeFeishu } from "@foldcast/feishu-channel/fake";
import { expect, test } from "vitest";
import { startFeishu } from "../support/feishu.ts";
import { temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SLOW = { schema: 1, name: "slow", turns: [{ steps: [{ message: "Beginning." }, { delayMs: 600_000 }, { message: "End." }] }] };
const PLAIN = { schema: 1, name: "plain", turns: [{ steps: [{ message: "All is well." }] }] };
const patient = { everyMs: 20 };

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function environment(baseUrl: string, appId: string, secret: string): Record<string, string> {
  const file = join(temporaryDir("secret"), "secret");
  writeFileSync(file, secret, { mode: 0o600 });
  return { FOLDCAST_FEISHU_BASE_URL: baseUrl, FOLDCAST_FEISHU_APP_ID: appId, FOLDCAST_FEISHU_APP_SECRET_FILE: file, FOLDCAST_FEISHU_DEFAULT_MODEL: "scripted/slow", FOLDCAST_FEISHU_CWD: "/w", FOLDCAST_FEISHU_LOCALE: "en", FOLDCAST_FEISHU_GROUPS: "all", FOLDCAST_FEISHU_CLAIM: "1" };
}

test("a server talks in Feishu as soon as that can be reached, works before, and ends its cards with itself", async () => {
  const port = await freePort();
  const app = { appId: "cli_00000000feed0002", appSecret: "a-secret-that-no-log-may-hold" };
  await using server = await startServer({ scenarios: { slow: SLOW }, speed: 1, args: ["--feishu"], env: environment(`http://127.0.0.1:${port}`, app.appId, app.appSecret) });
  await until("the reason", () => (/foldcast feishu: Feishu cannot be reached: .* is tried again/.test(server.stderr()) ? true : undefined), patient);
  await using client = await PlainClient.connect(server.url);
  expect(await client.wire.request("model/list", {})).toBeTruthy();

  const fake = await startFakeFeishu({ port, app });
  try {
    const ada = fake.addPerson({ name: "Ada" }).openId;
    const { chatId } = fake.addChat({ mode: "p2p", name: "bot", people: [ada] });
    await until("the channel", () => (server.stderr().includes("foldcast feishu: talks for") ? true : undefined), patient);
    fake.say({ chatId, from: ada, text: "go" });
    const card = () => fake.chat({ chatId }).messages.find(({ type, text }) => type === "interactive" && text.includes("Beginning."));
    await until("the card", () => card(), patient);
    fake.closeSockets();
    await until("the loss and the return", () => (/is tried again\n[^]*connected again/.test(server.stderr()) ? true : undefined), patient);
    expect(await server.stop()).toBe(0);
    expect(card()?.text).toContain("Interrupted");
    expect(card()?.card?.streaming).toBe(false);
    expect(server.stderr()).not.toContain(app.appSecret);
    const ledger = readdirSync(server.dataDir).filter((name) => name.startsWith("feishu.sqlite"));
    expect(ledger.map((name) => statSync(join(server.dataDir, name)).mode & 0o077)).toEqual(ledger.map(() => 0));
    expect(fake.broken()).toEqual([]);
  } finally {
    await fake.close();
  }
});

test("settings that cannot work are told once, and the server serves", async () => {
  await using server = await startServer({ scenarios: { slow: SLOW }, env: { FOLDCAST_FEISHU: "1" } });
  await until("the reason", () => (/foldcast feishu: FOLDCAST_FEISHU_APP_ID is not set.*goes on without Feishu/.test(server.stderr()) ? true : undefined), patient);
  await using client = await PlainClient.connect(server.url);
  expect(await client.wire.request("model/list", {})).toBeTruthy();
});

test("a server that dies and comes back is found again: what ran has ended, what comes runs", async () => {
  const port = await freePort();
  const options = { scenarios: { slow: SLOW, plain: PLAIN }, speed: 1, args: ["--port", String(port)] };
  const first = await startServer(options);
  await using world = await startFeishu(first.url, { defaultModel: "scripted/slow" });
  world.say("go");
  await until("the card", () => world.said().find(({ text }) => text.includes("Beginning.")), patient);
  await first.stop("SIGKILL");
  await using second = await startServer({ ...options, dataDir: first.dataDir });
  expect(second.url).toBe(first.url);
  const ended = await until("its end", () => world.said().find(({ text, card }) => text.includes("Interrupted") && card?.streaming === false), patient);
  expect(ended.text).toContain("Beginning.");
  world.say("/new");
  world.say("/model scripted/plain");
  world.say("hello");
  await until("the answer", () => world.said().find(({ text, card }) => text.includes("All is well.") && card?.streaming === false), patient);
  expect(world.said().filter(({ text }) => text.includes("Beginning."))).toHaveLength(1);
  expect(world.fake.broken()).toEqual([]);
});
