import type { Tui } from "./tui.ts";
import { withoutMoods } from "./tui-text.ts";
import { sleep, until } from "./wait.ts";

/** Resolves when the screen no longer matches. */
export async function gone(tui: Tui, what: RegExp): Promise<void> {
  await until(`a screen without ${String(what)}`, async () => (what.test(await tui.screen()) ? undefined : true), { timeoutMs: 60_000, everyMs: 100 });
}

/** Resolves with the screen once it matches. */
export async function shown(tui: Tui, what: RegExp): Promise<string> {
  let screen = "";
  return until(`${String(what)} on the screen`, async () => (what.test((screen = await tui.screen())) ? screen : undefined), {
    timeoutMs: 60_000,
    everyMs: 100,
    describe: () => screen,
  });
}

/** Resolves with the scrollback once it has stood still for a second: what is drawn late is in it. */
export async function settled(tui: Tui): Promise<string> {
  let seen = "";
  let equal = 0;
  return until("a screen that stands still", async () => {
    const now = await tui.scrollback();
    equal = withoutMoods(now) === withoutMoods(seen) ? equal + 1 : 0;
    seen = now;
    return equal === 4 ? now : undefined;
  }, { timeoutMs: 60_000, everyMs: 250, describe: () => seen });
}

/** Types a command and presses Enter when the TUI has seen it as one; resolves when the screen matches. */
export async function slash(tui: Tui, command: string, then: RegExp): Promise<void> {
  await tui.type(command);
  await shown(tui, new RegExp(`› ${command}`));
  await sleep(500);
  await tui.enter(command);
  await shown(tui, then);
}

/** Picks a model of the scripted harness with `/model`; `key` leads from the chosen model to it. */
export async function pickModel(tui: Tui, scenario: string, key: "Up" | "Down"): Promise<void> {
  await slash(tui, "/model", /Select Model and Effort/);
  for (let step = 0; step < 40 && !new RegExp(`› +Scripted: ${scenario}`).test(await tui.screen()); step++) {
    await tui.press(key);
    await sleep(200);
  }
  await tui.press("Enter");
  await tui.waitFor(`Model changed to scripted/${scenario}`);
  await tui.ready();
}
