import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { shimScript } from "./shim.ts";

let folder: string;
let shim: string;
/** Says who it is and with what it was called, a line each, and what it reads; ends as its last argument says. */
const speaker = (name: string) => `#!/bin/sh
printf '%s\\n' ${name} "$#"
for word in "$@"; do printf '%s\\0' "$word"; last=$word; done
printf '\\n%s\\n' "$FOLDCAST_CODEX_BIN"
case $last in exit-*) exit "\${last#exit-}" ;; wait) cat; while :; do sleep 0.05; done ;; esac
cat
`;

function executable(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

beforeAll(() => {
  // Spaces, a quote and a dollar in every path.
  folder = mkdtempSync(join(tmpdir(), "foldcast shim's $HOME "));
  const bin = join(folder, "bin dir");
  mkdirSync(bin);
  const node = executable(join(bin, "node"), speaker("foldcast"));
  const main = join(bin, "main.js");
  writeFileSync(main, "");
  const codex = executable(join(bin, "real codex"), speaker("codex"));
  shim = executable(join(folder, "codex"), shimScript({ foldcast: [node, "--flag", main], codex, model: null, env: { FOLDCAST_DATA_DIR: join(folder, "data") } }));
});

function call(args: readonly (string | Buffer)[], input = "") {
  const { status, stdout } = spawnSync(shim, args as string[], { input, env: {}, encoding: "utf8" });
  const [who = "", count = "", words = "", codexBin = "", ...read] = stdout.split("\n");
  const all = words.split("\0").slice(0, Number(count));
  return { who, args: who === "foldcast" ? all.slice(2) : all, codexBin, read: read.join("\n"), status };
}
const goesTo = (...args: string[]) => call(args).who;

test("Desktop's own command line is foldcast's, which learns of the real program; its streams are its own", () => {
  const args = ["-c", "features.code_mode_host=true", "app-server", "--analytics-default-enabled"];
  expect(call(args, "frames\n")).toEqual({ who: "foldcast", args, codexBin: join(folder, "bin dir", "real codex"), read: "frames\n", status: 0 });
});

test("an app-server is found behind all of Codex's options, and with options that are not known yet", () => {
  for (const line of ["app-server", "--strict-config --enable a -cb=1 --config=c=2 -m app-server app-server", "--search -s read-only -C /x -a never app-server --listen off",
    "app-server -c app=1 --new-thing value --other", "app-server --listen daemon", "app-server --newest=daemon --ws-auth capability-token"]) {
    expect(goesTo(...line.split(" ")), line).toBe("foldcast");
  }
});

test("every other command line is the real program's, to the byte", () => {
  for (const line of ["", "exec --json app-server", "--version", "-V", "--help", "help app-server", "app-server daemon version", "app-server proxy", "app-server -c a=1 generate-json-schema --out x",
    "app-server new-command", "app-server --help", "app-server --print-startup-config", "app-server --listen off daemon", "--image a app-server", "--unknown app-server", "-c app-server", "resume --last", "-- app-server"]) {
    expect(goesTo(...line.split(" ").filter(Boolean)), line).toBe("codex");
  }
  const odd = ["exec", "", " two  words ", "line\nbreak", "*", "$HOME", "'", '"', "\\", "ü", "--", "-c", "x"];
  const { args, who } = (() => {
    const { stdout } = spawnSync(shim, odd, { input: "", env: {}, encoding: "utf8" });
    return { who: stdout.split("\n")[0], args: stdout.slice(stdout.indexOf("\n", "codex\n".length) + 1).split("\0").slice(0, odd.length) };
  })();
  expect([who, args]).toEqual(["codex", odd]);
});

test("the exit code is the program's, and a signal reaches it", async () => {
  expect([call(["exec", "exit-7"]).status, call(["app-server", "--end", "exit-9"]).status]).toEqual([7, 9]);
  for (const args of [["exec", "wait"], ["app-server", "--x", "wait"]]) {
    const child = spawn(shim, args, { env: { PATH: "/usr/bin:/bin" }, stdio: ["pipe", "pipe", "ignore"] });
    const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.stdin.end();
    // The process that was started is the program itself: no shell stands between.
    expect(readFileSync(`/proc/${child.pid!}/cmdline`, "utf8")).not.toContain(shim);
    child.kill("SIGTERM");
    expect(await ended).toBe("SIGTERM");
  }
});

test("without node, Codex runs as if nothing had been there; without Codex, its other commands say so", () => {
  const gone = { foldcast: ["/nowhere/node", "/nowhere/main.js"], model: null, env: {} };
  const codex = join(folder, "bin dir", "real codex");
  executable(join(folder, "gone"), shimScript({ ...gone, codex }));
  const alone = spawnSync(join(folder, "gone"), ["app-server", "--x", "exit-0"], { env: {}, encoding: "utf8" });
  expect([alone.stdout.split("\n")[0], alone.stderr]).toEqual(["codex", "foldcast: /nowhere/node or /nowhere/main.js is gone; codex runs without foldcast until foldcast desktop enable is run again\n"]);
  executable(join(folder, "gone"), shimScript({ ...gone, codex: null }));
  expect(spawnSync(join(folder, "gone"), ["exec"], { env: {}, encoding: "utf8" })).toMatchObject({ status: 127, stderr: expect.stringContaining("there is no codex program") });
  rmSync(join(folder, "gone"));
});

test("a chosen model is one more option", () => {
  const main = join(folder, "bin dir", "main.js");
  executable(join(folder, "with-model"), shimScript({ foldcast: [join(folder, "bin dir", "node"), main], codex: null, model: "one/it's", env: {} }));
  const { stdout } = spawnSync(join(folder, "with-model"), ["app-server"], { env: {}, encoding: "utf8" });
  expect(stdout.split("\n")[2]!.split("\0")).toEqual([main, "-c", "model=one/it's", "app-server", ""]);
});
