import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PaceAbortedError, Pacer, platformLimits, type PaceLimits } from "./pacer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const now = (): number => Date.now();
const wide = { count: 1_000, windowMs: 1_000 };
const limits = (change: Partial<PaceLimits>): PaceLimits => ({ apiSecond: wide, apiMinute: wide, chat: wide, message: wide, card: wide, ...change });

async function grantTimes(pacer: Pacer, waits: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const start = now();
  const times: number[] = [];
  for (const [index, wait] of waits.entries()) void wait().then(() => (times[index] = now() - start));
  await vi.advanceTimersByTimeAsync(200_000);
  return times;
}

describe("the pacer", () => {
  it("never lets more through in any window than the limit", async () => {
    const pacer = new Pacer(limits({ card: { count: 3, windowMs: 100 } }), now);
    const times = await grantTimes(pacer, Array.from({ length: 8 }, () => () => pacer.pace("card.update", { cardId: "c" })));
    expect(times).toEqual([0, 0, 0, 100, 100, 100, 200, 200]);
  });

  it("keeps other cards and APIs free of one card's wait", async () => {
    const pacer = new Pacer(limits({ card: { count: 1, windowMs: 100 } }), now);
    const times = await grantTimes(pacer, [() => pacer.pace("card.update", { cardId: "a" }), () => pacer.pace("card.update", { cardId: "a" }), () => pacer.pace("card.update", { cardId: "b" }), () => pacer.pace("message.create", {})]);
    expect(times).toEqual([0, 100, 0, 0]);
  });

  it("counts one card's limit over all its APIs", async () => {
    const pacer = new Pacer(limits({ card: { count: 1, windowMs: 100 } }), now);
    expect(await grantTimes(pacer, [() => pacer.pace("card.update", { cardId: "a" }), () => pacer.pace("card.content", { cardId: "a" })])).toEqual([0, 100]);
  });

  it("lets what must be delivered go first, and live text never use the last places", async () => {
    const pacer = new Pacer(limits({ apiSecond: { count: 4, windowMs: 100 } }), now);
    const live = () => pacer.pace("card.content", {}, { priority: "live" });
    const final = () => pacer.pace("card.content", {}, { priority: "final" });
    expect(await grantTimes(pacer, [live, live, live, live, final, final])).toEqual([0, 0, 0, 100, 0, 100]);
  });

  it("obeys a pause that the server asked for: of the API, or of one target only", async () => {
    const pacer = new Pacer(limits({}), now);
    pacer.hold("card.update", null, 500);
    pacer.hold("message.create", { chatId: "busy" }, 300);
    expect(await grantTimes(pacer, [() => pacer.pace("card.update", {}), () => pacer.pace("card.content", {}), () => pacer.pace("message.create", { chatId: "busy" }), () => pacer.pace("message.create", { chatId: "other" })])).toEqual([500, 0, 300, 0]);
  });

  it("ends a wait by its signal or by closing, and takes no place for it", async () => {
    const pacer = new Pacer(limits({ card: { count: 1, windowMs: 1_000 } }), now);
    await pacer.pace("card.update", { cardId: "c" });
    const aborter = new AbortController();
    const ended = expect(pacer.pace("card.update", { cardId: "c" }, { signal: aborter.signal })).rejects.toBeInstanceOf(PaceAbortedError);
    const closed = expect(pacer.pace("card.update", { cardId: "c" })).rejects.toBeInstanceOf(PaceAbortedError);
    aborter.abort();
    await ended;
    pacer.close();
    await closed;
    await expect(pacer.pace("bot.get", {})).rejects.toBeInstanceOf(PaceAbortedError);
  });

  it("stays within the platform's own limits", () => {
    expect(platformLimits).toMatchObject({ apiSecond: { count: 50 }, apiMinute: { count: 1_000 }, chat: { count: 5 }, message: { count: 5 }, card: { count: 10 } });
    for (const { windowMs } of [platformLimits.apiSecond, platformLimits.chat, platformLimits.message, platformLimits.card]) expect(windowMs).toBeGreaterThan(1_000);
  });
});
