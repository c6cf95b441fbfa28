import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchCase } from "../case.ts";
import { REPO } from "../repo.ts";

const BIN = join(REPO, "packages/host-runtime/bin/foldcast.js");
const INITIALIZE = JSON.stringify({ id: 1, method: "initialize", params: { clientInfo: { name: "bench", title: null, version: "1" } } });
let dataDir: string | null = null;

/** Milliseconds from the start of the process to the answer to `initialize` on its standard output. */
async function start(): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [BIN, "app-server", "--no-native", "--data-dir", dataDir!], { stdio: ["pipe", "pipe", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  try {
    child.stdin.write(`${INITIALIZE}\n`);
    const first = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
      });
      void ended.then(() => reject(new Error(`ended without an answer\n${log}`)));
    });
    const elapsed = performance.now() - began;
    if (!("result" in (JSON.parse(first) as object))) throw new Error(`initialize was refused: ${first}`);
    return elapsed;
  } finally {
    child.stdin.end();
    await ended;
  }
}

/** Start of the built program until `initialize` is answered. */
const bench: BenchCase = {
  n: 1,
  unit: "ms",
  growthFrom: null,
  prepare() {
    execFileSync(process.execPath, [join(REPO, "tools/build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
    dataDir = mkdtempSync(join(tmpdir(), "foldcast-bench-"));
  },
  run: start,
  close() {
    if (dataDir !== null) rmSync(dataDir, { recursive: true, force: true });
  },
};
export default bench;
