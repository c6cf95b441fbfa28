import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ClientConfig, splitKeyPath } from "../client-config.ts";
import { VERSION } from "../version.ts";
import { nearest } from "../nearest.ts";
import { environmentSettings, parseFlags, portNumber, SERVER_FLAGS, serverOptions } from "./options.ts";

const options = (args: string[], env: NodeJS.ProcessEnv = {}) => serverOptions(parseFlags({ args, options: SERVER_FLAGS }).values, environmentSettings(env), { HOME: "/h", ...env });

test("the version is that of the package", () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as { version: string };
  expect(VERSION).toBe(manifest.version);
});

test("a mistyped command finds its name; a strange one does not", () => {
  const names = ["serve", "app-server", "models", "replay"];
  expect(nearest("serv", names)).toBe("serve");
  expect(nearest("reply", names)).toBe("replay");
  expect(nearest("mod", names)).toBe("models");
  expect(nearest("xyzzy", names)).toBeNull();
});

test("a name that every object has is no command", () => {
  const main = join(import.meta.dirname, "main.ts");
  const { status, stderr } = spawnSync(process.execPath, ["--conditions=@foldcast/source", "--import", "tsx", main, "constructor"], { encoding: "utf8" });
  expect(stderr).toBe(`foldcast: there is no command \`constructor\`\nTry foldcast --help.\n`);
  expect(status).toBe(2);
});

test("a flag goes before the environment", () => {
  expect(options([], { FOLDCAST_DATA_DIR: "/e" }).dataDir).toBe("/e");
  expect(options(["--data-dir", "/f"], { FOLDCAST_DATA_DIR: "/e" }).dataDir).toBe("/f");
  const [a, b] = [mkdtempSync(join(tmpdir(), "foldcast-a-")), mkdtempSync(join(tmpdir(), "foldcast-b-"))];
  expect(options(["--sessions", a, "--sessions", b]).sessionFolders).toEqual([a, b]);
  expect(options([], { FOLDCAST_SESSIONS: `${a},${b}` }).sessionFolders).toEqual([a, b]);
  expect(options(["--scenario", "/s", "--scenario-speed", "0", "--scenario-process"]).harnessSettings).toEqual({ scenarios: "/s", speed: 0, process: true });
  expect(options([]).harnessSettings).toEqual({});
});

test("wrong values are refused with what is right", () => {
  expect(() => options(["--sessions", "/nowhere/at/all"])).toThrow("there is none at /nowhere/at/all");
  expect(() => options(["--dialect", "x"])).toThrow("--dialect is auto, default, desktop; got `x`");
  expect(() => options(["--scenario-speed", "fast"])).toThrow(/a number from 0 on/);
  expect(() => options(["--nope"])).toThrow(/Unknown option '--nope'/);
  expect(() => options(["--ws-auth", "capability-token"])).toThrow(/needs --ws-token-file/);
  expect(() => options(["--ws-auth", "signed-bearer-token"])).toThrow(/not supported/);
  expect(() => portNumber("70000")).toThrow(/0 to 65535/);
});

test("the token is the file's text without its end of line", () => {
  const file = join(mkdtempSync(join(tmpdir(), "token-")), "token");
  writeFileSync(file, "sekret\n");
  expect(options(["--ws-token-file", file]).token).toBe("sekret");
  writeFileSync(file, "\n");
  expect(() => options(["--ws-token-file", file])).toThrow(/is empty/);
});

test("configuration edits reach dotted and quoted keys, and never a prototype", () => {
  const config = new ClientConfig();
  config.write('projects."/a.b".trust_level', "untrusted", "replace");
  config.write("tui", { theme: "dark" }, "replace");
  config.write("tui", { size: 1 }, "upsert");
  config.write("__proto__.polluted", true, "replace");
  expect(config.read({ model: "m" }, "/c")).toEqual({
    model: "m", projects: { "/c": { trust_level: "trusted" }, "/a.b": { trust_level: "untrusted" } }, tui: { theme: "dark", size: 1 },
  });
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  config.write("tui", null, "replace");
  expect(config.read({}, null)).not.toHaveProperty("tui");
  expect(splitKeyPath('a."b.c".d')).toEqual(["a", "b.c", "d"]);
});
