import { describe, expect, test } from "vitest";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { StartGate } from "./start-gate.ts";

/** A piece of work that ends when it is told to. */
function work(name: string, log: string[]): { run: () => Promise<string>; end: () => void; fail: () => void } {
  let settle!: { resolve: (value: string) => void; reject: (error: Error) => void };
  const ended = new Promise<string>((resolve, reject) => (settle = { resolve, reject }));
  return { run: () => (log.push(name), ended), end: () => settle.resolve(name), fail: () => settle.reject(new Error(name)) };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("starts of harness processes", () => {
  test("run two at a time, in their order; one that fails frees its place too", async () => {
    const gate = new StartGate({ limit: 2, schedule: new VirtualClock().schedule });
    const log: string[] = [];
    const works = ["a", "b", "c", "d"].map((name) => work(name, log));
    const results = works.map(({ run }) => gate.run(run).catch((error: unknown) => `failed ${(error as Error).message}`));
    await settled();
    expect(log).toEqual(["a", "b"]);
    works[1]!.fail();
    await settled();
    expect(log).toEqual(["a", "b", "c"]);
    works[0]!.end();
    await settled();
    expect(log).toEqual(["a", "b", "c", "d"]);
    works[2]!.end();
    works[3]!.end();
    expect(await Promise.all(results)).toEqual(["a", "failed b", "c", "d"]);
  });

  test("that hang keep the others waiting for a while only, and their late end frees nothing twice", async () => {
    const clock = new VirtualClock();
    const gate = new StartGate({ limit: 1, patienceMs: 1_000, schedule: clock.schedule });
    const log: string[] = [];
    const [hanging, second, third] = ["hanging", "second", "third"].map((name) => work(name, log));
    void gate.run(hanging!.run);
    void gate.run(second!.run);
    void gate.run(third!.run);
    clock.pass(999);
    await settled();
    expect(log).toEqual(["hanging"]);
    clock.pass(1);
    await settled();
    expect(log).toEqual(["hanging", "second"]);
    hanging!.end();
    await settled();
    expect(log).toEqual(["hanging", "second"]);
    second!.end();
    await settled();
    expect(log).toEqual(["hanging", "second", "third"]);
  });
});
