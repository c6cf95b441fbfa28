import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { silentLogger } from "../log/logger.ts";
import { Connection } from "../rpc/connection.ts";
import { readEnvelope } from "./envelope.ts";
import type { LinkEvents } from "./link.ts";
import { NativeSession, NativeSilentError } from "./session.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A session that is introduced, and both of its sides. */
async function introduced(): Promise<{ session: NativeSession; events: LinkEvents; toClient: string[]; toServer: Buffer[] }> {
  const toClient: string[] = [];
  const toServer: Buffer[] = [];
  let events!: LinkEvents;
  const connection = new Connection({
    transport: { write: (frames, taken) => (toClient.push(...frames.map(({ text }) => text)), taken()), terminate: () => undefined },
    handler: { request: () => ({}), notification: () => undefined, answer: () => undefined },
    log: silentLogger, now: () => 1,
  });
  const session = new NativeSession({
    connection, log: silentLogger, events: { incoming: (frame) => frame, lost: () => undefined },
    upstream: {
      isUp: true, start: () => undefined, close: () => Promise.resolve(),
      connect: (given) => {
        events = given;
        return { send: (bytes) => void toServer.push(bytes), waiting: 0, pause: () => undefined, resume: () => undefined, close: () => undefined };
      },
    },
  });
  const hello = Buffer.from('{"id":1,"method":"initialize"}');
  const answered = session.introduce(hello, readEnvelope(hello)!.id!);
  events.opened();
  events.frame(Buffer.from('{"id":1,"result":{}}'));
  await answered;
  session.release();
  return { session, events, toClient, toServer };
}

test("what it never answers is given up, and an answer that comes later is nobody's", async () => {
  const { session, events, toClient, toServer } = await introduced();
  const asked = expect(session.ask("thread/list", {})).rejects.toThrow(NativeSilentError);
  const { id } = JSON.parse(toServer.at(-1)!.toString()) as { id: string };
  await vi.advanceTimersByTimeAsync(60_000);
  await asked;
  events.frame(Buffer.from(`{"id":"${id}","result":{"data":[]}}`));
  events.frame(Buffer.from('{"method":"skills/changed"}'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(toClient).toEqual(['{"method":"skills/changed"}']);

  // Whatever else runs in this process may have timers of its own; none can come or go before the answer is there.
  const timers = vi.getTimerCount();
  const answered = session.ask("thread/list", {});
  expect(vi.getTimerCount()).toBe(timers + 1);
  const next = JSON.parse(toServer.at(-1)!.toString()) as { id: string };
  events.frame(Buffer.from(`{"id":"${next.id}","result":{"data":[1]}}`));
  expect((await answered).toString()).toBe('{"data":[1]}');
  expect(vi.getTimerCount()).toBe(timers);
  session.close();
  await expect(session.ask("thread/list", {})).rejects.toThrow("the connection is closed");
});

test("a request whose id the real server never answers passes, and nothing waits for it", async () => {
  const { session, toServer } = await introduced();
  for (const id of ["null", "1.5", "{}", "1e400"]) {
    const frame = Buffer.from(`{"id":${id},"method":"x/y"}`);
    session.request(frame, readEnvelope(frame)!.id!);
    expect(toServer.at(-1)).toEqual(frame);
  }
  expect(session.unanswered).toBe(0);
  const last = Buffer.from('{"id":9007199254740993,"method":"x/y"}');
  session.request(last, readEnvelope(last)!.id!);
  expect(session.unanswered).toBe(1);
});
