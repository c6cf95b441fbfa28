import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { LocalEngine } from "./local.ts";
import type { ChildCommand } from "./protocol.ts";

/** Exit code of a child whose scenario crashes. */
const CRASH_EXIT_CODE = 70;

/**
 * The child's end of a scripted session in a process of its own: lines of commands in, a line per event out. Resolves
 * when `stdin` has ended, which stops a running turn. A crash step exits the process.
 */
export async function runScriptedChild(stdin: Readable, stdout: Writable): Promise<void> {
  // A parent that is gone cannot be told anything; its end of stdin ends this process.
  stdout.on("error", () => undefined);
  const engine = new LocalEngine({ now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, signal instanceof AbortSignal ? { signal } : {}) }, {
    async emit(events: HarnessEvent[]) {
      const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
      if (!stdout.write(text) && !stdout.destroyed) await Promise.race([once(stdout, "drain"), once(stdout, "close")]).catch(() => undefined);
    },
    // Events that were written before the crash must arrive.
    fault: () => void stdout.write("", () => process.exit(CRASH_EXIT_CODE)),
  });
  for await (const line of createInterface({ input: stdin, crlfDelay: Infinity })) {
    if (line.trim() === "") continue;
    const command = JSON.parse(line) as ChildCommand;
    switch (command.do) {
      case "start":
        await engine.prepare();
        engine.start(command.request);
        break;
      case "answer":
        engine.answer(command.interactionId, command.answer);
        break;
      case "steer":
        engine.steer(command.input);
        break;
      case "cancel":
        engine.cancel();
        break;
    }
  }
  await engine.close();
}
