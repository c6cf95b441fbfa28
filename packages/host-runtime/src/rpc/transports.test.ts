import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { connectWebSocket, startTestHost } from "../testing/client.ts";
import type { TestHost } from "../testing/client.ts";
import { listen } from "./listen.ts";
import type { ListenAddress, Listener } from "./listen.ts";
import { serveStdio } from "./stdio.ts";

const UPGRADE = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
const LOOPBACK: ListenAddress = { kind: "tcp", host: "127.0.0.1", port: 0 };

let setup: TestHost;
let listener: Listener | null = null;
beforeEach(async () => {
  setup = await startTestHost();
});
afterEach(async () => {
  await listener?.close();
  listener = null;
  await setup.host.close();
});

async function open(address: ListenAddress, token: string | null = null): Promise<Listener> {
  listener = await listen(address, { connect: (transport) => setup.host.connect(transport), token });
  return listener;
}

function http(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<[number | undefined, string]> {
  const url = new URL(path, listener!.url.replace("ws:", "http:"));
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => (body += part));
      response.on("end", () => resolve([response.statusCode, body]));
    });
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve([response.statusCode, ""]);
    });
    request.on("error", reject);
    request.end();
  });
}

describe("plain HTTP, with the real server's answers", () => {
  test("health checks, other requests, and any Origin at all", async () => {
    await open(LOOPBACK);
    expect(await http("/readyz")).toEqual([200, ""]);
    expect(await http("/healthz")).toEqual([200, ""]);
    expect(await http("/")).toEqual([400, "Connection header did not include 'upgrade'"]);
    expect(await http("/x", {}, "POST")).toEqual([405, "Request method must be `GET`"]);
    expect(await http("/readyz", { origin: "http://a" })).toEqual([403, ""]);
    expect(await http("/", { ...UPGRADE, origin: "http://localhost:3000" })).toEqual([403, ""]);
    for (const path of ["/", "/ws", "/api/x"]) expect(await http(path, UPGRADE)).toEqual([101, ""]);
  });

  test("a token is asked for on the upgrade only, each fault with its own text", async () => {
    await open(LOOPBACK, "sekret");
    const upgrade = (authorization?: string) => http("/", { ...UPGRADE, ...(authorization === undefined ? {} : { authorization }) });
    expect(await http("/readyz")).toEqual([200, ""]);
    expect(await upgrade()).toEqual([401, "missing websocket bearer token"]);
    expect(await upgrade("Bearer x")).toEqual([401, "invalid websocket bearer token"]);
    expect(await upgrade("Bearer")).toEqual([401, "invalid authorization header"]);
    expect(await upgrade("Basic x")).toEqual([401, "invalid authorization header"]);
    expect(await http("/?token=sekret", UPGRADE)).toEqual([401, "missing websocket bearer token"]);
    expect(await upgrade("bearer sekret")).toEqual([101, ""]);
    const client = await connectWebSocket(listener!.url, { authorization: "Bearer sekret" });
    await client.initialize();
  });

  test("an address that others can reach is refused without a token, before anything listens", async () => {
    await expect(open({ kind: "tcp", host: "0.0.0.0", port: 0 })).rejects.toThrow(/refusing to start non-loopback websocket listener 0\.0\.0\.0:0 without auth/);
    expect((await open({ kind: "tcp", host: "0.0.0.0", port: 0 }, "t")).url).toMatch(/^ws:\/\/0\.0\.0\.0:\d+$/);
  });

  test("a port in use says so", async () => {
    const { url } = await open(LOOPBACK);
    await expect(listen({ kind: "tcp", host: "127.0.0.1", port: Number(new URL(url).port) }, { connect: () => { throw new Error("never"); }, token: null }))
      .rejects.toMatchObject({ code: "portTaken" });
  });
});

describe("WebSocket", () => {
  test("binary and non-JSON frames are ignored, pings are answered, nothing is compressed", async () => {
    const client = await connectWebSocket((await open(LOOPBACK)).url);
    client.socket.send(Buffer.from('{"id":1,"method":"thread/list"}'), { binary: true });
    client.socket.send("not JSON");
    const pong = new Promise((resolve) => client.socket.once("pong", resolve));
    client.socket.ping();
    await pong;
    await client.initialize();
    expect(client.frames.filter((frame) => "id" in frame)).toHaveLength(1);
    expect(client.socket.extensions).toBe("");
  });

  test("frames of many megabytes go both ways", async () => {
    const client = await (await connectWebSocket((await open(LOOPBACK)).url)).initialize();
    await client.call("config/value/write", { keyPath: "big", value: "x".repeat(8_000_000), mergeStrategy: "replace" });
    const { config } = await client.call("config/read", {});
    expect((config as unknown as { big: string }).big).toHaveLength(8_000_000);
  });

  test("closing the server ends clients without a closing handshake", async () => {
    const { url } = await open(LOOPBACK);
    const socket = new WebSocket(url);
    await new Promise((resolve) => socket.once("open", resolve));
    const code = new Promise((resolve) => socket.once("close", resolve));
    await listener!.close();
    listener = null;
    expect(await code).toBe(1006);
  });
});

describe("unix socket", () => {
  const path = join(mkdtempSync(join(tmpdir(), "socket-")), "deep", "host.sock");

  test("speaks WebSocket, is private, replaces a stale file and refuses one that is in use", async () => {
    await open({ kind: "unix", path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(listen({ kind: "unix", path }, { connect: () => { throw new Error("never"); }, token: null })).rejects.toMatchObject({ code: "portTaken" });
    const client = await connectWebSocket(`ws+unix://${path}:/rpc`);
    await client.initialize();
    await listener!.close();
    await open({ kind: "unix", path });
    await new Promise<void>((resolve) => connect(path).once("connect", resolve));
  });

  test("never removes what is no socket", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "socket-")), "precious");
    writeFileSync(file, "text");
    await expect(open({ kind: "unix", path: file })).rejects.toThrow(/is no socket/);
    expect(statSync(file).size).toBe(4);
  });
});

test("on standard streams the connection ends with the input, and answers what came without a last newline", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const connection = serveStdio(input, output, (transport) => setup.host.connect(transport), () => undefined);
  let text = "";
  output.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  const initialize = { id: 1, method: "initialize", params: { clientInfo: { name: "a", version: "1" } } };
  input.end([initialize, { id: 2, method: "thread/list", params: {} }, { id: 3, method: "thread/loaded/list", params: {} }].map((frame) => JSON.stringify(frame)).join("\n"));
  await connection.closed;
  expect(connection.isOpen).toBe(false);
  const ids = text.trim().split("\n").map((line) => (JSON.parse(line) as { id?: number }).id).filter((id) => id !== undefined);
  expect(ids.sort()).toEqual([1, 2, 3]);
});
