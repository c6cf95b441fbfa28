import { expect, test } from "vitest";
import { DEFAULT_POLICY, Given } from "./testing.ts";

test("a command is the harness's own text, never behind an invented shell", () => {
  for (const command of ["ls", "echo a && date", "echo \"$HOME\"", "unbalanced 'quote", "bash -lc 'a && b'"]) {
    const items = new Given().turn("go").command("c", command).end().project().projector.turn(DEFAULT_POLICY).items;
    expect(items.at(-1)).toMatchObject({ type: "commandExecution", command });
  }
});
