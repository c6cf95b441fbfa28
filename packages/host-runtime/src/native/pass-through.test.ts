import { createHash } from "node:crypto";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { listen } from "../rpc/listen.ts";
import type { Listener } from "../rpc/listen.ts";
import { serveStdio } from "../rpc/stdio.ts";
import { startTestHost } from "../testing/client.ts";
import type { TestHost } from "../testing/client.ts";
import { oddFrame, oddRequest } from "./testing/odd-frames.ts";
import { FAKE_HOME, FakeUpstream } from "./testing/fake-upstream.ts";

const HELLO = '{"id":"hello","method":"initialize","params":{"clientInfo":{"name":"t","version":"1"},"capabilities":{"experimentalApi":true}}}';
const MIB = 1024 * 1024;

let upstream: FakeUpstream;
let setup: TestHost;
let listener: Listener | null = null;

beforeEach(async () => {
  upstream = new FakeUpstream();
  upstream.start();
  await upstream.ready();
  setup = await startTestHost({ native: upstream });
});
afterEach(async () => {
  await listener?.close();
  listener = null;
  await setup.host.close();
});

/** A client that sees bytes and nothing else. */
interface ByteClient {
  frames: Buffer[];
  send(frame: Buffer | string): void;
  got(count: number): Promise<void>;
}

function counting(): { frames: Buffer[]; push(frame: Buffer): void; got(count: number): Promise<void> } {
  const frames: Buffer[] = [];
  let wake: () => void = () => undefined;
  return {
    frames,
    push(frame) {
      frames.push(frame);
      wake();
    },
    async got(count) {
      while (frames.length < count) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

async function overWebSocket(): Promise<ByteClient> {
  listener = await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: (transport) => setup.host.connect(transport), token: null });
  const socket = new WebSocket(listener.url, { perMessageDeflate: false, maxPayload: 1 << 28 });
  const seen = counting();
  socket.on("message", (data) => seen.push(data as Buffer));
  await new Promise((resolve) => socket.once("open", resolve));
  return { frames: seen.frames, got: (count) => seen.got(count), send: (frame) => socket.send(frame, { binary: false }) };
}

/** Writes in pieces of a size that falls in the middle of frames and of characters. */
function overStdio(piece = 4099): ByteClient {
  const input = new PassThrough();
  const output = new PassThrough();
  serveStdio(input, output, (transport) => setup.host.connect(transport), () => undefined);
  const seen = counting();
  let rest: Buffer[] = [];
  output.on("data", (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      seen.push(Buffer.concat([...rest, chunk.subarray(from, at)]));
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  });
  return {
    frames: seen.frames,
    got: (count) => seen.got(count),
    send(frame) {
      const line = Buffer.from(`${frame.toString()}\n`);
      for (let at = 0; at < line.length; at += piece) input.write(line.subarray(at, at + piece));
    },
  };
}

async function hello(client: ByteClient): Promise<void> {
  client.send(HELLO);
  await client.got(1);
  client.frames.length = 0;
}

const digest = (frames: readonly Buffer[]): string => {
  const hash = createHash("sha256");
  for (const frame of frames) hash.update(frame).update("\n");
  return hash.digest("hex");
};

/** Sends all, has each sent back, and compares both directions with what was sent. */
async function echo(client: ByteClient, frames: readonly Buffer[]): Promise<void> {
  const received: Buffer[] = [];
  upstream.onFrame = (frame, link) => {
    received.push(frame);
    link.send(frame);
    return true;
  };
  for (const frame of frames) client.send(frame);
  await client.got(frames.length);
  expect(digest(received)).toBe(digest(frames));
  expect(digest(client.frames)).toBe(digest(frames));
  client.frames.length = 0;
  upstream.onFrame = null;
}

describe("what is not ours goes both ways as the bytes that it came as", () => {
  test("frames of any order, number, escape and doubled member, over a WebSocket", async () => {
    const client = await overWebSocket();
    await hello(client);
    await fc.assert(fc.asyncProperty(fc.array(oddFrame, { minLength: 1, maxLength: 20 }), (frames) => echo(client, frames)), { seed: 8, numRuns: 60 });
  });

  test("the same over standard streams, cut anywhere", async () => {
    const client = overStdio(7);
    await hello(client);
    await fc.assert(fc.asyncProperty(fc.array(oddFrame, { minLength: 1, maxLength: 20 }), (frames) => echo(client, frames)), { seed: 9, numRuns: 60 });
  });

  const long = (text: string): Buffer => Buffer.from(`{"params":{"text":"${text}"},"method":"thread/inject/later","id":"long"}`);
  const small = Buffer.from('{"method":"a/b","id":9007199254740993,"params":{"n":9007199254740993}}');

  test("a line of twenty megabytes among small ones, over a WebSocket", async () => {
    const client = await overWebSocket();
    await hello(client);
    await echo(client, [small, long("\\u00e9\\\"".repeat(2.5 * MIB)), small]);
  });

  test("long and deep lines among small ones, over standard streams", async () => {
    const client = overStdio(65_521);
    await hello(client);
    const nested = Buffer.from(`{"method":"x/y","params":${"[".repeat(100)}${"{\"threadId\":\"\\\"]}\"},".repeat(100_000)}1${"]".repeat(100)}}`);
    await echo(client, [small, nested, small, long("漢".repeat(6.5 * MIB)), small]);
  });

  test("answers to requests of any id, whoever makes it up", async () => {
    const client = await overWebSocket();
    await hello(client);
    upstream.onFrame = (frame, link) => {
      const id = /"id":("(?:[^"\\]|\\.)*"|-?\d+)/.exec(frame.toString())![1]!;
      link.send(Buffer.from(`{"id":${id},"result":{"big":9007199254740993,"dup":1,"dup":2}}`));
      return true;
    };
    const ids = ["1", "-7", "9007199254740993", '"fc:1"', '"fc:0:1"', '"foldcast:1"', '"\\u0061"', '"a b"', '""'];
    for (const id of ids) client.send(`{"id":${id},"method":"some/future/method","params":{}}`);
    await client.got(ids.length);
    expect(client.frames.map(String)).toEqual(ids.map((id) => `{"id":${id},"result":{"big":9007199254740993,"dup":1,"dup":2}}`));
  });

  test("requests of the server and their answers, with ids that a request of the client's has at the same time", async () => {
    const client = await overWebSocket();
    await hello(client);
    const asked = '{"id":0,"params":{"threadId":"t"},"method":"item/commandExecution/requestApproval"}';
    upstream.onFrame = (frame, link) => {
      if (frame.includes("slow/one")) link.send(Buffer.from(asked));
      else link.send(Buffer.from('{"result":{"late":true},"id":0}'));
      return true;
    };
    client.send('{"id":0,"method":"slow/one","params":{}}');
    await client.got(1);
    client.send('{"result":{"decision":"accept"},"id":0}');
    await client.got(2);
    expect(client.frames.map(String)).toEqual([asked, '{"result":{"late":true},"id":0}']);
    expect(upstream.links[0]!.received.at(-1)!.toString()).toBe('{"result":{"decision":"accept"},"id":0}');
  });

  test("a request of ours in any dress is answered by us alone", async () => {
    const client = await overWebSocket();
    await hello(client);
    const { host } = setup;
    const thread = host.threads.start({ ...(await import("../threads/settings.ts")).initialSettings("/w"), model: "fake/one" }, { ephemeral: false, threadSource: null, originator: null });
    const before = upstream.links[0]!.received.length;
    await fc.assert(fc.asyncProperty(oddRequest("thread/read", thread.id), async (frame) => {
      client.send(frame);
      await client.got(1);
      const answer = JSON.parse(client.frames[0]!.toString()) as { result: { thread: { id: string } } };
      expect(answer.result.thread.id).toBe(thread.id);
      client.frames.length = 0;
    }), { seed: 10, numRuns: 60 });
    expect(upstream.links[0]!.received.length).toBe(before);
  });
});

describe("initialize", () => {
  test("is answered by us, with the real server's home, and sent on as it came", async () => {
    const client = await overWebSocket();
    client.send(HELLO);
    await client.got(1);
    const answer = JSON.parse(client.frames[0]!.toString()) as { id: string; result: Record<string, string> };
    expect(answer).toMatchObject({ id: "hello", result: { codexHome: FAKE_HOME } });
    expect(answer.result["userAgent"]).toMatch(/^t\/0\.171\.0 /);
    expect(upstream.links[0]!.received.map(String)).toEqual([HELLO]);
  });

  test("what the real server says before the answer is out follows it", async () => {
    upstream.on("initialize", (_params, link) => {
      setImmediate(() => link.send({ method: "configWarning", params: { summary: "s" } }));
      return { codexHome: FAKE_HOME };
    });
    const client = await overWebSocket();
    client.send(HELLO);
    await client.got(2);
    expect(client.frames.map(String)[1]).toBe('{"method":"configWarning","params":{"summary":"s"}}');
  });

  test("before it, nothing goes to the real server", async () => {
    const client = await overWebSocket();
    client.send('{"id":1,"method":"thread/list","params":{}}');
    await client.got(1);
    expect(client.frames.map(String)).toEqual(['{"error":{"code":-32600,"message":"Not initialized"},"id":1}']);
    expect(upstream.links.flatMap(({ received }) => received)).toEqual([]);
  });
});
