import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testProgram } from "@foldcast/adapter-kit/acp/test-program";
import type { HarnessAdapter, HarnessEnvironment, SessionOptions, TurnInput } from "@foldcast/protocol-core/harness";
import { KimiAdapter } from "../adapter.ts";

/** A program in the place of `kimi`: the path of its executable. */
export function fakeKimi(): Promise<string> {
  return testProgram(join(import.meta.dirname, "fake-kimi.ts"), "kimi");
}

export interface TestAdapter {
  adapter: HarnessAdapter;
  /** Where the program keeps its sessions. */
  home: string;
  cleanup(): void;
}

/** An adapter with a fake program and a home of its own. */
export function testAdapter(bin: string, env: Readonly<Record<string, string>> = {}): TestAdapter {
  const home = mkdtempSync(join(tmpdir(), "kimi-adapter-"));
  mkdirSync(join(home, "sessions"));
  const environment: HarnessEnvironment = {
    now: Date.now,
    newId: randomUUID,
    sleep: (ms, signal) => sleep(ms, undefined, signal instanceof AbortSignal ? { signal } : {}),
    log: () => undefined,
    dataDir: home,
    toolMaps: {},
  };
  return { adapter: new KimiAdapter(environment, { bin, env: { KIMI_CODE_HOME: home, KIMI_MODEL_NAME: "fake", ...env } }), home, cleanup: () => rmSync(home, { recursive: true, force: true }) };
}

export function options(cwd: string, more: Partial<SessionOptions> = {}): SessionOptions {
  return { cwd, model: null, thinking: null, permissionMode: null, ...more };
}

export function prompt(text: string, clientId: string | null = null): TurnInput {
  return { input: [{ type: "text", text, text_elements: [] }], clientId };
}
