import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { closeFrame, FrameError, FrameReader, pongFrame, textFrame } from "./text-frames.ts";

/** A frame as a server sends it. */
function served(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
const text = (payload: string | Buffer): Buffer => served(0x81, Buffer.from(payload));

/** Reads bytes in pieces of these sizes, in turn, as a socket would fill what room there is. */
function read(bytes: Buffer, sizes: readonly number[], maxBytes = 1 << 28): string[] {
  const seen: Buffer[] = [];
  const log: string[] = [];
  const reader = new FrameReader(maxBytes, {
    text: (frame) => void (seen.push(frame), log.push("")),
    ping: (frame) => void log.push(`ping ${frame.toString()}`),
    close: () => void log.push("close"),
  });
  for (let [at, turn] = [0, 0]; at < bytes.length; turn++) {
    const room = reader.room();
    const count = bytes.copy(room, 0, at, at + sizes[turn % sizes.length]!);
    at += count;
    reader.took(count);
  }
  // Only now: what was delivered must not change by what is read later.
  return log.map((entry) => (entry === "" ? `text ${seen.shift()!.toString()}` : entry));
}

describe("what a server sends", () => {
  test("comes whole and in order, wherever it is cut", () => {
    const length = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(125, 126, 127, 65_500, 65_535, 65_536, 70_000, 200_000));
    fc.assert(fc.property(fc.array(length, { minLength: 1, maxLength: 30 }), fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1_000, max: 80_000 })), { minLength: 1, maxLength: 5 }), (lengths, sizes) => {
      const texts = lengths.map((each, at) => String.fromCharCode(97 + (at % 26)).repeat(each));
      expect(read(Buffer.concat(texts.map(text)), Math.max(...sizes) < 1_000 && Math.max(...lengths) > 1_000 ? [997] : sizes)).toEqual(texts.map((each) => `text ${each}`));
    }), { seed: 20_261_130, numRuns: 150 });
  });

  test("may be one message in several frames, with others between them", () => {
    const bytes = Buffer.concat([served(0x01, Buffer.from("a")), served(0x00, Buffer.from("b")), served(0x89, Buffer.from("?")), served(0x80, Buffer.from("c")), text("d"), served(0x8a, Buffer.from("!")), served(0x88, Buffer.alloc(0))]);
    for (const size of [1, 2, 3, 100]) expect(read(bytes, [size])).toEqual(["ping ?", "text abc", "text d", "close"]);
  });

  test("is passed over where it is no text", () => {
    expect(read(Buffer.concat([served(0x82, Buffer.from("x")), served(0x02, Buffer.from("x")), served(0x80, Buffer.from("y")), text("z")]), [4])).toEqual(["text z"]);
  });

  test.each([
    ["masked", Buffer.from([0x81, 0x80, 0, 0, 0, 0])],
    ["with an extension", served(0xc1, Buffer.from("x"))],
    ["of a kind that there is not", served(0x83, Buffer.from("x"))],
    ["a message within another", Buffer.concat([served(0x01, Buffer.from("x")), text("y")])],
    ["the rest of nothing", served(0x80, Buffer.from("x"))],
    ["too long", text("x".repeat(101))],
    ["too long in its head alone", Buffer.from([0x81, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
    ["too long in pieces", Buffer.concat([served(0x01, Buffer.alloc(60)), served(0x80, Buffer.alloc(60))])],
  ])("is an error: %s", (_what, bytes) => {
    expect(() => read(bytes, [1_000], 100)).toThrow(FrameError);
  });
});

describe("what a client sends", () => {
  test.each([[0, 6], [125, 6], [126, 8], [65_535, 8], [65_536, 14]])("%d bytes stand behind a head of %d", (length, head) => {
    const payload = Buffer.alloc(length, "x");
    const frame = Buffer.concat(textFrame(payload));
    expect(frame.length).toBe(head + length);
    expect([frame[0], frame[1]! & 0x80, frame.subarray(head - 4, head).toString("hex")]).toEqual([0x81, 0x80, "00000000"]);
    expect(frame.subarray(head).equals(payload)).toBe(true);
    const size = head - 4 === 2 ? frame[1]! & 0x7f : head - 4 === 4 ? frame.readUInt16BE(2) : Number(frame.readBigUInt64BE(2));
    expect(size).toBe(length);
  });

  test("is an answer to a ping, or the end", () => {
    expect(pongFrame(Buffer.from("?")).toString("hex")).toBe("8a81000000003f");
    expect(closeFrame().toString("hex")).toBe("888000000000");
  });
});
