import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

/** Makes an executable of a TypeScript file, for as long as this process lives: its path. */
export async function testProgram(entry: string, name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-program-`));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, platform: "node", format: "esm", conditions: ["@foldcast/source"], logLevel: "error" });
  // The folder's own type: a program without an ending is a script of CommonJS otherwise.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const bin = join(folder, name);
  writeFileSync(bin, `#!${process.execPath}\n${outputFiles[0]!.text}`);
  chmodSync(bin, 0o755);
  return bin;
}
