import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { listen } from "../../rpc/listen.ts";
import { openStore } from "../../store/open.ts";
import { runCaptured } from "../../testing/command.ts";
import { fakeEntry } from "../../testing/fake-adapter.ts";
import { ok, overall, runChecks, warning } from "./check.ts";
import type { Check, CheckResult } from "./check.ts";
import { dataFolderCheck, logFileCheck, sessionsFolderCheck, tokenFileCheck } from "./folders.ts";
import { harnessCheck, harnessNamesCheck } from "./harness.ts";
import { codexCheck, nodeCheck } from "./programs.ts";
import { portCheck, storeCheck } from "./server.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "foldcast-doctor-test-"));
});
const look = async (check: Check, limitMs = 15_000): Promise<CheckResult | undefined> => (await runChecks([check], limitMs))[0];

describe("checks", () => {
  test("run at the same time, each for a bounded time, and one that throws is a fault", async () => {
    const never: Check = { id: "never", run: () => new Promise(() => undefined) };
    const throws: Check = { id: "throws", run: () => { throw new Error("broken"); } };
    const results = await runChecks([never, { ...never, id: "never2" }, throws, { id: "silent", run: () => null }, { id: "fine", run: () => ok("x") }], 100);
    expect(results.map(({ id, status, found }) => [id, status, found])).toEqual([
      ["never", "warning", "no answer within 0.1 s"], ["never2", "warning", "no answer within 0.1 s"], ["throws", "fault", "broken"], ["fine", "ok", "x"],
    ]);
    expect([overall(results), overall([ok(""), warning("", null)]), overall([ok("")])]).toEqual(["fault", "warning", "ok"]);
  });
});

test("an old Node is a fault", async () => {
  expect([await look(nodeCheck("v20.18.9")), await look(nodeCheck("v20.19.0")), await look(nodeCheck("v24.1.0"))].map((each) => each?.status)).toEqual(["fault", "ok", "ok"]);
});

describe("the Codex program", () => {
  const program = (says: string): string => {
    const path = join(folder, "codex");
    writeFileSync(path, `#!/bin/sh\n${says}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const check = (bin: string | null = null, limitMs = 15_000) => look(codexCheck({ bin, wanted: true, around: { env: { PATH: `${folder}:/usr/bin:/bin` }, home: folder, platform: "linux" } }), limitMs);

  test("of the release that is spoken here is in order", async () => {
    const path = program(`echo "codex-cli ${PROTOCOL_VERSION}"`);
    expect(await check()).toMatchObject({ status: "ok", found: `Codex ${PROTOCOL_VERSION} at ${path}: its own threads and models are served, too` });
  });
  test("of another release is a warning with the way to the right one", async () => {
    program("echo codex-cli 0.99.0");
    expect(await check()).toMatchObject({ status: "warning", found: expect.stringContaining("Codex 0.99.0"), next: expect.stringContaining(`@openai/codex@${PROTOCOL_VERSION}`) });
  });
  test("that fails, or hangs, holds nothing up", async () => {
    program("exit 3");
    expect(await check()).toMatchObject({ status: "warning", found: expect.stringContaining("does not say its version") });
    program("exec sleep 30");
    expect(await check(null, 500)).toMatchObject({ status: "warning" });
  });
  test("that is nowhere is a warning, and a fault where it was named", async () => {
    expect(await look(codexCheck({ bin: null, wanted: true, around: { env: { PATH: "" }, home: folder, platform: "win32" } }))).toMatchObject({ status: "warning", next: expect.stringContaining("npm install -g") });
    expect(await check("/nowhere/codex")).toMatchObject({ status: "fault", next: expect.stringContaining("--codex-bin") });
  });
});

describe("a harness", () => {
  const options = { dataDir: "/nonexistent", harnessSettings: {}, settingsByHarness: {}, harnesses: null };
  const entry = (inspect: () => Promise<unknown>) => ({
    id: "one",
    load: async () => ({ manifest: { id: "one", displayName: "One", tools: {} }, create: () => ({ manifest: { id: "one", displayName: "One" }, inspect, close: () => Promise.resolve() }) }) as unknown as HarnessDefinition,
  });

  test("that is ready says what it offers", async () => {
    expect(await look(harnessCheck(fakeEntry(() => undefined), options))).toMatchObject({ status: "ok", found: expect.stringMatching(/\d models?$/) });
  });
  test("that is not ready is a warning with its own advice, and a fault where it was asked for", async () => {
    const absent = entry(async () => ({ ready: false, reason: "Log in with one login.", version: "1.2", models: [] }));
    expect(await look(harnessCheck(absent, options))).toMatchObject({ status: "warning", found: "One 1.2: not ready", next: "Log in with one login." });
    expect(await look(harnessCheck(absent, { ...options, harnesses: ["one"] }))).toMatchObject({ status: "fault" });
  });
  test("that nobody knows is a fault, as a server would not start with it", async () => {
    expect(await look(harnessNamesCheck({ harnesses: null }))).toBeUndefined();
    expect(await look(harnessNamesCheck({ harnesses: ["scripted"] }))).toBeUndefined();
    expect(await look(harnessNamesCheck({ harnesses: ["scripted", "skripted"] }))).toMatchObject({ status: "fault", found: "there is no harness `skripted`; did you mean `scripted`?", next: expect.stringContaining("FOLDCAST_HARNESS") });
  });
  test("that cannot be loaded says why", async () => {
    const settings = { id: "one", load: () => Promise.reject(new Error("Settings of One: speed is a number")) };
    expect(await look(harnessCheck(settings, options))).toMatchObject({ status: "fault", found: "cannot be loaded: Settings of One: speed is a number", next: expect.stringContaining("[harness.one]") });
  });
  test("that hangs or throws is told as such", async () => {
    expect(await look(harnessCheck(entry(() => new Promise(() => undefined)), options), 50)).toMatchObject({ status: "warning", found: "no answer within 0.05 s" });
    expect(await look(harnessCheck(entry(() => Promise.reject(new Error("boom"))), options))).toMatchObject({ status: "fault", found: "boom" });
  });
});

describe("the store", () => {
  test("is looked at without a trace", async () => {
    expect(await look(storeCheck(folder))).toMatchObject({ status: "ok", found: "no threads yet" });
    expect(readdirSync(folder)).toEqual([]);
  });
  test("that nobody has tells its threads; one without SQLite tells what is lost", async () => {
    openStore(folder).close();
    const files = readdirSync(folder);
    expect(await look(storeCheck(folder))).toMatchObject({ status: "ok", found: expect.stringMatching(/^0 threads of its own; sessions that the agents saved/) });
    expect(readdirSync(folder)).toEqual(files);
    expect(await look(storeCheck(folder, null))).toMatchObject({ status: "warning", next: expect.stringContaining("better-sqlite3") });
  });
  test("that a server has names it, and whether it answers", async () => {
    const store = openStore(folder);
    expect(await look(storeCheck(folder))).toMatchObject({ status: "warning", found: expect.stringContaining(`process ${process.pid}`) });
    const listener = await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: () => null as never, token: null });
    store.announce({ url: listener.url });
    expect(await look(storeCheck(folder))).toMatchObject({ status: "ok", found: `process ${process.pid} serves it on ${listener.url}` });
    await listener.close();
    expect(await look(storeCheck(folder))).toMatchObject({ status: "warning", next: expect.stringContaining(`kill ${process.pid}`) });
    store.close();
  });
  test("that is damaged is a fault", async () => {
    writeFileSync(join(folder, "threads.sqlite"), "this is no database, and it is longer than a header of one hundred bytes would have to be, so that it is read as one".repeat(4));
    expect(await look(storeCheck(folder))).toMatchObject({ status: "fault", found: expect.stringContaining("cannot be read"), next: expect.stringContaining("move it away") });
  });
});

describe("the port", () => {
  const check = (options: Partial<Parameters<typeof portCheck>[0]>) => look(portCheck({ host: "127.0.0.1", port: 0, hasToken: false, ownerUrl: null, ...options }));

  test("that is taken is a warning, unless by foldcast itself", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await check({ port })).toMatchObject({ status: "warning", next: expect.stringContaining("--port") });
    expect(await check({ port, ownerUrl: `ws://127.0.0.1:${port}` })).toMatchObject({ status: "ok" });
    server.close();
  });
  test("of an address that others reach needs a token", async () => {
    expect(await check({ host: "0.0.0.0" })).toMatchObject({ status: "fault", next: expect.stringContaining("--ws-token-file") });
    expect(await check({ host: "0.0.0.0", hasToken: true })).toMatchObject({ status: "ok" });
  });
});

describe("folders and files", () => {
  test("that others can read are named with the command that closes them", async () => {
    chmodSync(folder, 0o755);
    expect(await look(dataFolderCheck(folder))).toMatchObject({ status: "warning", next: `chmod 700 ${folder}` });
    chmodSync(folder, 0o700);
    const file = join(folder, "it's.sqlite");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    expect(await look(dataFolderCheck(folder))).toMatchObject({ status: "warning", next: `chmod 600 '${folder}/it'\\''s.sqlite'` });
    chmodSync(file, 0o600);
    expect(await look(dataFolderCheck(folder))).toMatchObject({ status: "ok" });
  });
  test("that are not there yet are fine, and a file in the place of a folder is not", async () => {
    expect(await look(dataFolderCheck(join(folder, "a", "b")))).toMatchObject({ status: "ok", found: expect.stringContaining("will be made") });
    writeFileSync(join(folder, "file"), "");
    expect(await look(dataFolderCheck(join(folder, "file")))).toMatchObject({ status: "fault" });
    expect(await look(sessionsFolderCheck(join(folder, "file")))).toMatchObject({ status: "fault" });
  });
  test("of a log", async () => {
    expect(await look(logFileCheck(null))).toBeUndefined();
    expect(await look(logFileCheck(join(folder, "not", "there", "yet.log")))).toMatchObject({ status: "ok", found: expect.stringContaining("will be made") });
    expect(await look(logFileCheck(folder))).toMatchObject({ status: "fault" });
    const file = join(folder, "some.log");
    writeFileSync(file, "");
    expect(await look(logFileCheck(file))).toMatchObject({ status: "ok" });
    expect(await look(logFileCheck(join(file, "below.log")))).toMatchObject({ status: "fault", next: expect.stringContaining("--log-file") });
  });
  test("of a token", async () => {
    const file = join(folder, "token");
    expect(await look(tokenFileCheck(null))).toBeUndefined();
    expect(await look(tokenFileCheck(file))).toMatchObject({ status: "fault", next: expect.stringContaining("openssl rand") });
    writeFileSync(file, "secret");
    chmodSync(file, 0o644);
    expect(await look(tokenFileCheck(file))).toMatchObject({ status: "warning", next: `chmod 600 ${file}` });
    chmodSync(file, 0o600);
    expect(await look(tokenFileCheck(file))).toMatchObject({ status: "ok" });
  });
});

describe("foldcast doctor", () => {
  const env = (): NodeJS.ProcessEnv => ({ HOME: folder, PATH: "" });

  test("prints a line for each check, with what to do", async () => {
    const { code, stdout } = await runCaptured(["doctor", "--port", "0", "--harness", "scripted"], { ...env(), FOLDCAST_PROT: "1" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {7}node +Node v/);
    expect(stdout).toMatch(/warning {2}environment +FOLDCAST_PROT: no setting has this name\n +→ did you mean FOLDCAST_PORT\?/);
    expect(stdout).toMatch(/ok +harness scripted +\S.*\d models/);
    // A Codex that is installed here is one warning less.
    expect(stdout).toMatch(/\n[12] warnings?; the rest is in order\.\n$/);
  });

  test("as JSON, with wrong settings as a fault among the rest", async () => {
    mkdirSync(join(folder, ".config", "foldcast"), { recursive: true });
    writeFileSync(join(folder, ".config", "foldcast", "config.toml"), "prot = 1\n");
    const { code, stdout } = await runCaptured(["doctor", "--json"], env());
    expect(code).toBe(1);
    const report = JSON.parse(stdout) as { status: string; protocol: string; checks: CheckResult[] };
    expect(report).toMatchObject({ status: "fault", protocol: PROTOCOL_VERSION });
    expect(report.checks.find(({ id }) => id === "settings")).toMatchObject({ status: "fault", found: expect.stringContaining("did you mean `port`?") });
    expect(Object.keys(report.checks[0]!)).toEqual(["id", "status", "found", "next", "ms"]);
  });
});
