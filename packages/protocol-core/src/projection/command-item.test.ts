import { expect, test } from "vitest";
import { DEFAULT_POLICY, Given } from "./testing.ts";

/** The `command` of the wire item for a command in a harness's words. */
function shown(command: string): string {
  const items = new Given().turn("go").command("c", command).end().project().projector.turn(DEFAULT_POLICY).items;
  return items.flatMap((item) => (item.type === "commandExecution" ? [item.command] : [])).join();
}

test("a command of plain words or quoted words stands as it is", () => {
  for (const command of ["ls", "git log -3 --stat src/a.ts", "echo 'two words'", "bash -lc 'a && b'"]) expect(shown(command)).toBe(command);
});

test("a script stands behind its shell, in the quotes that the TUI takes off again", () => {
  expect(shown("echo a && date")).toBe("bash -lc 'echo a && date'");
  expect(shown("echo \"$HOME\"")).toBe("bash -lc 'echo \"$HOME\"'");
  expect(shown("unbalanced 'quote")).toMatch(/^bash -lc /);
});
