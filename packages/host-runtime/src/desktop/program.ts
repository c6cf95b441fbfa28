import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { System } from "./setup.ts";

const STEP_MS = 15_000;

/** The programs of this machine. */
export const realSystem: System = {
  run: ([program, ...args]) => new Promise((resolve) => {
    execFile(program, args, { timeout: STEP_MS, encoding: "utf8" }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr: stderr === "" && error !== null ? error.message : stderr });
    });
  }),
};

/** How this very program is started from anywhere: whole paths, and modules that are loaded before it found from here. */
export function runningProgram(cwd: string = process.cwd()): string[] {
  const resolve = createRequire(join(cwd, "here.js")).resolve;
  const options = process.execArgv.map((word, at) => (process.execArgv[at - 1] === "--import" && /^[a-z@]/.test(word) ? resolve(word) : word));
  return [process.execPath, ...options, process.argv[1] ?? ""];
}
