import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { foldcast } from "../support/command.ts";
import { DesktopClient } from "../support/desktop-client.ts";
import { isolatedEnv, REPO, temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { FOLDCAST } from "../support/program.ts";
import { startServer } from "../support/server.ts";
import { WireClient } from "../support/client.ts";
import { childProcess } from "../support/transport.ts";
import { until } from "../support/wait.ts";

endToEnd();

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once("error", reject);
  });
}

test("npm start prints one line for programs, and tells a person how to connect", async () => {
  const home = temporaryDir("home");
  const child = spawn("npm", ["-s", "start", "--", "--port", "0", "--data-dir", temporaryDir("data")], {
    cwd: REPO,
    // npm needs its own settings; the server must see no home of a person.
    env: { ...isolatedEnv(home, { FOLDCAST_NO_NATIVE: "1" }), HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  try {
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    while (!stdout.includes("\n")) await Promise.race([once(child.stdout, "data"), once(child, "close")]);
    const ready = JSON.parse(stdout) as { event: string; url: string; protocol: string };
    expect(ready).toMatchObject({ event: "listening", protocol: "0.171.0" });
    await using desktop = await DesktopClient.connect(ready.url);
    await desktop.prompt(await desktop.prewarm("/w"), "show me");
    expect(stdout.split("\n")).toHaveLength(2);
    expect(stderr).toContain(`codex --remote ${ready.url}`);
  } finally {
    process.kill(-child.pid!, "SIGTERM");
    await once(child, "close");
  }
});

test("a server answers its health checks and ends cleanly on SIGTERM", async () => {
  const server = await startServer();
  const http = server.url.replace("ws://", "http://");
  expect(await statusOf(`${http}/readyz`)).toBe(200);
  expect(await statusOf(`${http}/healthz`)).toBe(200);
  expect(await server.stop("SIGTERM")).toBe(0);
});

test("a port that is taken is exit code 3, wrong usage is 2", async () => {
  await using server = await startServer();
  const { port } = new URL(server.url);
  const taken = await foldcast(["serve", "--port", port, "--data-dir", temporaryDir("data")]);
  expect(taken.code).toBe(3);
  expect(taken.stdout).toBe("");
  expect(taken.stderr).toContain(port);
  expect((await foldcast(["serve", "--no-such-flag"])).code).toBe(2);
});

test("the same server speaks on standard streams, with Codex's own flags", async () => {
  const home = temporaryDir("home");
  mkdirSync(`${home}/.codex`);
  const [program, prefix] = FOLDCAST;
  const args = [...prefix, "-c", "features.code_mode_host=true", "app-server", "--analytics-default-enabled"];
  const transport = childProcess(program, args, isolatedEnv(home, { FOLDCAST_DATA_DIR: temporaryDir("data"), FOLDCAST_NO_NATIVE: "1" }), REPO);
  await using client = new WireClient(transport, { label: "stdio" });
  await client.request("initialize", { clientInfo: { name: "stdio-test", title: null, version: "1" }, capabilities: null });
  const { thread } = await client.request<{ thread: { id: string } }>("thread/start", { cwd: home });
  await client.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "go", text_elements: [] }] });
  await client.waitFor("turn/completed");
  await client.close();
  expect(client.closed).toBe("process ended with 0");
});

test("two clients follow one thread, and only those that joined it", async () => {
  await using server = await startServer();
  await using one = await PlainClient.connect(server.url);
  await using two = await DesktopClient.connect(server.url);
  await using bystander = await PlainClient.connect(server.url);
  const { data } = await one.wire.request<{ data: { id: string; isDefault: boolean }[] }>("model/list", {});
  const model = data.find((entry) => entry.isDefault)?.id ?? "";
  const thread = await one.start({ model, cwd: "/w" });
  await one.prompt(thread.id, "first");
  await two.open(thread.id);
  const live = await one.prompt(thread.id, "second");
  // The two have links of their own: what one was told the other will be told, but not at the same moment.
  await until("the end on the other connection", () => (two.threads.get(thread.id)?.[1]?.status === "completed" ? true : undefined));
  expect(two.threads.get(thread.id)?.[1]?.items.at(-1)).toEqual(live.items.at(-1));
  expect(bystander.wire.notifications.map((frame) => frame.method).filter((method) => /^(turn|item)\//.test(method))).toEqual([]);
});

test("a thread that was never used is in no list and can be deleted", async () => {
  await using server = await startServer();
  await using desktop = await DesktopClient.connect(server.url);
  const unused = await desktop.prewarm("/w");
  const used = await desktop.prewarm("/w");
  await desktop.prompt(used, "go");
  expect((await desktop.list()).map((thread) => thread.id)).toEqual([used]);
  await desktop.wire.request("thread/delete", { threadId: unused });
  await expect(desktop.open(unused)).rejects.toThrow();
});
