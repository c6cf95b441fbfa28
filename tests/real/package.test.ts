import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { isolatedEnv, REPO, SHARED, temporaryDir } from "../support/paths.ts";

const HOST = join(REPO, "packages/host-runtime");
const SESSION = join(SHARED, "data/claude/history/cli-alltools");

interface Packed {
  filename: string;
  files: { path: string }[];
}
interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  bin?: Record<string, string>;
}

function npm(args: string[], cwd: string): string {
  // A run of npm inside of npm would inherit the outer one's settings.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_registry)/i.test(name)));
  return execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 64 * 1024 * 1024 });
}

/** How the same commands are run, from an installed package or from a clone. */
type Run = (...args: string[]) => { status: number | null; stdout: string; stderr: string };
const runner = (command: string, prefix: string[], cwd: string): Run => {
  const env = isolatedEnv(temporaryDir("home"), { FOLDCAST_DATA_DIR: temporaryDir("data") });
  return (...args) => spawnSync(command, [...prefix, ...args], { cwd, env, encoding: "utf8", timeout: 60_000 });
};

function expectEveryCommandToRun(run: Run): void {
  const help = run("--help");
  expect(help.stderr + help.stdout).toContain("replay");
  expect(help.status).toBe(0);

  const models = run("models", "--json");
  expect(JSON.parse(models.stdout)).toEqual(expect.arrayContaining([expect.objectContaining({ id: "scripted/demo", ready: true })]));
  expect(models.status).toBe(0);

  const replay = run("replay", SESSION, "--json");
  const lines = replay.stdout.trim().split("\n").map((line) => JSON.parse(line) as { type: string; turns?: number });
  expect(lines.map(({ type }) => type)).toEqual(expect.arrayContaining(["session", "turn", "total"]));
  expect(lines.at(-1)).toMatchObject({ type: "total", unreadable: 0 });
  expect(replay.status).toBe(0);

  expect(run("no-such-command").status).toBe(2);
}

describe("the published package", () => {
  let packed: Packed;
  let installed: string;

  beforeAll(() => {
    npm(["run", "-s", "build"], REPO);
    const folder = temporaryDir("pack");
    packed = (JSON.parse(npm(["pack", "--json", "--pack-destination", folder], HOST)) as Packed[])[0]!;
    installed = join(folder, "installed");
    mkdirSync(installed);
    writeFileSync(join(installed, "package.json"), '{"name":"user","private":true}\n');
    npm(["install", "--omit=optional", "--no-audit", "--no-fund", "--prefer-offline", join(folder, packed.filename)], installed);
  });

  test("ships the command, its bundle, the demo's page and the licence, and nothing else", () => {
    const page = /^dist\/chunks\/page\/[\w-]+\.(?:html|css|js)$/;
    expect(packed.files.map(({ path }) => path).filter((path) => page.test(path))).toContain("dist/chunks/page/index.html");
    const others = packed.files.map(({ path }) => path).filter((path) => !page.test(path) && !/^dist\/(?:cli|chunks\/[\w.-]+)\.js(?:\.map)?$/.test(path));
    expect(others.sort()).toEqual(["LICENSE", "README.md", "bin/foldcast.js", "dist/THIRD-PARTY-LICENSES.txt", "package.json"]);
  });

  test("depends on no package of the workspace", () => {
    const manifest = JSON.parse(readFileSync(join(installed, "node_modules/foldcast/package.json"), "utf8")) as Manifest;
    const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    expect(names.filter((name) => name.startsWith("@foldcast/"))).toEqual([]);
    expect(existsSync(join(installed, "node_modules/@foldcast"))).toBe(false);
  });

  test("runs every command without optional dependencies", () => {
    expectEveryCommandToRun(runner(join(installed, "node_modules/.bin/foldcast"), [], installed));
  });

  test("answers initialize on standard input and output", () => {
    const request = JSON.stringify({ id: 1, method: "initialize", params: { clientInfo: { name: "test", title: null, version: "1" } } });
    const env = isolatedEnv(temporaryDir("home"), { FOLDCAST_DATA_DIR: temporaryDir("data") });
    const run = spawnSync(join(installed, "node_modules/.bin/foldcast"), ["app-server", "--no-native"], { input: `${request}\n`, env, encoding: "utf8", timeout: 60_000 });
    expect(JSON.parse(run.stdout.split("\n")[0]!)).toMatchObject({ id: 1, result: { platformOs: expect.any(String) } });
    expect(run.status).toBe(0);
  });

  test("is linked as npx foldcast in the workspace", () => {
    expect(npm(["exec", "--no", "--", "foldcast", "--help"], REPO)).toContain("replay");
  });
});

describe("a clone without optional dependencies", () => {
  let clone: string;

  beforeAll(() => {
    clone = join(temporaryDir("clone"), "foldcast");
    execFileSync("git", ["clone", "--quiet", "--no-hardlinks", REPO, clone]);
    npm(["ci", "--omit=optional", "--no-audit", "--no-fund", "--prefer-offline"], clone);
  });

  test("runs every command from source", () => {
    expect(existsSync(join(clone, "node_modules/@esbuild"))).toBe(false);
    expectEveryCommandToRun(runner("npm", ["run", "-s", "foldcast", "--"], clone));
  });

  test("builds, and the bundle runs every command", () => {
    npm(["run", "-s", "build"], clone);
    expectEveryCommandToRun(runner("npx", ["foldcast"], clone));
  });
});
