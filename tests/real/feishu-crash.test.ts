import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startFakeFeishu } from "@foldcast/feishu-channel/fake";
import { expect, test } from "vitest";
import { isolatedEnv, temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { FOLDCAST } from "../support/program.ts";
import { startServer } from "../support/server.ts";
import { sleep, until } from "../support/wait.ts";

const SCENARIO = {
  schema: 1, name: "work",
  turns: [{ steps: [{ message: "I begin." }, { delayMs: 300 }, { tool: { id: "c", name: "shell", input: { command: "make" } } }, { delayMs: 400 }, { result: { id: "c", output: "ok\n" } }, { delayMs: 300 }, { message: "MARKER is done.", chunks: 4 }] }],
};
// FEISHU_KILLS=50 for a long search.
const KILLS = Number(process.env["FEISHU_KILLS"] ?? 4);

test(`the channel's process is killed ${KILLS} times at random: nothing is shown twice, nothing is missing`, async () => {
  const fake = await startFakeFeishu({ redeliverOnConnect: true });
  const ada = fake.addPerson({ name: "Ada" }).openId;
  const { chatId } = fake.addChat({ name: "team", people: [ada] });
  await using server = await startServer({ scenarios: { work: SCENARIO }, speed: 1 });
  const dataDir = temporaryDir("feishu");
  const secret = join(dataDir, "secret");
  writeFileSync(secret, fake.app.appSecret, { mode: 0o600 });
  const start = async (): Promise<ChildProcess> => {
    const [command, prefix] = FOLDCAST;
    const child = spawn(command, [...prefix, "feishu", "--server", server.url, "--data-dir", dataDir], {
      env: isolatedEnv(temporaryDir("home"), {
        FOLDCAST_FEISHU_BASE_URL: fake.baseUrl, FOLDCAST_FEISHU_APP_ID: fake.app.appId, FOLDCAST_FEISHU_APP_SECRET_FILE: secret,
        FOLDCAST_FEISHU_ALLOW_CHATS: chatId, FOLDCAST_FEISHU_DEFAULT_MODEL: "scripted/work", FOLDCAST_FEISHU_CWD: "/w", FOLDCAST_FEISHU_LOCALE: "en",
        FOLDCAST_FEISHU_RETRY_MS: "500", FOLDCAST_FEISHU_WRITE_INTERVAL_MS: "150",
      }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let log = "";
    child.stdout.on("data", (data: Buffer) => (out += data.toString()));
    child.stderr.on("data", (data: Buffer) => (log += data.toString()));
    await until("the channel to be ready", () => (out.includes("feishu-ready") ? true : undefined), { everyMs: 50, describe: () => log });
    return child;
  };
  let random = 20_261_130;
  const next = (): number => (random = (random * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  let child = await start();
  try {
    for (let kill = 0; kill < KILLS; kill += 1) {
      fake.say({ chatId, from: ada, text: `job ${kill}`, mention: true });
      await sleep(Math.floor(next() * 1_800));
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
      child = await start();
    }
    fake.say({ chatId, from: ada, text: "the last job", mention: true });
    const cards = (): { text: string; streaming: boolean }[] =>
      fake.chat({ chatId }).messages.filter(({ sender, type }) => sender.kind === "app" && type === "interactive").map(({ text, card }) => ({ text, streaming: card?.streaming === true }));
    const done = (): number => cards().filter(({ text, streaming }) => text.includes("MARKER is done.") && !streaming).length;
    // A message that came while a turn was running may have been added to that turn: which turn it is does not matter.
    const turns = await until("all turns to be over", async () => {
      const all = await turnsOf(server.url);
      if (all.some(({ status }) => status === "inProgress") || !JSON.stringify(all).includes("the last job")) return undefined;
      return done() === all.length && cards().every(({ streaming, text }) => !streaming && !text.includes("Running")) ? all : undefined;
    }, { everyMs: 100, describe: () => JSON.stringify(cards()) });
    expect(turns.map(({ status }) => status)).toEqual(turns.map(() => "completed"));
    // What would be shown once more comes behind it.
    await sleep(1_500);
    expect([done(), cards().length]).toEqual([turns.length, turns.length]);
    expect(fake.broken().filter(({ rule }) => rule !== "rate.ignoredReset")).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    await fake.close();
  }
}, 600_000);

async function turnsOf(url: string): Promise<{ status: string }[]> {
  await using client = await PlainClient.connect(url);
  const { data } = await client.wire.request<{ data: { id: string }[] }>("thread/list", { limit: 50 });
  const turns: { status: string }[] = [];
  for (const { id } of data) {
    const page = await client.wire.request<{ data: { status: string }[] }>("thread/turns/list", { threadId: id, limit: 100, itemsView: "full" });
    turns.push(...page.data);
  }
  return turns;
}
