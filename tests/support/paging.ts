import { appendFileSync } from "node:fs";
import { expect } from "vitest";
import { DesktopClient } from "./desktop-client.ts";
import type { DesktopTurn } from "./desktop-turns.ts";
import { temporaryDir } from "./paths.ts";
import { claudeFile, claudeLines, writeSession } from "./saved-sessions.ts";
import { startServer } from "./server.ts";
import { textsOf } from "./tui-text.ts";

/** Turns that come while a client pages. */
const APPENDED = 6;
const said = (n: number): { prompt: string; answer: string } => ({ prompt: `prompt-${n}`, answer: `answer-${n}` });

/** Has something appended behind the first pages that the client gets. */
export function appendBetweenPages(desktop: DesktopClient, append: () => Promise<void> | void): { appended: number } {
  const count = { appended: 0 };
  const { wire } = desktop;
  const request = wire.request.bind(wire);
  wire.request = async <T>(method: string, params?: unknown): Promise<T> => {
    const result = await request<T>(method, params);
    if (/^thread\/(resume|turns\/list|items\/list)$/.test(method) && count.appended < APPENDED) {
      count.appended += 1;
      await append();
    }
    return result;
  };
  return count;
}

/**
 * Pages back through a saved Claude session as Codex Desktop does, by both of its ways, while the session's own program
 * appends to it. `items` of each turn: its prompt, commands and its answer. Throws where a cursor comes twice, and where
 * a turn or an item is missing or comes twice.
 */
export async function pageBackWhileItGrows({ turns, items }: { turns: number; items: number }): Promise<void> {
  const home = temporaryDir("paging-home");
  const file = claudeFile(home, 1);
  const commands = items - 2;
  writeSession(file, claudeLines(1, Array.from({ length: turns }, (_, n) => said(n)), { commands }), 1);
  await using server = await startServer({ env: { HOME: home } });
  await using desktop = await DesktopClient.connect(server.url);
  const [thread] = await desktop.list();
  let next = turns;
  const count = appendBetweenPages(desktop, () => appendFileSync(file, claudeLines(1, [said(next)], { from: next++, commands })));
  for (const open of [() => desktop.open(thread!.id), () => desktop.openByItems(thread!.id)]) {
    const before = next;
    count.appended = 0;
    expectWhole(await open(), before, commands);
    expect(count.appended).toBeGreaterThan(2);
  }
}

/** That the turns are all those from the first to some later one, each once, with every item of them, each once. */
function expectWhole(turns: readonly DesktopTurn[], atLeast: number, commands: number): void {
  expect(turns.length).toBeGreaterThanOrEqual(atLeast);
  expect(textsOf(turns)).toEqual(turns.flatMap((_, at) => [`prompt${at}`, `answer${at}`]));
  const ids = turns.flatMap(({ items }) => items.map(({ id }) => id));
  expect(ids).toHaveLength(turns.length * (commands + 2));
  expect(new Set(ids).size).toBe(ids.length);
  const outputs = turns.flatMap(({ items }) => items.flatMap((item) => (item.type === "commandExecution" ? [item.aggregatedOutput?.trim()] : [])));
  expect(outputs).toEqual(turns.flatMap((_, turn) => Array.from({ length: commands }, (_each, command) => `made ${turn}.${command}`)));
}
