import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { runCaptured } from "../../testing/command.ts";
import { COMMANDS } from "../table/commands.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
const FISH = SHELLS[2];
const isThere = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;
const scripts: Record<string, string> = {};
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "completion-"));
  for (const shell of SHELLS) {
    scripts[shell] = join(folder, `foldcast.${shell}`);
    writeFileSync(scripts[shell], (await runCaptured(["completion", shell])).stdout);
  }
});

/** What bash offers after each line; the last word is the one that is being typed. */
function bash(...lines: string[]): string[][] {
  const script = [`source ${scripts["bash"]!}`, ...lines.flatMap((line) => {
    // As readline parts a line: an equals sign is a word of its own.
    const words = line.replace(/=/g, " = ").split(/ +(?=\S|$)/);
    return [`COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _foldcast; echo "[\${COMPREPLY[*]}]"`];
  })].join("\n");
  const { stdout, stderr, status } = spawnSync("bash", ["--norc"], { input: script, encoding: "utf8" });
  expect([stderr, status]).toEqual(["", 0]);
  return stdout.trimEnd().split("\n").map((line) => line.slice(1, -1).split(" ").filter((word) => word !== ""));
}

describe.skipIf(!isThere("bash"))("bash", () => {
  test("completes commands, verbs, options and values", () => {
    const [all, serve, verbs, verb, option, value, joined, bare, harness, shortWords] = bash(
      "foldcast ", "foldcast serv", "foldcast threads ", "foldcast threads --json sh", "foldcast threads list --arc", "foldcast serve --port 1 --dialect de", "foldcast serve --dialect=des",
      "foldcast serve --dialect=", "foldcast replay --harness ", "foldcast help mod",
    );
    expect(all).toEqual([...Object.keys(COMMANDS).filter((name) => !name.startsWith("__")), "help", "--help", "--version"]);
    expect([serve, verbs, verb, option]).toEqual([["serve"], ["list", "show", "archive", "unarchive", "rename"], ["show"], ["--archived"]]);
    expect([value, joined, bare]).toEqual([["default", "desktop"], ["desktop"], ["auto", "default", "desktop"]]);
    expect(harness).toContain("scripted");
    expect(shortWords).toEqual(["models"]);
  });

  test("leaves paths to the shell, and offers nothing where any text may stand", () => {
    expect(bash("foldcast replay ./", "foldcast serve --data-dir /t", "foldcast serve --port ", "foldcast nonsense ", "foldcast serve --nonsense ", "foldcast threads show x ")).toEqual([[], [], [], [], [], []]);
    expect(spawnSync("bash", ["--norc"], { input: `source ${scripts["bash"]!}; complete -p foldcast`, encoding: "utf8" }).stdout).toBe("complete -o bashdefault -o default -F _foldcast foldcast\n");
  });
});

describe.skipIf(!isThere(FISH))(FISH, () => {
  const fish = (line: string): string[] => {
    const { stdout, stderr } = spawnSync(FISH, ["--no-config", "-c", `source ${scripts[FISH]!}; complete -C '${line}'`], { encoding: "utf8" });
    expect(stderr).toBe("");
    return stdout.trimEnd().split("\n").map((row) => row.split("\t")[0]!);
  };
  test("completes commands, verbs, options and values", () => {
    expect(fish("foldcast serv")).toEqual(["serve"]);
    expect(fish("foldcast threads sh")).toEqual(["show"]);
    expect(fish("foldcast threads list --arc")).toEqual(["--archived"]);
    expect(fish("foldcast serve --dialect d")).toEqual(["default", "desktop"]);
    expect(fish("foldcast replay --harness scr")).toEqual(["scripted"]);
  });
});

describe.skipIf(!isThere("zsh"))("zsh", () => {
  test("takes the script, and asks it for foldcast", () => {
    const script = `compdef() { print -r -- "$@" }; source ${scripts["zsh"]!}; whence -w _foldcast`;
    expect(spawnSync("zsh", ["-f", "-c", script], { encoding: "utf8" })).toMatchObject({ stdout: "_foldcast foldcast\n_foldcast: function\n", stderr: "" });
  });
});

test("every option of every command is in every script, and no hidden one", async () => {
  for (const shell of SHELLS) {
    const { stdout } = await runCaptured(["completion", shell]);
    for (const [name, { options, hidden }] of Object.entries(COMMANDS)) {
      if (hidden === true) continue;
      for (const [option, spec] of Object.entries(options)) {
        const shown = shell === "fish" ? `-l ${option} ` : `--${option}`;
        expect(stdout.includes(shown), `${shell} ${name} --${option}`).toBe(spec.hidden !== true);
      }
    }
  }
});

test("an unknown shell names those that there are", async () => {
  expect(await runCaptured(["completion", "powershell"])).toMatchObject({ code: 2, stderr: expect.stringContaining("there are bash, zsh, fish") });
});
