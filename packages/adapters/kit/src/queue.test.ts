import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventQueue } from "./queue.ts";

/** Whether the promise is settled once all that is ready has run. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(() => (done = true), () => (done = true));
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}

async function drain<T>(queue: EventQueue<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of queue) values.push(value);
  return values;
}

describe("EventQueue", () => {
  it("delivers every value in order, whatever the pace of either side", async () => {
    await fc.assert(fc.asyncProperty(
      fc.array(fc.integer(), { maxLength: 200 }), fc.integer({ min: 1, max: 8 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
      async (values, capacity, producerPauses, consumerPauses) => {
        const queue = new EventQueue<number>(capacity);
        const produce = async (): Promise<void> => {
          for (const [index, value] of values.entries()) {
            if (producerPauses[index % producerPauses.length] === true) await Promise.resolve();
            await queue.push(value);
            expect(queue.size).toBeLessThanOrEqual(capacity);
          }
          queue.end();
        };
        const got: number[] = [];
        const consume = async (): Promise<void> => {
          for await (const value of queue) {
            got.push(value);
            if (consumerPauses[got.length % consumerPauses.length] === true) await new Promise((resolve) => setImmediate(resolve));
          }
        };
        await Promise.all([produce(), consume()]);
        expect(got).toEqual(values);
      },
    ), { numRuns: 60, seed: 34 });
  });

  it("holds the producer back at its capacity until the consumer reads", async () => {
    const queue = new EventQueue<number>(2);
    expect(await settled(queue.push(1))).toBe(true);
    const second = queue.push(2);
    expect(await settled(second)).toBe(false);
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ value: 1, done: false });
    expect(await settled(second)).toBe(true);
  });

  it("settles every wait on whichever end comes, and drops what is pushed later", async () => {
    await fc.assert(fc.asyncProperty(
      fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 3 }), fc.constantFrom("end", "close", "fail"),
      async (pushes, reads, ending) => {
        const queue = new EventQueue<number>(1);
        const reader = queue[Symbol.asyncIterator]();
        const reading = Array.from({ length: reads }, () => reader.next().catch(() => undefined));
        const pushing = Array.from({ length: pushes }, (_, index) => queue.push(index));
        if (ending === "end") queue.end();
        else if (ending === "close") queue.close();
        else queue.fail(new Error("gone"));
        expect(await settled(Promise.all([...reading, ...pushing, queue.push(99)]))).toBe(true);
        expect(queue.size).toBe(ending === "close" ? 0 : Math.max(0, pushes - reads));
      },
    ), { numRuns: 60, seed: 34 });
  });

  it("lets the consumer read what is left after end", async () => {
    const queue = new EventQueue<number>(1);
    void queue.push(1);
    void queue.push(2);
    queue.end();
    expect(await drain(queue)).toEqual([1, 2]);
  });

  it("throws a failure once, after the values before it", async () => {
    const queue = new EventQueue<number>();
    void queue.push(1);
    queue.fail(new Error("gone"));
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ value: 1, done: false });
    await expect(reader.next()).rejects.toThrow("gone");
    expect(await reader.next()).toEqual({ value: undefined, done: true });
  });

  it("throws a failure to a reader that waits already, and ends the others", async () => {
    const queue = new EventQueue<number>();
    const reader = queue[Symbol.asyncIterator]();
    const first = reader.next();
    const second = reader.next();
    queue.fail(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    expect(await second).toEqual({ value: undefined, done: true });
  });

  it("is closed by a consumer that leaves its loop", async () => {
    const queue = new EventQueue<number>(1);
    void queue.push(1);
    const blocked = queue.push(2);
    for await (const value of queue) {
      expect(value).toBe(1);
      break;
    }
    expect(await settled(blocked)).toBe(true);
    expect([queue.open, queue.size]).toEqual([false, 0]);
  });

  it("takes one consumer only", () => {
    const queue = new EventQueue<number>();
    queue[Symbol.asyncIterator]();
    expect(() => queue[Symbol.asyncIterator]()).toThrow(TypeError);
  });

  it("passes 200,000 values in about linear time", async () => {
    const queue = new EventQueue<number>(64);
    const produce = async (): Promise<void> => {
      for (let value = 0; value < 200_000; value += 1) await queue.push(value);
      queue.end();
    };
    const [, got] = await Promise.all([produce(), drain(queue)]);
    expect(got.length).toBe(200_000);
    expect(got.at(-1)).toBe(199_999);
  });
});
