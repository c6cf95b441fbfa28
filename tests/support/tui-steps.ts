import type { Tui } from "./tui.ts";
import { withoutAges, withoutMoods } from "./tui-text.ts";
import { sleep, stillFor, until } from "./wait.ts";

/** Resolves when the screen no longer matches. A screen that is just being drawn lacks much: it has to be so twice. */
export async function gone(tui: Tui, what: RegExp): Promise<void> {
  let without = 0;
  await until(`a screen without ${String(what)}`, async () => {
    without = what.test(await tui.screen()) ? 0 : without + 1;
    return without === 2 ? true : undefined;
  }, { timeoutMs: 60_000, everyMs: 100 });
}

/** Resolves with the screen once it matches. What lies below may not be drawn yet: all that is looked at belongs into `what`. */
export async function shown(tui: Tui, what: RegExp): Promise<string> {
  let screen = "";
  return until(`${String(what)} on the screen`, async () => (what.test((screen = await tui.screen())) ? screen : undefined), {
    timeoutMs: 60_000,
    everyMs: 100,
    describe: () => screen,
  });
}

/**
 * Resolves when the turn that has given this answer – for the `times`-th time – is over: the line behind the answer is
 * the last that a turn prints. What is typed before would go to the turn that still runs.
 */
export async function finished(tui: Tui, answer: string, times = 1): Promise<string> {
  const seen = await tui.waitFor((text) => {
    const behind = text.split(answer).slice(times);
    return behind.length > 0 && behind.join(answer).includes("Worked for");
  });
  await gone(tui, /esc to interrupt/);
  return seen;
}

/** Resolves with the scrollback once it has stood still for a second: what is drawn late is in it. */
export function settled(tui: Tui): Promise<string> {
  return stillFor("the screen", () => tui.scrollback(), withoutMoods);
}

/** Types a command and presses Enter when the TUI has it as the chosen one of its list; resolves when the screen matches. */
export async function slash(tui: Tui, command: string, then: RegExp): Promise<void> {
  await tui.type(command);
  await shown(tui, new RegExp(`^› ${command} {2,}\\S[^]*^› ${command}$`, "m"));
  await tui.enter(command);
  await shown(tui, then);
}

/** Presses Enter when the screen shows what was typed. The TUI takes an Enter right behind a text for a pasted newline. */
export async function confirm(tui: Tui, typed: RegExp): Promise<void> {
  await shown(tui, typed);
  await sleep(300);
  await tui.press("Enter");
}

/** Moves with `key` through a list, step by step, until the chosen line – it has a mark in front – matches. */
export async function choose(tui: Tui, key: "Up" | "Down", what: RegExp): Promise<void> {
  let screen = "";
  const chosen = async (): Promise<string> => {
    const lines = (screen = await tui.screen()).split("\n");
    const at = lines.findLastIndex((line) => /^ *[›❯] /.test(line));
    return at < 0 ? "" : `${at} ${withoutAges(lines[at]!)}`;
  };
  await until("a chosen line", async () => (await chosen()) || undefined, { everyMs: 100, describe: () => screen });
  for (let at = await chosen(); !what.test(at);) {
    await tui.press(key);
    at = await until(`the next line behind ${at}`, async () => {
      const now = await chosen();
      return now === "" || now === at ? undefined : now;
    }, { everyMs: 100, describe: () => screen });
  }
}

/** Picks a model of the scripted harness with `/model`; `key` leads from the chosen model to it. */
export async function pickModel(tui: Tui, scenario: string, key: "Up" | "Down"): Promise<void> {
  await slash(tui, "/model", /Select Model and Effort/);
  await choose(tui, key, new RegExp(`[›❯] .*Scripted: ${scenario}\\b`));
  await tui.press("Enter");
  await tui.waitFor(`Model changed to scripted/${scenario}`);
  await tui.ready();
}
