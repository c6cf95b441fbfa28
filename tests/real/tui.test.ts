import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { desktopFold } from "../support/desktop-fold.ts";
import { DesktopClient } from "../support/desktop-client.ts";
import type { CommandAction } from "@foldcast/protocol-core/wire";
import { SHARED } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { ANSWER_WORD, SCENARIOS } from "../support/scenarios.ts";
import { startServer } from "../support/server.ts";
import { tap } from "../support/tap.ts";
import { finished, shown } from "../support/tui-steps.ts";
import { Tui } from "../support/tui.ts";
import { plainWords, textsOf } from "../support/tui-text.ts";
import { endToEnd } from "../support/recording.ts";

endToEnd();

const count = (text: string, word: string): number => text.split(word).length - 1;

describe("the real Codex TUI", () => {
  test("shows whole turns of a foreign harness, and obeys", async () => {
    await using server = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--harness", "scripted"] });
    await using wire = await tap(server.url, "tui");
    await using tui = await Tui.start(wire.url, "turns", { args: ["-m", "scripted/work"] });
    await tui.waitFor("Scripted: work");
    await tui.ready();
    await tui.capture("1-connected");

    await tui.submit("the first prompt");
    const first = await finished(tui, ANSWER_WORD);
    await tui.capture("2-first-turn");
    expect(first).toContain("I will look at the files.");
    expect(first).toContain("Ran echo hello");
    expect(first).toContain("Monday");
    for (const name of ["alpha.txt", "beta.txt", "gamma.txt"]) expect(first).toContain(name);
    expect(count(first, ANSWER_WORD)).toBe(1);
    const methods = wire.frames.filter((frame) => frame.dir === "s2c").map((frame) => frame.msg["method"]);
    expect(methods).toContain("item/reasoning/summaryTextDelta");
    expect(methods.filter((method) => method === "item/agentMessage/delta").length).toBeGreaterThan(4);

    await tui.press("C-t");
    await shown(tui, /first\.|Looking around/);
    await tui.capture("3-transcript");
    await tui.press("C-t");
    await tui.ready();

    await tui.submit("the second prompt");
    await finished(tui, "Nothing was left to do.");
    await tui.capture("4-second-turn");

    await tui.submit("a long one");
    await tui.waitFor("This takes a while.");
    await tui.press("Escape");
    const interrupted = await tui.waitFor("Conversation interrupted");
    await tui.capture("5-interrupted");
    expect(interrupted).not.toContain("never seen");
    expect(count(interrupted, ANSWER_WORD)).toBe(1);

    await using desktop = await DesktopClient.connect(server.url);
    const threadId = (await desktop.list())[0]?.id;
    const turns = await desktop.open(threadId ?? "");
    expect(turns.map((turn) => desktopFold(turn).collapses)).toEqual([true, true, false]);

    expect(await tui.quit()).toBe(0);
    await tui.capture("6-quit");
  });

  test("shows a recorded session whole", async () => {
    await using server = await startServer({ args: ["--sessions", join(SHARED, "data/claude/history/cli-alltools")] });
    await using plain = await PlainClient.connect(server.url);
    const { data } = await plain.wire.request<{ data: { id: string }[] }>("thread/list", {});
    expect(data).toHaveLength(1);
    const { turns } = await plain.read(data[0]!.id);
    expect(turns.length).toBeGreaterThan(0);

    await using wire = await tap(server.url, "tui-recorded");
    await using tui = await Tui.start(wire.url, "recorded", { rows: 60, args: ["resume", data[0]!.id] });
    await tui.ready();
    const wanted = [...textsOf(turns), ...turns.flatMap((turn) => turn.items).flatMap((item) => {
      if (item.type === "commandExecution") return item.commandActions.map((action) => plainWords(shownOf(action)));
      return item.type === "fileChange" ? item.changes.map((change) => plainWords(basename(change.path))) : [];
    })];
    const missing = (seen: string): string[] => wanted.filter((text) => !plainWords(seen).includes(text));
    expect(wanted.length).toBeGreaterThan(textsOf(turns).length);
    // It is drawn piece by piece; which text is the last to come is the TUI's affair.
    expect(missing(await tui.waitFor((seen) => missing(seen).length === 0).catch(() => tui.scrollback()))).toEqual([]);
    await tui.capture("opened");
    expect(await tui.quit()).toBe(0);
  });
});

/** What the TUI prints of an action, at the least. */
function shownOf(action: CommandAction): string {
  if (action.type === "read") return `Read ${action.name}`;
  if (action.type === "search") return `Search ${action.query ?? ""}`;
  if (action.type === "listFiles") return "List";
  return `Ran ${action.command.split(/\s/)[0] ?? ""}`;
}
