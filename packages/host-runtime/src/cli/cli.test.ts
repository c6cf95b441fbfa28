import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { harnesses as registered } from "@foldcast/adapter-registry";
import { ClientConfig, splitKeyPath } from "../client-config.ts";
import { VERSION } from "../version.ts";
import { nearest } from "../nearest.ts";
import { runCaptured } from "../testing/command.ts";
import { chosenHarnesses } from "./start-host.ts";
import { COMMANDS } from "./table/commands.ts";

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
  const { status, stderr } = program(["constructor"]);
  expect(stderr).toBe(`foldcast: there is no command \`constructor\`\nTry foldcast --help.\n`);
  expect(status).toBe(2);
});

/** The program in a process of its own. */
function program(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): { stdout: string; stderr: string; status: number | null } {
  const main = join(import.meta.dirname, "main.ts");
  return spawnSync(process.execPath, ["--conditions=@foldcast/source", "--import", "tsx", main, ...argv], { encoding: "utf8", env });
}

test("the version is told to who asks for it as for a command", () => {
  expect(program(["version"])).toMatchObject({ stdout: expect.stringMatching(`^foldcast ${VERSION} `), status: 0 });
});

test("an empty HOME counts as none: nothing goes to the current folder", () => {
  const { stderr } = program(["chat", "--server", "ws://127.0.0.1:1", "--token-file", "~/none-of-foldcast"], { ...process.env, HOME: "" });
  expect(stderr).toMatch(/there is no token file (\/|[A-Z]:\\).*none-of-foldcast/);
});

test("every command's help shows its usage, what it does and its examples, on lines that fit", async () => {
  for (const [name, { hidden }] of Object.entries(COMMANDS)) {
    if (hidden === true) continue;
    const { code, stdout } = await runCaptured([name, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: foldcast ${name}`));
    expect(stdout).toContain("Examples:\n  ");
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
  }
});

test("a verb that is missing or mistyped is named", async () => {
  expect(await runCaptured(["scenario"])).toMatchObject({ code: 2, stderr: "foldcast scenario: say what to do: check\nTry foldcast scenario --help.\n" });
  expect((await runCaptured(["scenario", "demo.json"])).stderr).toContain("there is no `demo.json`; there is check\n");
  expect((await runCaptured(["scenario", "chekc", "x"])).stderr).toContain("there is no `chekc`; did you mean `check`?");
});

test("a word that a command does not take is refused", async () => {
  expect(await runCaptured(["models", "all"])).toMatchObject({ code: 2, stderr: expect.stringContaining("models takes options only; got `all`") });
  expect((await runCaptured(["chat", "hello"])).stderr).toContain("prompts are read from the input");
});

test("a client without its token file is not told to make one", async () => {
  const { code, stderr } = await runCaptured(["threads", "list", "--server", "ws://127.0.0.1:1", "--token-file", "/none/token"]);
  expect([code, stderr]).toEqual([2, "foldcast threads: there is no token file /none/token; the one that the server was started with is wanted, as its --ws-token-file\nTry foldcast threads --help.\n"]);
});

test("a port of the demo that is taken is told as that of a server", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  try {
    expect(await runCaptured(["feishu", "--demo", "--demo-port", String(port)])).toMatchObject({ code: 3, stderr: `foldcast feishu: 127.0.0.1:${port} is already in use; choose another with --demo-port N, or 0 for any free one\n` });
  } finally {
    taken.close();
  }
});

test("a file of an app that is not there is a wrong use, and is told before anything starts", async () => {
  expect(await runCaptured(["feishu", "smoke", "--app-env", "/none/app.env"])).toMatchObject({ code: 2, stderr: expect.stringMatching(/cannot read the file of --app-env: ENOENT.*\n.*--help/) });
});

test("a scenario file that is no text is not printed", async () => {
  expect(await runCaptured(["scenario", "check", process.execPath])).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("is not a text file") });
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

test("the first agent that is ready gives the default; what only plays scenarios stands last, unless it was asked for", () => {
  const ids = (harnesses: readonly string[] | null, harnessSettings: Record<string, unknown> = {}) => chosenHarnesses({ harnesses, harnessSettings }).map(({ id }) => id);
  const demonstration = registered.find(({ isDemonstration }) => isDemonstration === true)!.id;
  expect(ids(null).at(-1)).toBe(demonstration);
  expect(ids(null, { scenarios: "/some.json" })[0]).toBe(demonstration);
  expect(ids([demonstration])).toEqual([demonstration]);
});
