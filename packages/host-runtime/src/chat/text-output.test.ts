import { expect, test } from "vitest";
import { workedFor } from "./duration.ts";
import { TextOutput } from "./text-output.ts";

function terminal(columns: number, rows: number) {
  let written = "";
  return { write: (text: string) => void (written += text), size: () => ({ columns, rows }), get all() { return written; } };
}

test("takes back just the rows that it wrote, wrapped and wide ones counted", () => {
  const screen = terminal(10, 20);
  const out = new TextOutput(screen);
  out.line("before");
  out.mark();
  out.line("12345678901");
  out.line("一二三四五六");
  out.line("");
  expect(out.eraseToMark()).toBe(true);
  expect(screen.all.endsWith("\u001b[5A\r\u001b[J")).toBe(true);
});

test("leaves what has scrolled away, what somebody typed into, and a pipe", () => {
  const tall = new TextOutput(terminal(10, 2));
  tall.mark();
  tall.line("a\nb\nc");
  expect(tall.eraseToMark()).toBe(false);
  const asked = new TextOutput(terminal(10, 20));
  asked.mark();
  asked.line("a");
  asked.keep();
  asked.line("b");
  expect(asked.eraseToMark()).toBe(false);
  const pipe = new TextOutput({ write: () => undefined, size: () => null });
  pipe.mark();
  pipe.line("a");
  expect(pipe.eraseToMark()).toBe(false);
});

/** What a terminal shows of it: rows without what the cursor's moves took back. */
function shown(columns: number, written: string): string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  for (const [, escape, count, code, character] of written.matchAll(/(\u001b\[(\d*)([AGJ]))|([\s\S])/gu)) {
    if (escape !== undefined) {
      if (code === "A") row -= Number(count);
      else if (code === "G") column = Math.min(Number(count), columns) - 1;
      else {
        rows.length = row + 1;
        rows[row]!.length = column;
      }
    } else if (character === "\r") column = 0;
    else if (character === "\n" || column >= columns) {
      row += 1;
      column = 0;
      if (row === rows.length) rows.push([]);
      if (character !== "\n") rows[row]![column++] = character!;
    } else rows[row]![column++] = character!;
  }
  return rows.map((each) => Array.from(each, (one: string | undefined) => one ?? " ").join(""));
}

test("the line that is being typed stays whole below what is written meanwhile", () => {
  const screen = terminal(12, 20);
  const out = new TextOutput(screen);
  out.line("before");
  out.typing({ prompt: "> ", text: "hel", cursor: 3 });
  out.write("strea");
  out.typing({ prompt: "> ", text: "hello", cursor: 5 });
  out.write("ming on and on");
  expect(shown(12, screen.all)).toEqual(["before", "streaming on", " and on", "> hello"]);
  out.typing({ prompt: "> ", text: "a long line that does not fit", cursor: 29 });
  out.line("next");
  expect(shown(12, screen.all)).toEqual(["before", "streaming on", " and on", "next", "> s not fit"]);
  out.write("just twelve.");
  out.write("and more");
  out.line("");
  out.write("just twelve.");
  out.line("next");
  out.typing(null);
  expect(shown(12, screen.all)).toEqual(["before", "streaming on", " and on", "next", "just twelve.", "and more", "", "just twelve.", "next", ""]);
});

test("what an agent says cannot move the cursor", () => {
  const screen = terminal(80, 20);
  new TextOutput(screen).write("a\u001b[2Jb\u0007\u009bc\td\n");
  expect(screen.all).toBe("a[2Jbc\td\n");
});

test("durations are whole seconds, at least one", () => {
  expect([200, 12_000, 185_000, 3_600_000].map((ms) => workedFor(ms, "en"))).toEqual(["Worked for 1s", "Worked for 12s", "Worked for 3m 5s", "Worked for 1h"]);
});
