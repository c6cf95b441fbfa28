import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect } from "vitest";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const FRAMES = join(ROOT, ".cache", "frames");
const open: { file: string; lines: string[] }[] = [];
let folder: string | null = null;

afterAll(() => {
  for (const { file, lines } of open.splice(0)) if (lines.length > 0) appendFileSync(file, `${lines.join("\n")}\n`);
});

/**
 * Keeps what goes over a test's connection where the tests with real programs look for it, to be judged by the real
 * server's schema. Gives the way to add a frame; does nothing where those tests have never run.
 */
export function recordConnection(): (dir: "c2s" | "s2c", frame: unknown) => void {
  if (!existsSync(FRAMES)) return () => undefined;
  if (folder === null) {
    folder = join(FRAMES, relative(ROOT, expect.getState().testPath ?? "no-test").replaceAll("/", "__"));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  }
  const recording = { file: join(folder, `${String(open.length + readdirSync(folder).length).padStart(4, "0")}-host.jsonl`), lines: [] as string[] };
  open.push(recording);
  return (dir, msg) => {
    // Of a flood the first part is as good as all of it.
    if (recording.lines.length < 1_000) recording.lines.push(JSON.stringify({ dir, msg }));
  };
}
