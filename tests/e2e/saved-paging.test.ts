import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { claudeFile, claudeLines, writeSession } from "../support/saved-sessions.ts";
import { DesktopClient } from "../support/desktop-client.ts";
import type { DesktopTurn } from "../support/desktop-turns.ts";
import { temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { SCENARIOS } from "../support/scenarios.ts";
import { startServer } from "../support/server.ts";
import { textsOf } from "../support/tui-text.ts";

endToEnd();

const TURNS = 30;
/** Turns that come while a client pages. */
const APPENDED = 6;
const said = (n: number): { prompt: string; answer: string } => ({ prompt: `prompt-${n}`, answer: `answer-${n}` });

/** Has something appended behind the first pages that the client gets. */
function appendBetweenPages(desktop: DesktopClient, append: () => Promise<void> | void): { appended: number } {
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

/** That the turns are all those from the first to some later one, each once, with everything in them. */
function expectWhole(turns: readonly DesktopTurn[], from: number, atLeast: number): void {
  expect(turns.length).toBeGreaterThanOrEqual(atLeast);
  expect(new Set(turns.map(({ id }) => id)).size).toBe(turns.length);
  expect(textsOf(turns)).toEqual(turns.flatMap((_, at) => [`prompt${from + at}`, `answer${from + at}`]));
}

test("Codex Desktop pages back through a saved session by both of its ways while its own program goes on with it", async () => {
  const home = temporaryDir("paging-home");
  const file = claudeFile(home, 1);
  writeSession(file, claudeLines(1, Array.from({ length: TURNS }, (_, n) => said(n))), 1);
  await using server = await startServer({ env: { HOME: home } });
  await using desktop = await DesktopClient.connect(server.url);
  const [thread] = await desktop.list();
  let next = TURNS;
  const append = (): void => appendFileSync(file, claudeLines(1, [said(next)], { from: next++ }));
  const count = appendBetweenPages(desktop, append);
  for (const open of [() => desktop.open(thread!.id), () => desktop.openByItems(thread!.id)]) {
    const before = next;
    count.appended = 0;
    expectWhole(await open(), 0, before);
    expect(count.appended).toBeGreaterThan(2);
  }
  expectWhole(await desktop.openByItems(thread!.id), 0, next);
}, 60_000);

test("and back through a thread of our own while another client runs turn after turn in it", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 0 });
  await using plain = await PlainClient.connect(server.url);
  const { id } = await plain.start({ model: "scripted/answerOnly", cwd: "/w" });
  const run = async (n: number): Promise<void> => {
    await plain.prompt(id, `prompt-${n}`);
  };
  for (let n = 0; n < 8; n += 1) await run(n);
  await using desktop = await DesktopClient.connect(server.url);
  let next = TURNS;
  const count = appendBetweenPages(desktop, () => run(next++));
  for (const open of [() => desktop.open(id), () => desktop.openByItems(id)]) {
    count.appended = 0;
    const result = await open();
    expect(count.appended).toBeGreaterThan(1);
    expect(new Set(result.map((turn) => turn.id)).size).toBe(result.length);
    expect(result.slice(0, 8).flatMap((turn) => textsOf([turn]))).toEqual(Array.from({ length: 8 }, (_, n) => [`prompt${n}`, "Fortytwo."]).flat());
  }
}, 60_000);
