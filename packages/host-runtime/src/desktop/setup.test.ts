import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { localDoors } from "../rpc/local-door.ts";
import type { PlanOptions, Step } from "./plan.ts";
import { disable, enable, InTheWayError, status } from "./setup.ts";
import type { SetupOptions, System } from "./setup.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "foldcast-desktop-test-"));
});

/** A session that keeps its variables, and notes what else is asked of it. */
class FakeSession implements System {
  readonly variables = new Map<string, string>();
  readonly calls: Step[] = [];
  isAbsent = false;

  async run(step: Step): Promise<{ code: number; stdout: string; stderr: string }> {
    const [, ...args] = step.filter((word) => word !== "--user");
    const [verb = "", name = "", value = ""] = args;
    if (this.isAbsent) return { code: 1, stdout: "", stderr: "no session\n" };
    const shown = { getenv: `${this.variables.get(name) ?? ""}\n`, "show-environment": [...this.variables].map(([key, each]) => `${key}=${asSystemdShows(each)}\n`).join("") }[verb];
    if (shown !== undefined) return { code: 0, stdout: shown, stderr: "" };
    if (verb === "setenv") this.variables.set(name, value);
    else if (verb === "set-environment") this.variables.set(name.split("=")[0]!, name.slice(name.indexOf("=") + 1));
    else if (verb.startsWith("unset")) this.variables.delete(name);
    else this.calls.push(step);
    return { code: 0, stdout: "", stderr: "" };
  }
}

function asSystemdShows(value: string): string {
  return /^[\w/.:+-]*$/.test(value) ? value : `$'${value.replace(/[\\']/g, "\\$&")}'`;
}

function options(over: Partial<PlanOptions> & { system: System }): SetupOptions {
  const dataDir = over.dataDir ?? join(home, "data dir");
  return {
    platform: "linux", door: "cli", home, uid: 501, dataDir, configHome: join(home, ".config"), doors: localDoors(dataDir, home, "linux"),
    foldcast: ["/opt/node js/bin/node", "/opt/fold cast/cli.js"], codex: "/usr/bin/codex", model: null, env: {}, path: "/usr/bin:/opt/$HOME/50%/bin", ...over,
  };
}

/** Every file and folder below home. */
const all = (): string[] => readdirSync(home, { recursive: true, encoding: "utf8" }).sort();
const written = (name: string): string => readFileSync(join(home, all().find((path) => path.endsWith(name))!), "utf8");

describe.each(["darwin", "linux"] as const)("on %s", (platform) => {
  test.each(["cli", "websocket"] as const)("the door %s is set up once however often it is asked for, and undone without a trace", async (door) => {
    const system = new FakeSession();
    const setup = options({ platform, door, system });
    mkdirSync(join(home, "Library"));
    writeFileSync(join(home, "Library", "kept"), "");
    const before = all();
    const { files, variable, trouble } = await enable(setup);
    expect(trouble).toEqual([]);
    expect(variable.name).toBe(door === "cli" ? "CODEX_CLI_PATH" : "CODEX_APP_SERVER_WS_URL");
    expect(system.variables.get(variable.name)).toBe(variable.value);
    const after = all();
    expect(after.filter((path) => statSync(join(home, path)).isFile()).map((path) => join(home, path)).sort())
      .toEqual([...files, join(home, "data dir", "desktop", "enabled.json"), join(home, "Library", "kept")].sort());
    const contents = files.map((path) => readFileSync(path, "utf8"));
    await enable(setup);
    expect([all(), files.map((path) => readFileSync(path, "utf8"))]).toEqual([after, contents]);
    expect(await status(setup)).toMatchObject({ enabled: true, door, codex: "/usr/bin/codex", session: variable.value, files: files.map((path) => ({ path, state: "ok" })) });

    expect(await disable(setup)).toEqual({ files, kept: [], trouble: [] });
    expect([all(), [...system.variables]]).toEqual([before, []]);
    expect((await disable(setup)).files).toEqual([]);
    expect((await status(setup)).enabled).toBe(false);
  });

  test("what the session had before comes back, and what somebody else has set since stays", async () => {
    const system = new FakeSession();
    system.variables.set("CODEX_CLI_PATH", "/their/codex");
    const setup = options({ platform, system });
    await enable(setup);
    await enable(setup);
    await disable(setup);
    expect(system.variables.get("CODEX_CLI_PATH")).toBe("/their/codex");
    await enable(setup);
    system.variables.set("CODEX_CLI_PATH", "/another/codex");
    await disable(setup);
    expect(system.variables.get("CODEX_CLI_PATH")).toBe("/another/codex");
  });

  test("a folder whose name has quotes in it is known again in the session", async () => {
    const system = new FakeSession();
    const setup = options({ platform, system, dataDir: join(home, "o'neil \\ \"x\" $1") });
    const { variable } = await enable(setup);
    expect((await status(setup)).session).toBe(variable.value);
    await disable(setup);
    expect(system.variables.size).toBe(0);
  });

  test("the other door takes the place of the first", async () => {
    const system = new FakeSession();
    await enable(options({ platform, system, door: "websocket" }));
    const { variable } = await enable(options({ platform, system, door: "cli" }));
    expect([...system.variables]).toEqual([[variable.name, variable.value]]);
    expect(all().filter((path) => /server\.plist|\.service/.test(path))).toEqual([]);
    expect(system.calls.at(-1)).toEqual(expect.arrayContaining([platform === "darwin" ? "bootout" : "disable"]));
  });
});

test("a file of somebody else is left alone: before it is written, and when it was changed", async () => {
  const system = new FakeSession();
  const setup = options({ system });
  const path = join(home, ".config", "environment.d", "60-foldcast.conf");
  mkdirSync(join(home, ".config", "environment.d"), { recursive: true });
  writeFileSync(path, "MINE=1\n");
  const before = all();
  await expect(enable(setup)).rejects.toThrow(InTheWayError);
  expect([all(), system.variables.size]).toEqual([before, 0]);
  writeFileSync(path, "");
  await expect(enable(setup)).rejects.toThrow(path);
  const other = options({ system, configHome: join(home, "other") });
  const { files } = await enable(other);
  writeFileSync(files[1]!, "CHANGED=1\n");
  expect((await status(other)).files.map(({ state }) => state)).toEqual(["ok", "changed"]);
  expect(await disable(other)).toMatchObject({ files: [files[0]], kept: [files[1]] });
  expect(existsSync(files[1]!)).toBe(true);
});

test("a file that somebody has changed since is not written again", async () => {
  const setup = options({ system: new FakeSession() });
  const { files } = await enable(setup);
  writeFileSync(files[1]!, "CHANGED=1\n");
  const contents = (): string[] => [...files, join(home, "data dir", "desktop", "enabled.json")].map((path) => readFileSync(path, "utf8"));
  const before = contents();
  await expect(enable({ ...setup, model: "one/a" })).rejects.toThrow(`${files[1]!} was changed since`);
  expect(contents()).toEqual(before);
  // Whoever goes to the other door is told of it.
  const other = await enable(options({ system: new FakeSession(), door: "websocket", configHome: join(home, "other") }));
  expect(other.kept).toEqual([files[1]]);
});

test("files of an earlier time that stand elsewhere are removed when it is set up anew", async () => {
  const system = new FakeSession();
  system.variables.set("CODEX_CLI_PATH", "/their/codex");
  const before = all();
  const first = await enable(options({ system }));
  const second = await enable(options({ system, configHome: join(home, "other") }));
  expect(first.files.map((path) => existsSync(path))).toEqual([true, false]);
  expect(second.files.every((path) => existsSync(path))).toBe(true);
  await disable(options({ system }));
  expect([all(), [...system.variables]]).toEqual([before, [["CODEX_CLI_PATH", "/their/codex"]]]);
});

describe("what cannot be written leaves all as it was", () => {
  const folder = (): string => join(home, ".config", "environment.d");
  const path = (): string => join(folder(), "60-foldcast.conf");
  test.each([
    ["a file where a folder should be", (): void => (mkdirSync(join(home, ".config")), writeFileSync(folder(), "")), "nothing was set up: "],
    ["a folder in its place", (): void => void mkdirSync(path(), { recursive: true }), "is there already, and not from foldcast"],
    ["a link to nowhere in its place", (): void => (mkdirSync(folder(), { recursive: true }), symlinkSync(join(home, "none", "here"), path())), "is there already, and not from foldcast"],
  ])("%s", async (_name, prepare, words) => {
    prepare();
    const system = new FakeSession();
    const before = all();
    const trying = enable(options({ system }));
    await expect(trying).rejects.toBeInstanceOf(InTheWayError);
    await expect(trying).rejects.toThrow(words);
    expect([all(), system.variables.size]).toEqual([before, 0]);
  });

  test("also what an earlier time has set up", async () => {
    const system = new FakeSession();
    const setup = options({ system });
    const { files } = await enable(setup);
    const state = join(home, "data dir", "desktop", "enabled.json");
    rmSync(folder(), { recursive: true });
    writeFileSync(folder(), "");
    const contents = (): string[] => [files[0]!, state].map((each) => readFileSync(each, "utf8"));
    const before = contents();
    await expect(enable({ ...setup, model: "one/a" })).rejects.toThrow("nothing was set up");
    expect(contents()).toEqual(before);
    expect((await status(setup)).files.map(({ state: now }) => now)).toEqual(["ok", "missing"]);
    expect(await disable(setup)).toMatchObject({ files: [files[0]], kept: [] });
  });
});

test("what was set up by another foldcast is not touched by this one", async () => {
  const setup = options({ system: new FakeSession() });
  await enable(setup);
  const state = join(home, "data dir", "desktop", "enabled.json");
  for (const words of ["{broken", '{"version":2}']) {
    writeFileSync(state, words);
    const before = all();
    await expect(disable(setup)).rejects.toThrow(InTheWayError);
    await expect(enable(setup)).rejects.toThrow(state);
    expect(all()).toEqual(before);
  }
});

test("without a session that can be told, the files are there for the next login", async () => {
  const system = new FakeSession();
  system.isAbsent = true;
  const { files, trouble } = await enable(options({ system }));
  expect(files.every((path) => existsSync(path))).toBe(true);
  expect(trouble).toEqual([expect.stringMatching(/set-environment.*: no session$/)]);
  expect(await status(options({ system }))).toMatchObject({ enabled: true, session: null });
});

test("a model goes into the address, or into the shim", async () => {
  const system = new FakeSession();
  expect((await enable(options({ system, model: "one/a b" }))).variable.value).toBe(join(home, "data dir", "desktop", "codex"));
  expect(written("codex")).toContain("'-c' 'model=one/a b'");
  expect((await enable(options({ system, model: "one/a b", door: "websocket" }))).variable.value).toMatch(/^ws\+unix:\/\/localhost\/[\w/.-]+\.sock:\/rpc\?model=one%2Fa%20b$/);
});

// The tools of the systems themselves read what was written.
const has = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

test.runIf(has("python3"))("property lists say what they should", async () => {
  await enable(options({ system: new FakeSession(), platform: "darwin", door: "websocket", env: { FOLDCAST_CONFIG: "/a & <b>.toml" } }));
  const read = (name: string): unknown =>
    JSON.parse(execFileSync("python3", ["-c", "import plistlib,json,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))"], { input: written(name), encoding: "utf8" }));
  expect(read("foldcast.desktop.plist")).toMatchObject({ RunAtLoad: true, ProgramArguments: ["/bin/launchctl", "setenv", "CODEX_APP_SERVER_WS_URL", expect.stringMatching(/^ws\+unix:/)] });
  expect(read("foldcast.server.plist")).toMatchObject({
    Label: "foldcast.server", ProgramArguments: ["/opt/node js/bin/node", "/opt/fold cast/cli.js", "app-server", "--listen", "off"],
    EnvironmentVariables: { PATH: "/usr/bin:/opt/$HOME/50%/bin", FOLDCAST_CONFIG: "/a & <b>.toml", FOLDCAST_CODEX_BIN: "/usr/bin/codex" }, KeepAlive: { SuccessfulExit: false },
  });
});

test.runIf(has("systemd-analyze"))("the unit is one for systemd", async () => {
  // Programs that are there: it looks for them.
  await enable(options({ system: new FakeSession(), door: "websocket", foldcast: [process.execPath, "/opt/fold $cast/100%/cli.js"] }));
  const unit = join(home, ".config", "systemd", "user", "foldcast.service");
  const { status: code, stderr } = spawnSync("systemd-analyze", ["verify", "--user", "--man=no", unit], { encoding: "utf8", env: { ...process.env, XDG_RUNTIME_DIR: home } });
  expect(stderr.split("\n").filter((line) => line.includes("foldcast"))).toEqual([]);
  expect(code).toBe(0);
  expect(written("foldcast.service")).toContain(`ExecStart="${process.execPath}" "/opt/fold $$cast/100%%/cli.js" "app-server" "--listen" "off"\nEnvironment="FOLDCAST_CODEX_BIN=/usr/bin/codex"\nEnvironment="PATH=/usr/bin:/opt/$HOME/50%%/bin"\n`);
});

const GENERATOR = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator";
test.runIf(existsSync(GENERATOR))("environment.d gives the session what was meant", async () => {
  const dataDir = join(home, "it's $HOME \"data\"");
  const { variable } = await enable(options({ system: new FakeSession(), dataDir }));
  const stdout = execFileSync(GENERATOR, { env: { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), PATH: "/usr/bin" }, encoding: "utf8" });
  const script = `${stdout.split("\n").find((line) => line.startsWith("CODEX_CLI_PATH="))!}\nprintf %s "$CODEX_CLI_PATH"`;
  expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(variable.value);
});
