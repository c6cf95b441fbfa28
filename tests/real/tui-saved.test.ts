import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { SESSION_ID, writeClaudeSession } from "../../tools/bench/claude-session.ts";
import { temporaryDir } from "../support/paths.ts";
import { endToEnd } from "../support/recording.ts";
import { claudeFile, claudeLines, writeSession } from "../support/saved-sessions.ts";
import { SCENARIOS } from "../support/scenarios.ts";
import { startServer } from "../support/server.ts";
import { choose } from "../support/tui-steps.ts";
import { Tui } from "../support/tui.ts";
import { until } from "../support/wait.ts";

endToEnd();

test("the resume picker shows saved Claude sessions that were never run here, opens one of 10,000 items and scrolls back to its beginning", async () => {
  const home = temporaryDir("saved-home");
  const long = join(home, ".claude", "projects", "-repo", `${SESSION_ID}.jsonl`);
  mkdirSync(dirname(long), { recursive: true });
  const turns = await writeClaudeSession(long, 10_000);
  for (const n of [1, 2, 3]) writeSession(claudeFile(home, n), claudeLines(n, [{ prompt: `short prompt ${n}`, answer: `short answer ${n}` }]), n);
  // A TUI does not start where there is no model at all.
  await using server = await startServer({ scenarios: SCENARIOS, env: { HOME: home }, args: ["--harness", "scripted,claude-code"] });

  await using tui = await Tui.start(server.url, "saved", { args: ["resume"], rows: 50 });
  await tui.waitFor((seen) => [1, 2, 3].every((n) => seen.includes(`short prompt ${n}`)));
  await tui.waitFor(/› .*Make test 0 pass\./);
  await tui.capture("1-listed");
  await tui.press("Enter");
  await tui.waitFor(`Test ${turns - 1} passes`);
  await tui.ready();
  await tui.capture("2-opened");

  await tui.press("C-t");
  const shown = (what: RegExp, ...keys: string[]): Promise<string> => {
    let screen = "";
    return until(`${String(what)} in the transcript`, async () => {
      await tui.press(...keys);
      screen = await tui.screen();
      return what.test(screen) ? screen : undefined;
    }, { timeoutMs: 60_000, everyMs: 500, describe: () => screen });
  };
  await shown(/Earlier messages available/);
  // What it has not loaded yet comes page by page; the key goes to where it has come to. The beginning has nothing before it.
  await shown(/^(?![^]*(?:Earlier messages available|Loading earlier))[^]*› Make test 0 pass\.[^]*Step 0: the assertion compares two clocks\./, "Home");
  await shown(/Make test 1 pass\./, "PageDown");
  await shown(new RegExp(`Test ${turns - 1} passes`), "End");
});

test("the picker opens a short one next to it whole", async () => {
  const home = temporaryDir("saved-home");
  for (const n of [1, 2, 3]) writeSession(claudeFile(home, n), claudeLines(n, [{ prompt: `short prompt ${n}`, answer: `short answer ${n}` }, { prompt: "and then?", answer: `last answer ${n}` }], { commands: 2 }), n);
  await using server = await startServer({ scenarios: SCENARIOS, env: { HOME: home }, args: ["--harness", "scripted,claude-code"] });
  await using tui = await Tui.start(server.url, "saved-short", { args: ["resume"] });
  await tui.waitFor((seen) => [1, 2, 3].every((n) => seen.includes(`short prompt ${n}`)));
  await choose(tui, "Down", /› .*short prompt 2/);
  await tui.press("Enter");
  const opened = await tui.waitFor("last answer 2");
  expect(opened).toContain("short answer 2");
  expect(opened).toContain("Ran make part-1");
  expect(opened).toMatch(/made 1\.1/);
});
