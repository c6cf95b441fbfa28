import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import type { HarnessAdapter, HarnessEnvironment, SessionOptions, TurnInput } from "@foldcast/protocol-core/harness";
import { ClaudeAdapter } from "../adapter.ts";

/** A program in the place of `claude`, bundled once: the path of its executable. */
export async function fakeClaude(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "fake-claude-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "fake-claude.ts")], bundle: true, write: false, platform: "node", format: "esm", conditions: ["@foldcast/source"], logLevel: "error",
  });
  // The folder's own type: a program without an ending is a script of CommonJS otherwise.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const bin = join(folder, "claude");
  writeFileSync(bin, `#!${process.execPath}\n${outputFiles[0]!.text}`);
  chmodSync(bin, 0o755);
  return bin;
}

export interface TestAdapter {
  adapter: HarnessAdapter;
  /** Where the program keeps its configuration. */
  config: string;
  workspace: string;
  cleanup: () => void;
}

/** An adapter with a fake program and folders of its own. */
export function testAdapter(bin: string, env: Readonly<Record<string, string>> = {}): TestAdapter {
  const folder = mkdtempSync(join(tmpdir(), "claude-adapter-"));
  const config = join(folder, "config");
  const workspace = join(folder, "work");
  for (const each of [config, workspace]) mkdirSync(each);
  const environment: HarnessEnvironment = {
    now: Date.now,
    newId: randomUUID,
    sleep: (ms, signal) => sleep(ms, undefined, signal instanceof AbortSignal ? { signal } : {}),
    log: () => undefined,
    dataDir: folder,
    toolMaps: {},
  };
  return {
    adapter: new ClaudeAdapter(environment, { bin, env: { CLAUDE_CONFIG_DIR: config, ...env } }),
    config,
    workspace,
    cleanup: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function options(cwd: string, more: Partial<SessionOptions> = {}): SessionOptions {
  return { cwd, model: null, thinking: null, permissionMode: null, ...more };
}

export function prompt(text: string, clientId: string | null = null): TurnInput {
  return { input: [{ type: "text", text, text_elements: [] }], clientId };
}
