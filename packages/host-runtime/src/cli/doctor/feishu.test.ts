import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeFeishu, type FakeFeishu } from "@foldcast/feishu-channel/fake";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runChecks } from "./check.ts";
import { feishuChecks } from "./feishu.ts";

let fake: FakeFeishu;
let env: Record<string, string>;
let secret: string;
beforeEach(async () => {
  fake = await startFakeFeishu();
  const folder = mkdtempSync(join(tmpdir(), "foldcast-doctor-"));
  secret = join(folder, "secret");
  writeFileSync(secret, `${fake.app.appSecret}\n`, { mode: 0o600 });
  env = { FOLDCAST_FEISHU_BASE_URL: fake.baseUrl, FOLDCAST_FEISHU_APP_ID: fake.app.appId, FOLDCAST_FEISHU_APP_SECRET_FILE: secret, FOLDCAST_FEISHU_CWD: folder, FOLDCAST_FEISHU_ALLOW_USERS: "ou_1" };
});
afterEach(() => fake.close());

async function look(): Promise<{ readonly all: string; readonly bad: string[] }> {
  const results = await runChecks(feishuChecks({ env, file: null, wanted: true }), 15_000);
  return { all: JSON.stringify(results), bad: results.flatMap(({ id, status, found, next }) => (status === "ok" ? [] : [`${status} ${id}: ${found} → ${next ?? ""}`])) };
}

test("an app that is set up in full is in order, and no connection was opened for that", async () => {
  const { all, bad } = await look();
  expect(bad).toEqual([]);
  expect(all).toContain("the bot is called foldcast");
  expect(all).toContain("all permissions are there");
  expect(all).toContain("1 person may talk to the bot");
  expect(fake.calls().map(({ api }) => api)).not.toContain("discovery");
  expect(fake.connections()).toBe(0);
});

test("nothing of Feishu is set: nothing is said, unless it is wanted", () => {
  expect(feishuChecks({ env: {}, file: null, wanted: false })).toEqual([]);
  expect(feishuChecks({ env: {}, file: null, wanted: true })).toHaveLength(1);
});

test.each([
  ["no app id", () => delete env["FOLDCAST_FEISHU_APP_ID"], /^fault feishu: FOLDCAST_FEISHU_APP_ID is not set.* → foldcast feishu setup/],
  ["an app id of another form", () => (env["FOLDCAST_FEISHU_APP_ID"] = "me"), /^fault feishu: .*cli_ and 16 hexadecimal digits/],
  ["no secret file", () => (env["FOLDCAST_FEISHU_APP_SECRET_FILE"] = `${secret}-none`), /^fault feishu: there is no file .*umask 077/],
  ["an empty secret file", () => writeFileSync(secret, "\n"), /^fault feishu: .* is empty/],
  ["a secret that others can read", () => chmodSync(secret, 0o644), /^warning feishu:secret: .* → chmod 600/],
  ["a wrong secret", () => writeFileSync(secret, "not-the-secret-of-the-app"), /^fault feishu: .* takes neither this app id nor this secret.* → copy both again/],
  ["a server that is not there", () => (env["FOLDCAST_FEISHU_BASE_URL"] = "http://127.0.0.1:9"), /^fault feishu: .*127\.0\.0\.1:9 cannot be reached.* → look at the network/],
  ["missing permissions", () => fake.forget({ names: ["im:resource", "cardkit:card:write"] }), /^fault feishu:scopes: missing: im:resource \(no images and files\), cardkit:card:write \(no cards\) → .*step 3.*step 6/],
  ["callbacks that nobody subscribed to", () => fake.forget({ names: ["card.action.trigger"] }), /^fault feishu:console: card\.action\.trigger is not among the callbacks: buttons do nothing → .*step 5/],
  ["events that nobody subscribed to", () => fake.forget({ names: ["im.message.receive_v1"] }), /^fault feishu:console: .*the bot hears nothing → .*step 4/],
  ["nobody who may talk", () => delete env["FOLDCAST_FEISHU_ALLOW_USERS"], /^warning feishu:access: nobody may talk to the bot → .*claim/],
  ["a folder that is not there", () => (env["FOLDCAST_FEISHU_CWD"] = "/nowhere/at/all"), /^fault feishu:access: .*\/nowhere\/at\/all.* → correct cwd/],
])("%s is told with what to do, once, and without the secret", async (_name, spoil, wanted) => {
  spoil();
  const { all, bad } = await look();
  expect(bad).toEqual([expect.stringMatching(wanted)]);
  expect(all).not.toContain(fake.app.appSecret);
  expect(all).not.toContain("not-the-secret");
});

test("a permission that a wider one holds is not missing", async () => {
  fake.forget({ names: ["im:message:send_as_bot", "contact:user.base:readonly", "application:application:self_manage"] });
  expect((await look()).bad).toEqual([expect.stringContaining("im:message:send_as_bot (no answers)")]);
});
