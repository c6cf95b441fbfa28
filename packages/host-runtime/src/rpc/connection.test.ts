import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { Connection } from "./connection.ts";
import { Frame, notificationFrame } from "./frame.ts";
import { RawJson } from "./raw-json.ts";
import { serveStdio } from "./stdio.ts";

const KB = 1024;
const loop = () => new Promise((resolve) => setImmediate(resolve));
const big = (size: number): Frame => new Frame(Buffer.alloc(size, 0x20));

/** A connection whose peer takes what was written when it is told to. */
function connect(request: () => unknown = () => ({})) {
  const writes: { frames: readonly Frame[]; taken: () => void }[] = [];
  const calls: string[] = [];
  const connection = new Connection({
    transport: {
      write: (frames, taken) => writes.push({ frames, taken }),
      terminate: () => calls.push("terminate"), pause: () => calls.push("pause"), resume: () => calls.push("resume"),
    },
    handler: { request, notification: () => undefined, answer: () => undefined },
    log: silentLogger, now: () => 1, limits: { maxQueuedBytes: 1024 * KB, maxOpenRequests: 100 },
  });
  return { connection, writes, calls };
}

describe("what waits for a client", () => {
  test("leaves in order, the next write when the last one was taken, a bounded part at a time", async () => {
    const { connection, writes } = connect();
    const frames = Array.from({ length: 6 }, () => big(100 * KB));
    for (const frame of frames) connection.send(frame);
    await loop();
    expect(writes.map((write) => write.frames)).toEqual([frames.slice(0, 3)]);
    connection.send(frames[0]!);
    await loop();
    expect(writes).toHaveLength(1);
    expect(connection.waitingBytes).toBe(700 * KB);
    writes[0]!.taken();
    expect(writes[1]!.frames).toEqual(frames.slice(3, 6));
    writes[1]!.taken();
    writes[2]!.taken();
    expect(writes[2]!.frames).toEqual([frames[0]]);
    expect(connection.waitingBytes).toBe(0);
  });

  test("is cut off beyond the limit; of it a long frame takes an eighth at most, and several long ones do not fit for ever", () => {
    const { connection, calls } = connect();
    for (let sent = 0; sent < 9; sent += 1) connection.send(big(5_000 * KB));
    expect(connection.isOpen).toBe(true);
    connection.send(big(1));
    expect([connection.isOpen, calls]).toEqual([false, ["terminate"]]);
    const short = connect();
    for (let sent = 0; sent < 17; sent += 1) short.connection.send(big(64 * KB));
    expect(short.connection.isOpen).toBe(true);
    short.connection.send(big(1));
    expect(short.connection.isOpen).toBe(false);
  });

  test("big answers cut nobody off; nothing more is read until they have left", async () => {
    const { connection, writes, calls } = connect(() => new RawJson([Buffer.alloc(600 * KB, 0x20)]));
    const ask = (id: number): void => connection.receive(JSON.stringify({ id, method: "a" }));
    ask(1);
    expect(calls).toEqual([]);
    ask(2);
    ask(3);
    expect(calls).toEqual(["pause"]);
    connection.send(big(1));
    await loop();
    while (writes.length > 0) writes.shift()!.taken();
    expect(calls).toEqual(["pause", "resume"]);
    expect([connection.isOpen, connection.waitingBytes]).toEqual([true, 0]);
  });

  test("is given up with the link, and its end comes once", async () => {
    const { connection, writes, calls } = connect();
    connection.send(big(300 * KB));
    connection.send(big(300 * KB));
    await loop();
    connection.terminate();
    writes[0]!.taken();
    connection.send(big(1));
    await connection.closed;
    expect([writes.length, calls]).toEqual([1, ["terminate"]]);
  });
});

test("the bytes of a long frame are made once, whoever sends it, and its text is let go", () => {
  const frame = notificationFrame("a", { text: "ü".repeat(300_000) }, 1);
  expect(frame.parts).toBe(frame.parts);
  expect(frame.length).toBe(Buffer.byteLength(frame.text));
  const short = new Frame('{"ü":1}');
  expect(short.length).toBe(8);
  expect(short.parts).toBe(short.parts);
  expect(short.text).toBe('{"ü":1}');
});

test("frames of any size come out of a stream whole and in order", async () => {
  const output = new PassThrough();
  const connection = serveStdio(new PassThrough(), output, (transport) => new Connection({
    transport, handler: { request: () => ({}), notification: () => undefined, answer: () => undefined }, log: silentLogger, now: () => 1,
  }), () => undefined);
  const texts = [1, 9_000, 20, 300_000, 8_191, 8_192, 8_193, 2_000_000, 3].map((size, at) => `"${at}${"ü".repeat(size)}"`);
  const parts = [Buffer.from('"'), Buffer.alloc(10_000, 0x61), Buffer.from("b"), Buffer.alloc(9_000, 0x63), Buffer.from('"')];
  let text = "";
  output.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  for (const each of texts) connection.send(new Frame(each));
  connection.send(new Frame(parts));
  await connection.flushed();
  await loop();
  expect(text.split("\n")).toEqual([...texts, Buffer.concat(parts).toString(), ""]);
});

test("a frame is the same for everybody, whether it is sent as text or as bytes", () => {
  const frame = new Frame('{"é":"\u{1f600}"}');
  const target = Buffer.alloc(100);
  const ends = [frame.copyTo(target, 0), frame.copyTo(target, frame.length), frame.copyTo(target, 2 * frame.length)];
  expect(ends).toEqual([1, 2, 3].map((times) => times * frame.length));
  expect(target.toString("utf8", 0, ends[2])).toBe('{"é":"\u{1f600}"}'.repeat(3));
});
