import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { inspectProgram } from "./inspect.ts";

const folder = mkdtempSync(join(tmpdir(), "kimi-inspect-"));
afterAll(() => rmSync(folder, { recursive: true }));

const OLD_NODE = `file:///lib/main.mjs:20
import zlib, { createZstdDecompress, gzip } from "node:zlib";
               ^^^^^^^^^^^^^^^^^^^^
SyntaxError: The requested module 'node:zlib' does not provide an export named 'createZstdDecompress'
    at ModuleJob._instantiate (node:internal/modules/esm/module_job:213:21)

Node.js v20.20.2
`;
const THROWN = `file:///lib/main.mjs:9
    throw new ConfigError("x");
    ^

ConfigError: the key sk-1234567890abcdef of config.toml is no good
    at read (file:///lib/main.mjs:9:11)
    at node:internal/main/run_main_module:36:49

Node.js v22.23.3
`;

test.each([
  ["an old Node.js", OLD_NODE, "it needs Node.js 22.19 or newer, and was started with v20.20.2."],
  ["an error with its stack", THROWN, "ConfigError: the key [redacted] of config.toml is no good"],
  ["a line", "ENOTDIR: not a directory, mkdir '/dev/null/x'\n", "ENOTDIR: not a directory, mkdir '/dev/null/x'"],
  ["nothing", "", expect.stringContaining("Command failed")],
])("a program that fails with %s is told in one line", async (_, stderr, told) => {
  const bin = join(folder, "kimi");
  writeFileSync(bin, `#!/bin/sh\ncat >&2 <<'END'\n${stderr}END\nexit 1\n`, { mode: 0o755 });
  const { ready, reason } = await inspectProgram(bin, { PATH: process.env["PATH"] }, bin);
  expect([ready, reason!.replace("Kimi Code cannot be used: ", "")]).toEqual([false, told]);
  expect(reason).not.toContain("\n");
});

test("a program that was never set up is not asked for models: it would write a first configuration", async () => {
  const bin = join(folder, "new-kimi");
  const config = join(folder, "config.toml");
  writeFileSync(bin, `#!/bin/sh\nif [ "$1" = --version ]; then echo 2.1.0; else touch '${config}'; echo '{"models":{"m":{}}}'; fi\n`, { mode: 0o755 });
  const look = (env: Readonly<Record<string, string>> = {}) => inspectProgram(bin, { PATH: process.env["PATH"], ...env }, config);
  expect(await look()).toEqual({ ready: false, reason: expect.stringContaining("kimi login"), version: "2.1.0", models: [], permissionModes: ["default", "plan", "auto", "yolo"] });
  expect(existsSync(config)).toBe(false);
  expect(await look({ KIMI_MODEL_NAME: "m" })).toMatchObject({ ready: true, models: [{ id: "m" }] });
  expect(existsSync(config)).toBe(true);
  expect(await look()).toMatchObject({ ready: true, version: "2.1.0" });
});

test("where one question fails, the other has ended when the look is over", async () => {
  const bin = join(folder, "slow-kimi");
  const ended = join(folder, "ended");
  writeFileSync(bin, `#!/bin/sh\nif [ "$1" = --version ]; then exit 1; fi\nsleep 0.5\ntouch '${ended}'\n`, { mode: 0o755 });
  expect(await inspectProgram(bin, { PATH: process.env["PATH"] }, bin)).toMatchObject({ ready: false });
  expect(existsSync(ended)).toBe(true);
});
