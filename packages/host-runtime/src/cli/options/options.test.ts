import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { FeishuSettings } from "@foldcast/feishu-channel";
import { describe, expect, test } from "vitest";
import { DEFAULT_IDLE_SESSION_MS, DEFAULT_PARALLEL_STARTS } from "../../host.ts";
import { DEFAULT_EXPIRY_MS } from "../../interactions/manager.ts";
import { feishuFromFile } from "../feishu/from-file.ts";
import { serverOptions } from "../server-options.ts";
import { ALL_SETTINGS, FEISHU_SETTINGS, SERVE_OPTIONS } from "../table/options.ts";
import { defaultConfigPath, parseConfig, readConfigFile } from "./config-file.ts";
import type { ConfigFile } from "./config-file.ts";
import { demandHarnessKeys } from "./harness-keys.ts";
import { list, text } from "./kinds.ts";
import { environmentName } from "./option.ts";
import { parseArguments } from "./parse.ts";
import { settle } from "./settle.ts";

const camel = (text: string): string => text.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase());
const IDS = ["first", "second"];
const config = (text: string): ConfigFile => parseConfig(text, "/etc/fold.toml", ALL_SETTINGS, IDS);

function settled(args: readonly string[], env: NodeJS.ProcessEnv = {}, file: ConfigFile | null = null) {
  return settle(SERVE_OPTIONS, { flags: parseArguments(args, SERVE_OPTIONS).flags, env, file, cwd: "/here" });
}
const options = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => serverOptions(settled(args, env).values, null, { HOME: "/h", ...env });

describe("where a value comes from", () => {
  test("a flag goes before the environment, that before the file, that before the default", () => {
    const file = config("port = 3");
    expect(settled([]).values.port).toBe(4610);
    expect(settled([], {}, file)).toMatchObject({ values: { port: 3 }, origins: { port: "file", host: "default" } });
    expect(settled([], { FOLDCAST_PORT: "2" }, file)).toMatchObject({ values: { port: 2 }, origins: { port: "environment" } });
    expect(settled(["--port", "1"], { FOLDCAST_PORT: "2" }, file)).toMatchObject({ values: { port: 1 }, origins: { port: "flag" } });
    // A shell takes a variable back so.
    expect(settled([], { FOLDCAST_PORT: "" }, file).values.port).toBe(3);
  });

  test("an option without a key has no twin in the environment", () => {
    expect(settle({ plain: { ...SERVE_OPTIONS.host, key: undefined! } }, { flags: {}, env: { FOLDCAST_PLAIN: "x" }, file: null, cwd: "/" }).values.plain).toBe("127.0.0.1");
  });

  test("paths begin where they were written: here, at home, or beside the file", () => {
    const path = "data_dir = \"d\"\nsessions = [\"s\", \"~/t\", \"/u\"]\ncodex_bin = \"codex\"";
    expect(settled([], {}, config(path)).values).toMatchObject({ "data-dir": "/etc/d", sessions: ["/etc/s", join(homedir(), "t"), "/u"], "codex-bin": "codex" });
    expect(settled(["--data-dir", "d", "--codex-bin", "./codex"], { FOLDCAST_SESSIONS: "a, b" }).values).toMatchObject({ "data-dir": "/here/d", sessions: ["/here/a", "/here/b"], "codex-bin": "/here/codex" });
  });

  test("lists, switches and what harnesses get", () => {
    const [a, b] = [mkdtempSync(join(tmpdir(), "foldcast-a-")), mkdtempSync(join(tmpdir(), "foldcast-b-"))];
    expect(options(["--sessions", a, "--sessions", b]).sessionFolders).toEqual([a, b]);
    expect(options(["--harness", "a,b", "--harness", "c"]).harnesses).toEqual(["a", "b", "c"]);
    expect(options(["--scenario", "/s", "--scenario-speed", "0", "--scenario-process"]).harnessSettings).toEqual({ scenarios: "/s", speed: 0, process: true });
    expect(options([], { FOLDCAST_SCENARIO_PROCESS: "1" }).harnessSettings).toEqual({ process: true });
    expect(options([])).toMatchObject({ harnessSettings: {}, harnesses: null, dataDir: "/h/.local/share/foldcast" });
    expect(options([], { XDG_DATA_HOME: "/x" }).dataDir).toBe("/x/foldcast");
  });

  test("a harness gets its own table, with the home folder in it", () => {
    const file = config('[harness.first]\nbin = "~/bin/first"\nargs = ["~/x"]\nspeed = 2');
    expect(serverOptions(settled([], {}, file).values, file, { HOME: "/h" }).settingsByHarness).toEqual({ first: { bin: join(homedir(), "bin/first"), args: ["~/x"], speed: 2 } });
  });

  test("the token is the file's text without its end of line", () => {
    const file = join(mkdtempSync(join(tmpdir(), "token-")), "token");
    writeFileSync(file, "sekret\n");
    expect(options(["--ws-token-file", file]).token).toBe("sekret");
    writeFileSync(file, "\n");
    expect(() => options(["--ws-token-file", file])).toThrow(/is empty; to fill it: .*openssl/);
    expect(() => options(["--ws-auth", "capability-token"])).toThrow(/needs --ws-token-file/);
  });
});

describe("wrong values are refused with what is right, under the name that the person wrote", () => {
  test.each<[readonly string[], NodeJS.ProcessEnv, string]>([
    [["--port", "-1"], {}, "--port is a number from 0 to 65535; got `-1`"],
    [["--port=70000"], {}, "--port is a number from 0 to 65535; got `70000`"],
    [["--port", "4e3"], {}, "--port is a number from 0 to 65535; got `4e3`"],
    [[], { FOLDCAST_PORT: "x" }, "FOLDCAST_PORT is a number from 0 to 65535; got `x`"],
    [[], { FOLDCAST_NO_NATIVE: "yes" }, "FOLDCAST_NO_NATIVE is true or false; got `yes`"],
    [["--dialect", "x"], {}, "--dialect is auto, default, desktop; got `x`"],
    [["--scenario-speed", "fast"], {}, "--scenario-speed is a number from 0 on; got `fast`"],
    [["--ws-auth", "signed-bearer-token"], {}, "--ws-auth is capability-token; got `signed-bearer-token`"],
    [["--interaction-expiry-ms", "0"], {}, "--interaction-expiry-ms is a whole number of milliseconds, at most 24 days; got `0`"],
    [["--prot", "1"], {}, "there is no option --prot; did you mean --port?"],
    [["--xyzzy"], {}, "there is no option --xyzzy"],
    [["-x"], {}, "there is no option -x"],
    [["--no-native=1"], {}, "--no-native takes no value; got `1`"],
    [["--port"], {}, "--port needs a value: --port N"],
    [["--scenario", "--port", "1"], {}, "--scenario needs a value: --scenario FILE|DIR"],
  ])("%j %j", (args, env, message) => {
    expect(() => settled(args, env)).toThrow(message);
  });

  test("a folder of sessions that is not there", () => {
    expect(() => options(["--sessions", "/nowhere/at/all"])).toThrow("there is no folder /nowhere/at/all; correct --sessions (FOLDCAST_SESSIONS, `sessions` in the configuration file)");
  });

  test("what is another program's is handed on as it stood, unknown options where another release may send them too", () => {
    const options = { ...SERVE_OPTIONS, config: { kind: list(text()), short: "c", does: "", handedOn: true } } as const;
    const words = ["-c", "a=[1,2]", "--new-thing", "--port", "1", "-cb=2", "--newer", "value", "-xy", "--newest=1", "word", "--config=c"];
    expect(parseArguments(words, options, true)).toEqual({
      flags: { config: ["a=[1,2]", "b=2", "c"], port: "1" },
      handedOn: ["-c", "a=[1,2]", "--new-thing", "-cb=2", "--newer", "value", "-xy", "--newest=1", "--config=c"],
      positionals: ["word"],
    });
    expect(() => parseArguments(["--new-thing"], options)).toThrow("there is no option --new-thing");
    expect(parseArguments(["--", "--port"], SERVE_OPTIONS).positionals).toEqual(["--port"]);
  });
});

describe("the configuration file", () => {
  test.each([
    ["prot = 1", "/etc/fold.toml:1: there is no key `prot`; did you mean `port`?"],
    ["# port = 1\n\n \"port\" = 1.5", "/etc/fold.toml:3: `port` is"],
    ["port = 1\na.b = 3", "/etc/fold.toml:2: there is no key `a`"],
    ["port = 1\n[feishu]\nclaim = true\nlocale = \"fr\"", "/etc/fold.toml:4: `feishu.locale` is zh, en; got \"fr\""],
    ["port = 1\nfeishu.locale = 1", "/etc/fold.toml:2: `feishu.locale` is zh, en; got 1"],
    ["port = 1\nharness = { first = 3 }", "/etc/fold.toml:2: `harness.first` is a table; got 3"],
    ["[feishy]\n[feishu]\nlocale = \"fr\"\n[harness.second]", "/etc/fold.toml:\n  line 1: there is no key `feishy`; did you mean `feishu`?\n  line 3: `feishu.locale` is zh, en; got \"fr\""],
    ["data-dir = \"d\"", "there is no key `data-dir`; did you mean `data_dir`?"],
    ["port = \"x\"", "`port` is a number from 0 to 65535; got \"x\""],
    ["sessions = [1]", "`sessions` is the path of a folder, or several; got"],
    ["dialect = \"tui\"", "`dialect` is auto, default, desktop; got \"tui\""],
    ["harness = [\"first\"]", "`harness` is a table; got [\"first\"]"],
    ["port = 1\n[harness.frist]\nx = 1", "/etc/fold.toml:2: there is no harness for [harness.frist]; did you mean [harness.first]?"],
    ["[harness]\nfirst = 1", "`harness.first` is a table; got 1"],
    ["port = ", "/etc/fold.toml:1:8:"],
    ["port = 1\nport = 2", "/etc/fold.toml:2:"],
  ])("%j", (text, message) => {
    expect(() => config(text)).toThrow(message);
  });

  test("tells all that is wrong at once", () => {
    expect(() => config("prot = 1\nhots = \"h\"\nlog_level = 3")).toThrow(/prot[^]*hots[^]*log_level|log_level[^]*prot[^]*hots/);
  });

  test("hands each harness its own table, and no key that it does not name", async () => {
    const file = config("[harness.first]\nmodel = \"m\"\n[harness.second]\n\"any thing\" = [1]");
    expect(file.harness).toEqual({ first: { model: "m" }, second: { "any thing": [1] } });
    const manifest = { id: "first" } as never;
    const entries = (settings: Record<string, string>) => [
      { id: "first", load: () => Promise.resolve({ manifest, settings, create: () => null as never }) }, { id: "second", load: () => Promise.reject(new Error("broken")) },
    ];
    await demandHarnessKeys(file, entries({ model: "which one" }));
    await expect(demandHarnessKeys(file, entries({ modle: "which one" }))).rejects.toThrow("/etc/fold.toml:2: there is no key `harness.first.model`; did you mean `modle`?");
  });

  test("is looked for at home, where the XDG variable says, and must be there when it was asked for", () => {
    expect(defaultConfigPath({ HOME: "/h" })).toBe("/h/.config/foldcast/config.toml");
    expect(defaultConfigPath({ HOME: "/h", XDG_CONFIG_HOME: "/x" })).toBe("/x/foldcast/config.toml");
    expect(defaultConfigPath({ HOME: "/h", XDG_CONFIG_HOME: "relative" })).toBe("/h/.config/foldcast/config.toml");
    expect(readConfigFile("/nowhere/config.toml", ALL_SETTINGS, IDS, false)).toBeNull();
    expect(() => readConfigFile("/nowhere/config.toml", ALL_SETTINGS, IDS, true)).toThrow("there is no configuration file /nowhere/config.toml");
    const folder = mkdtempSync(join(tmpdir(), "foldcast-config-"));
    mkdirSync(join(folder, "config.toml"));
    expect(() => readConfigFile(join(folder, "config.toml"), ALL_SETTINGS, IDS, false)).toThrow("cannot read the configuration file");
  });

  test("of any text gives values or a readable refusal", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json().map((value) => `port = ${value}`), fc.string().map((key) => `${JSON.stringify(key)} = 1`)), (text) => {
      try {
        config(text);
      } catch (error) {
        expect((error as Error).name).toBe("UsageError");
      }
    }), { seed: 1 });
  });
});

test("the table of a channel is under its own name, without flags, and behind the environment", () => {
  const file = config('[feishu]\napp_id = "cli_1"\napp_secret_file = "secret"\nallow_users = ["ou_1", "ou_2"]\ncwd = "w"\nretry_ms = 5');
  const { env, given } = feishuFromFile(file, { FOLDCAST_FEISHU_RETRY_MS: "7" });
  expect(given).toEqual({ appId: "cli_1", allowUsers: ["ou_1", "ou_2"], cwd: "/etc/w" });
  expect(env).toEqual({ FOLDCAST_FEISHU_RETRY_MS: "7", FOLDCAST_FEISHU_APP_SECRET_FILE: "/etc/secret" });
  const known: string[] = Object.keys(FeishuSettings.shape).filter((key) => key !== "appSecret");
  expect(Object.values(FEISHU_SETTINGS).map(({ key }) => camel(key.replace("feishu.", ""))).filter((key) => key !== "appSecretFile").toSorted()).toEqual(known.toSorted());
  const defaults = FeishuSettings.parse({ appId: "x", appSecret: "x", cwd: "/" }) as Record<string, unknown>;
  for (const [name, option] of Object.entries(FEISHU_SETTINGS)) if ("default" in option) expect(defaults[camel(name.replace("feishu-", ""))], name).toBe(option.default);
  expect(() => config("[feishu]\napp_idd = 1")).toThrow("there is no key `feishu.app_idd`; did you mean `app_id`?");
});

test("the defaults are those of the server", () => {
  expect(settled([]).values).toMatchObject({ "interaction-expiry-ms": DEFAULT_EXPIRY_MS, "idle-session-ms": DEFAULT_IDLE_SESSION_MS, "parallel-starts": DEFAULT_PARALLEL_STARTS });
  expect(options(["--idle-session-ms", "0"]).idleSessionMs).toBeNull();
});

test("each setting has its own key and variable", () => {
  const names = Object.keys(ALL_SETTINGS);
  expect(new Set(names.map(environmentName)).size).toBe(names.length);
  expect(new Set(Object.values(ALL_SETTINGS).map(({ key }) => key)).size).toBe(names.length);
});
