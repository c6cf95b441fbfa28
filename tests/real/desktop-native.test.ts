import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Model } from "@foldcast/protocol-core/wire";
import { startModelServer } from "../model-server/index.ts";
import { codexProgram } from "../support/codex.ts";
import { DesktopApp } from "../support/desktop-app.ts";
import { DESKTOP_ARGS, desktopProcess, writeShim } from "../support/desktop-start.ts";
import { nativeHome } from "../support/native.ts";
import { isolatedEnv, temporaryDir } from "../support/paths.ts";
import { endToEnd } from "../support/recording.ts";
import { SCENARIOS } from "../support/scenarios.ts";
import { writeScenarios } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

test("the shim is the real program for everything but the app-server: output and exit code to the byte", async () => {
  const { bin } = await codexProgram();
  const shim = writeShim(bin);
  const home = temporaryDir("home");
  for (const args of [["--version"], ["--help"], ["app-server", "--help"], ["-c", "a=1", "features", "list"], ["app-server", "no-such-command"], ["exec", "--no-such-flag"]]) {
    const [through, direct] = [shim, bin].map((program) => spawnSync(program, args, { env: isolatedEnv(home), cwd: home }));
    expect([through!.status, through!.stdout.toString(), through!.stderr.toString()], args.join(" ")).toEqual([direct!.status, direct!.stdout.toString(), direct!.stderr.toString()]);
  }
});

test("Desktop's command line through the shim: native and foreign threads at once, helpers beside it, an owner that dies", async () => {
  const { bin } = await codexProgram();
  await using model = await startModelServer({ scenario: { replies: [{ match: { says: "hello" }, blocks: [{ text: "Hello to you.", phase: "final_answer" }], times: 0 }] } });
  const { home, codexHome, cwd } = nativeHome(model.url);
  const config = (): string => createHash("sha256").update(readFileSync(join(codexHome, "config.toml"))).digest("hex");
  const before = config();
  const shim = writeShim(bin);
  const env = { FOLDCAST_DATA_DIR: temporaryDir("data"), FOLDCAST_SCENARIO: writeScenarios(SCENARIOS), FOLDCAST_SCENARIO_SPEED: "0", FOLDCAST_HARNESS: "scripted" };
  const start = (args: readonly string[] = DESKTOP_ARGS) => desktopProcess(shim, env, home, args);

  const first = start();
  const { app, answers, missing } = await DesktopApp.start(first);
  expect(missing).toEqual([]);
  const models = answers.get("model/list")!["data"] as Model[];
  const ours = models.findIndex((each) => each.model === "scripted/work");
  expect(ours).toBeGreaterThan(0);
  expect(models.slice(0, ours).some((each) => each.model === "gpt-5.5")).toBe(true);
  expect(models.filter(({ isDefault }) => isDefault).map((each) => each.model.includes("/"))).toEqual([false]);

  const native = await app.client.prewarm(cwd);
  const foreign = await app.client.prewarm(cwd, "scripted/work");
  const [nativeTurn, foreignTurn] = await Promise.all([app.client.prompt(native, "hello"), app.client.prompt(foreign, "first")]);
  expect([nativeTurn.status, foreignTurn.status], JSON.stringify(nativeTurn)).toEqual(["completed", "completed"]);
  // Codex notes in its database behind the turn's end what it lists.
  await until("both threads in the list", async () => ((await app.client.list()).length === 2 ? true : undefined), { everyMs: 100 });
  expect((await app.client.list()).map(({ id }) => id).sort()).toEqual([native, foreign].sort());

  // A helper joins, has both, and is let go with a clear word when the owner dies.
  const helper = start();
  const beside = (await DesktopApp.start(helper)).app;
  expect([...beside.sidebar.keys()].sort()).toEqual([native, foreign].sort());
  expect((await beside.client.open(native)).map(({ status }) => status)).toEqual(["completed"]);
  expect(helper.stderr()).toBe("");
  const other = start(["-c", "features.code_mode_host=false", ...DESKTOP_ARGS.slice(2)]);
  await DesktopApp.start(other);
  const listening = start(["-c", "features.code_mode_host=false", "app-server", "--listen", "ws://127.0.0.1:0"]);
  for (const { stderr } of [other, listening]) {
    await until("a word on what does not count", () => (/^foldcast app-server: .* was started without -c features\.code_mode_host=false; that does not count here\n/m.test(stderr()) ? true : undefined), { describe: stderr });
  }
  listening.child.kill("SIGTERM");
  expect(await listening.ended).toBe(0);
  first.child.kill("SIGKILL");
  expect(await helper.ended).toBe(1);
  await until("why it ended", () => (helper.stderr().includes("start again to take its place") ? true : undefined), { describe: helper.stderr });

  const next = start();
  await using after = (await DesktopApp.start(next)).app;
  expect([...after.sidebar.keys()].sort()).toEqual([native, foreign].sort());
  expect((await after.client.open(foreign))[0]!.items).toEqual(foreignTurn.items);
  await after.client.open(native);
  expect((await after.client.prompt(native, "hello again")).status).toBe("completed");
  expect(config()).toBe(before);
  next.child.stdin.end();
  expect(await next.ended).toBe(0);
  // Neither the dead owner's Codex nor the last one's is left behind.
  await until("the end of every Codex of this home", () => (spawnSync("pgrep", ["-f", env.FOLDCAST_DATA_DIR]).status === 1 ? true : undefined), { everyMs: 100 });
});
