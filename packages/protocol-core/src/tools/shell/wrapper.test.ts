import { describe, expect, it } from "vitest";
import { shellScriptOf, unwrapShell } from "./wrapper.ts";

describe("shell wrappers", () => {
  it.each([
    [["bash", "-lc", "x y"], "posix"],
    [["/bin/zsh", "-c", "x y"], "posix"],
    [["/usr/bin/sh", "-lc", "x y"], "posix"],
    [["pwsh", "-Command", "x y"], "powershell"],
    [["powershell.exe", "-NoLogo", "-noprofile", "-c", "x y"], "powershell"],
    [["C:\\bin\\PowerShell.exe", "-command", "x y"], "powershell"],
  ])("%j holds a script", (argv, dialect) => expect(shellScriptOf(argv)).toEqual({ dialect, script: "x y" }));

  it.each([
    [["bash", "-lc"]],
    [["bash", "-lc", "x", "y"]],
    [["bash", "-x", "x"]],
    [["fish", "-c", "x"]],
    [["bashful", "-c", "x"]],
    [["pwsh", "-File", "x.ps1"]],
    [["pwsh", "-NoProfile", "x"]],
    [[]],
  ])("%j does not", (argv: string[]) => expect(shellScriptOf(argv)).toBeNull());
});

it("takes the script out of a displayed line", () => {
  expect(unwrapShell("/bin/bash -lc 'one \"two\" | three'")).toBe('one "two" | three');
  expect(unwrapShell('/bin/sh -c "it\'s"')).toBe("it's");
  expect(unwrapShell("pwsh -NoProfile -Command 'one two'")).toBe("one two");
  expect(unwrapShell("one two three")).toBeNull();
  expect(unwrapShell("bash -lc 'open")).toBeNull();
});
