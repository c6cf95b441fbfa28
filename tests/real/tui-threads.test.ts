import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DesktopClient } from "../support/desktop-client.ts";
import { SHARED } from "../support/paths.ts";
import { ANSWER_WORD, SCENARIOS } from "../support/scenarios.ts";
import { startServer, type RunningServer, type ServerOptions } from "../support/server.ts";
import { tap } from "../support/tap.ts";
import { choose, confirm, finished, gone, pickModel, shown, slash } from "../support/tui-steps.ts";
import { plainWords, textsOf } from "../support/tui-text.ts";
import { Tui } from "../support/tui.ts";
import { until } from "../support/wait.ts";
import { endToEnd } from "../support/recording.ts";

endToEnd();

const RECONNECTING = /Reconnecting to server/;
const count = (text: string, word: string): number => text.split(word).length - 1;
const serve = ({ harnesses = "scripted", ...options }: ServerOptions & { harnesses?: string } = {}): Promise<RunningServer> =>
  startServer({ scenarios: SCENARIOS, speed: 1, ...options, args: ["--harness", harnesses, ...(options.args ?? [])] });

describe("a day with threads in the real Codex TUI", () => {
  test("a model picked with /model runs, and /status names it", async () => {
    await using server = await serve();
    await using wire = await tap(server.url, "tui-model");
    await using tui = await Tui.start(wire.url, "model", { args: ["-m", "scripted/work"] });
    await tui.waitFor("Scripted: work");
    await tui.ready();

    await pickModel(tui, "unicode", "Up");
    await tui.capture("1-picked");
    await tui.submit("greet me");
    await finished(tui, "終わり");
    const threads = await listed(server);
    expect(threads.map((thread) => thread.model)).toEqual(["scripted/unicode"]);

    await slash(tui, "/status", /Session:[^]*Limits:/);
    const status = await tui.screen();
    await tui.capture("2-status");
    expect(status).toMatch(/Model: +Scripted: unicode/);
    expect(status).toMatch(/Model provider: +foldcast/);
    expect(status).toContain(threads[0]!.id);
    expect(status).toContain("greet me");

    await tui.ready();
    await pickModel(tui, "work", "Down");
    await tui.submit("the second prompt");
    await tui.waitFor("Nothing was left to do.");
    await tui.capture("3-picked-again");
    expect((await listed(server)).map((thread) => thread.model)).toEqual(["scripted/work"]);
  });

  test("/rename suggests the prompt and renames; a /fork has the history and its own future; /archive puts it away", async () => {
    await using server = await serve();
    await using wire = await tap(server.url, "tui-fork");
    await using tui = await Tui.start(wire.url, "fork", { args: ["-m", "scripted/work"] });
    await tui.waitFor("Scripted: work");
    await tui.ready();
    await tui.submit("the first prompt");
    await finished(tui, ANSWER_WORD);

    await slash(tui, "/rename", /Suggested from this conversation\s+› the first prompt/);
    await tui.capture("1-suggested");
    await tui.press("C-u");
    await tui.type("Zeppelin plans");
    await confirm(tui, /› Zeppelin plans/);
    await shown(tui, /Scripted: work .* Zeppelin plans/);
    await tui.capture("2-renamed");
    const original = (await listed(server))[0]!;
    expect(original.name).toBe("Zeppelin plans");

    await slash(tui, "/fork", /Fork created/);
    const forked = await shown(tui, /Thread forked from Zeppelin plans[^]*Fork created/);
    expect(forked).toContain("the first prompt");
    expect(forked).toContain(ANSWER_WORD);
    await tui.ready();
    await tui.submit("the second prompt");
    await finished(tui, "Nothing was left to do.");
    await tui.capture("3-forked");
    const fork = (await listed(server)).find((thread) => thread.id !== original.id)!;
    expect(await turnsOf(server, fork.id)).toBe(2);
    expect(await turnsOf(server, original.id)).toBe(1);

    await slash(tui, "/archive", /Archive this session\?/);
    await tui.press("Down");
    await shown(tui, /› 2\. Yes, archive/);
    await tui.press("Enter");
    await shown(tui, /Agent command center/);
    await tui.capture("4-archived");
    await until("one thread less", async () => ((await listed(server)).length === 1 ? true : undefined), { everyMs: 100 });
    expect((await listed(server)).map((thread) => thread.id)).toEqual([original.id]);
  });

  test("the resume picker lists foreign threads and opens them whole", async () => {
    await using server = await serve({ harnesses: "scripted,claude-code", args: ["--sessions", join(SHARED, "data/claude/history/cli-alltools")] });
    {
      await using tui = await Tui.start(server.url, "picker-before", { args: ["-m", "scripted/work"] });
      await tui.waitFor("Scripted: work");
      await tui.ready();
      await tui.submit("the first prompt");
      await finished(tui, ANSWER_WORD);
      await tui.submit("the second prompt");
      await finished(tui, "Nothing was left to do.");
    }
    await using desktop = await DesktopClient.connect(server.url);
    const threads = await desktop.list();
    expect(threads).toHaveLength(2);
    for (const [down, thread] of threads.entries()) {
      const turns = await desktop.open(thread.id);
      await using wire = await tap(server.url, `tui-picker-${down}`);
      await using tui = await Tui.start(wire.url, `picker-${down}`, { rows: 60, args: ["resume"] });
      const titles = threads.map((each) => plainWords(each.name ?? each.preview).slice(0, 20));
      await until("both threads in the picker", async () => {
        const words = plainWords(await tui.screen());
        return titles.every((title) => words.includes(title)) ? true : undefined;
      }, { timeoutMs: 60_000, everyMs: 100 });
      await tui.capture("1-listed");
      // Titles are shown as they are written, in as far as there is room.
      await choose(tui, "Down", new RegExp((thread.name ?? thread.preview).slice(0, 12).replace(/[^\w ]/g, ".")));
      await tui.press("Enter");
      const texts = textsOf(turns);
      expect(texts.length).toBeGreaterThan(2);
      await tui.waitFor((seen) => texts.every((text) => plainWords(seen).includes(text)));
      await tui.ready();
      await tui.capture("2-opened");
    }
  });

  test("two TUIs share a thread: the second joins a running turn, and each sees, steers and stops the other's", async () => {
    await using server = await serve();
    await using wire = await tap(server.url, "tui-two");
    await using first = await Tui.start(wire.url, "two-first", { args: ["-m", "scripted/work"] });
    await first.waitFor("Scripted: work");
    await first.ready();
    await first.submit("the first prompt");
    await finished(first, ANSWER_WORD);
    const { id } = (await listed(server))[0]!;

    await first.submit("a long one");
    await first.waitFor("This takes a while.");

    await using second = await Tui.start(wire.url, "two-second", { args: ["resume", id] });
    // What is not complete yet is not told to one who comes late; that a turn runs is.
    await second.waitFor("› a long one");
    await shown(second, /esc to interrupt/);
    await second.capture("1-joined");
    await first.submit("hurry up please");
    await second.waitFor(/› hurry up please/);
    await second.submit("from the other side");
    // What is still on its way when Escape comes would begin a turn of its own.
    for (const tui of [first, second]) await tui.waitFor(/^› from the other side/m);
    await first.capture("2-steered");
    await second.press("Escape");
    for (const tui of [first, second]) await tui.waitFor("Conversation interrupted");

    await second.submit("the second prompt");
    for (const tui of [first, second]) {
      const seen = await tui.waitFor("Nothing was left to do.");
      await tui.capture("3-next-turn");
      const said = ["the second prompt", "a long one", "hurry up please", "from the other side"].map((prompt) => `› ${prompt}`);
      for (const once of [...said, ANSWER_WORD, "This takes a while."]) expect([once, count(seen, once)]).toEqual([once, 1]);
    }
    expect(await turnsOf(server, id)).toBe(3);
  });

  test("reconnects by itself after the server was started again, also after a crash in a turn", async () => {
    await using before = await serve();
    await using tui = await Tui.start(before.url, "reconnect", { args: ["-m", "scripted/work"] });
    await tui.waitFor("Scripted: work");
    await tui.ready();
    await tui.submit("the first prompt");
    await finished(tui, ANSWER_WORD);
    await before.stop();
    await shown(tui, RECONNECTING);
    await tui.capture("1-server-gone");

    const restart = { dataDir: before.dataDir, args: ["--port", new URL(before.url).port] };
    await using second = await serve(restart);
    await gone(tui, RECONNECTING);
    await tui.submit("the second prompt");
    await finished(tui, "Nothing was left to do.");
    await tui.capture("2-next-turn");
    const { id } = (await listed(second))[0]!;
    expect(await turnsOf(second, id)).toBe(2);

    await tui.submit("a long one");
    await tui.waitFor("This takes a while.");
    await second.stop("SIGKILL");
    await shown(tui, RECONNECTING);
    await using third = await serve(restart);
    await gone(tui, RECONNECTING);
    await tui.waitFor("Conversation interrupted");
    await tui.capture("3-after-a-crash");
    await tui.submit("the second prompt once more");
    const seen = await tui.waitFor((text) => count(text, "Nothing was left to do.") === 2);
    await tui.capture("4-turn-after-a-crash");
    for (const once of [ANSWER_WORD, "This takes a while.", "once more"]) expect(count(seen, once)).toBe(1);
    expect((await listed(third)).map((thread) => thread.id)).toEqual([id]);
    expect(await turnsOf(third, id)).toBe(4);
  });
});

async function listed(server: RunningServer): ReturnType<DesktopClient["list"]> {
  await using desktop = await DesktopClient.connect(server.url);
  return await desktop.list();
}

async function turnsOf(server: RunningServer, threadId: string): Promise<number> {
  await using desktop = await DesktopClient.connect(server.url);
  return (await desktop.open(threadId)).length;
}
