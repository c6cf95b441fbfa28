import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { spawnLines, type ChildOptions, type LineChild } from "./child.ts";

function node(script: string, options: Partial<ChildOptions> = {}): Promise<LineChild> {
  return spawnLines({ command: [process.execPath, "-e", script], ...options });
}

async function collect(child: LineChild): Promise<string[]> {
  const lines: string[] = [];
  for await (const batch of child.lines) lines.push(...batch);
  return lines;
}

/** A dead process that nobody has waited for yet does not count as alive. */
function alive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<void> {
  while (alive(pid)) await sleep(20);
}

/** Ignores SIGTERM and starts a child that ignores it too; prints that child's pid. */
const STUBBORN = `
  process.on("SIGTERM", () => {});
  const inner = require("node:child_process").spawn(process.execPath,
    ["-e", "process.on('SIGTERM', () => {}); process.send('up'); setInterval(() => {}, 1000)"],
    { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  inner.once("message", () => console.log(inner.pid));
  setInterval(() => {}, 1000);`;

describe("spawnLines", () => {
  it("passes lines both ways and keeps characters that are split between chunks", async () => {
    const child = await node(`
      process.stdin.on("data", (data) => {
        const text = Buffer.from(JSON.parse(data).text);
        process.stdout.write(text.subarray(0, 2));
        setTimeout(() => { process.stdout.write(text.subarray(2)); process.stdout.write("\\n\\r\\nlast"); process.exit(3); }, 30);
      });`);
    await child.send({ text: "😀 done" });
    expect(await collect(child)).toEqual(["😀 done", "last"]);
    expect(await child.exited).toEqual({ code: 3, signal: null, stderr: "" });
  });

  it("reads a line of 20 MB and many short lines", async () => {
    const child = await node(`
      process.stdout.write("x".repeat(20e6) + "\\n");
      process.stdout.write(Array.from({ length: 50000 }, (_, i) => i).join("\\n"));`);
    const lines = await collect(child);
    expect(lines[0]?.length).toBe(20e6);
    expect(lines.slice(1)).toEqual(Array.from({ length: 50000 }, (_, index) => String(index)));
  });

  it("ends a child whose line is longer than the limit", async () => {
    const child = await node(`process.stdout.on("error", () => {}); process.stdout.write("x".repeat(300000)); setInterval(() => {}, 1000)`, { lineLimit: 100_000 });
    expect(await collect(child)).toEqual([]);
    expect((await child.exited).signal).toBe("SIGTERM");
  });

  it("keeps the end of stderr only", async () => {
    const child = await node(`process.stderr.write("a".repeat(100000) + "the reason"); process.exitCode = 1`, { stderrLimit: 30 });
    const exit = await child.exited;
    expect(exit).toEqual({ code: 1, signal: null, stderr: `${"a".repeat(20)}the reason` });
  });

  it("kills a child and its descendants that do not end when asked", async () => {
    const child = await node(STUBBORN, { graceMs: 150 });
    const reader = child.lines[Symbol.asyncIterator]();
    const first = await reader.next() as { value: string[] };
    const inner = Number(first.value[0]);
    expect(alive(inner)).toBe(true);
    const [exit, again] = await Promise.all([child.close(), child.close()]);
    expect(exit.signal).toBe("SIGKILL");
    expect(again).toBe(exit);
    await gone(inner);
    expect((await reader.next()).done).toBe(true);
  });

  it("ends what a child left behind when it exits by itself", async () => {
    const child = await node(`
      const inner = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
      console.log(inner.pid);
      inner.once("spawn", () => process.exit(0));`);
    const [pid] = await collect(child);
    expect((await child.exited).code).toBe(0);
    await gone(Number(pid));
  });

  it("ends on abort, and lets go of a reader whose pipe somebody else holds", async () => {
    const abort = new AbortController();
    const child = await node(`
      const inner = require("node:child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 4000)"],
        { stdio: ["ignore", "inherit", "ignore"], detached: true });
      inner.unref();
      inner.once("spawn", () => console.log("up"));
      setInterval(() => {}, 1000);`, { signal: abort.signal });
    const reader = child.lines[Symbol.asyncIterator]();
    await reader.next();
    const rest = reader.next();
    abort.abort();
    expect((await child.exited).signal).toBe("SIGTERM");
    expect((await rest).done).toBe(true);
  });

  it("rejects what cannot be started, and writes to a child that is gone", async () => {
    await expect(spawnLines({ command: ["/nowhere/at-all"] })).rejects.toThrow("Could not start /nowhere/at-all");
    await expect(spawnLines({ command: [] })).rejects.toThrow("empty");
    const child = await node("");
    await child.exited;
    await expect(child.send({})).rejects.toThrow("no longer reads");
    expect((await child.close()).code).toBe(0);
  });

  it("makes a fast child wait for a slow reader", async () => {
    const child = await node(`
      let n = 0;
      const more = () => { while (process.stdout.write("y".repeat(1000) + "\\n")) n++; process.stdout.once("drain", more); };
      more();
      process.on("SIGTERM", () => { process.stderr.write(String(n)); process.exit(0); });`);
    const reader = child.lines[Symbol.asyncIterator]();
    await reader.next();
    await sleep(300);
    const exit = await child.close();
    expect(Number(exit.stderr)).toBeLessThan(3000);
  });
});
