import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const core = resolve(import.meta.dirname, "../packages/protocol-core");
const manifest = JSON.parse(readFileSync(resolve(core, "package.json"), "utf8")) as { exports: Record<string, unknown> };
const entries = Object.keys(manifest.exports).map((path) => path.replace("./", ""));

/** One self-contained script for a browser; a Node built-in or an unbundled package makes this fail. */
async function bundle(entry: string): Promise<string> {
  const result = await build({
    stdin: { contents: entry, resolveDir: core, loader: "ts" },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "bundle",
    platform: "browser",
    target: "es2023",
    conditions: ["@foldcast/source"],
    logLevel: "silent",
  });
  return result.outputFiles[0]!.text;
}

/**
 * Runs a script in a worker, inside a realm that has nothing but the language: what V8 adds to a bare realm is taken
 * away, and what the script leaves in `result` (text) comes back.
 */
async function runBare(script: string): Promise<string> {
  const host = `
    const vm = require("node:vm");
    const { parentPort, workerData } = require("node:worker_threads");
    const realm = vm.createContext({}, { codeGeneration: { strings: false, wasm: false } });
    vm.runInContext("delete globalThis.console; delete globalThis.WebAssembly; delete globalThis.SharedArrayBuffer; delete globalThis.Atomics;", realm);
    try {
      vm.runInContext(workerData, realm);
      parentPort.postMessage({ result: vm.runInContext("String(result)", realm) });
    } catch (error) {
      parentPort.postMessage({ error: String(error && error.stack || error) });
    }`;
  const worker = new Worker(host, { eval: true, workerData: script });
  try {
    return await new Promise<string>((done, fail) => {
      worker.once("message", ({ result, error }: { result?: string; error?: string }) => (error === undefined ? done(result!) : fail(new Error(error))));
      worker.once("error", fail);
    });
  } finally {
    await worker.terminate();
  }
}

/** Projects a small turn, folds it as Desktop would, and reads a shell command. */
const SMOKE = `
  import { DESKTOP_POLICY, isFor, toNotification } from "@foldcast/protocol-core/delivery";
  import { foldTurn } from "@foldcast/protocol-core/folding";
  import { TurnProjector } from "@foldcast/protocol-core/projection";
  import { serializeFrame } from "@foldcast/protocol-core/wire";

  const projector = new TurnProjector({ turnId: "t", threadId: "th", cwd: "/repo", toolMaps: {}, defaultMap: "none", childThreadId: (ref) => ref });
  const events = [
    { type: "turn.started", turnKey: "k", at: 1000, input: [{ type: "text", text: "go", text_elements: [] }] },
    { type: "item.started", item: { kind: "command", id: "c", command: "cat a.txt" }, at: 1100 },
    { type: "item.completed", itemId: "c", outcome: { status: "succeeded" }, result: { output: "ünï", exitCode: 0 }, at: 1200 },
    { type: "item.started", item: { kind: "fileChange", id: "e", edits: [{ path: "/repo/a.txt", before: "a\\n", after: "b\\n" }] }, at: 1300 },
    { type: "item.completed", itemId: "e", outcome: { status: "succeeded" }, at: 1400 },
    { type: "item.started", item: { kind: "message", id: "m" }, at: 1500 },
    { type: "item.updated", itemId: "m", update: { type: "text", append: "done" }, at: 1600 },
    { type: "item.completed", itemId: "m", outcome: { status: "succeeded" }, at: 1700 },
    { type: "turn.completed", outcome: { status: "succeeded" }, at: 2000 },
  ];
  const frames = [];
  for (const event of events) {
    for (const output of projector.apply(event)) {
      const notification = isFor(output, DESKTOP_POLICY) ? toNotification(output, "th", "t") : null;
      if (notification !== null) frames.push(serializeFrame(notification));
    }
  }
  const turn = projector.turn(DESKTOP_POLICY);
  globalThis.result = JSON.stringify({
    types: turn.items.map((item) => item.type),
    fold: foldTurn(turn),
    diff: projector.diff(),
    frames: frames.length,
    actions: turn.items.flatMap((item) => (item.type === "commandExecution" ? item.commandActions : [])),
  });
`;

describe("protocol-core in a browser", () => {
  it.each(entries)("bundles %s without anything from Node and loads it in a bare realm", async (entry) => {
    const script = await bundle(`export * from "@foldcast/protocol-core/${entry}"`);
    expect(await runBare(`${script}\nvar result = typeof bundle;`)).toBe("object");
  });

  it("projects, folds and classifies in a worker that has the language only", async () => {
    const result = JSON.parse(await runBare(await bundle(SMOKE))) as Record<string, unknown>;
    expect(result).toMatchObject({ types: ["userMessage", "commandExecution", "fileChange", "agentMessage"], fold: { folds: true, reason: null } });
    expect(result["diff"]).toContain("+b");
    expect(result["actions"]).toEqual([{ type: "read", command: "cat a.txt", name: "a.txt", path: "/repo/a.txt" }]);
  });

  it("would notice a Node built-in", async () => {
    await expect(bundle(`import { readFileSync } from "node:fs"; export const x = readFileSync;`)).rejects.toThrow("node:fs");
  });

  it.each(["process.pid", "setTimeout(() => 1, 1)", "new TextEncoder()", "Buffer.from('')", "require('fs')", "console.log(1)", "performance.now()"])(
    "would notice %s at run time",
    async (code) => {
      await expect(runBare(`var result = ${code}`)).rejects.toThrow("is not defined");
    },
  );
});
