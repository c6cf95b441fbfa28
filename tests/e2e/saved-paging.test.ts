import { expect, test } from "vitest";
import { DesktopClient } from "../support/desktop-client.ts";
import { appendBetweenPages, pageBackWhileItGrows } from "../support/paging.ts";
import { PlainClient } from "../support/plain-client.ts";
import { endToEnd } from "../support/recording.ts";
import { SCENARIOS } from "../support/scenarios.ts";
import { startServer } from "../support/server.ts";
import { textsOf } from "../support/tui-text.ts";

endToEnd();

test("Codex Desktop pages back through a saved session by both of its ways while its own program goes on with it", async () => {
  await pageBackWhileItGrows({ turns: 30, items: 5 });
});

test("and back through a thread of our own while another client runs turn after turn in it", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 0 });
  await using plain = await PlainClient.connect(server.url);
  const { id } = await plain.start({ model: "scripted/answerOnly", cwd: "/w" });
  let next = 0;
  const run = async (): Promise<void> => {
    await plain.prompt(id, `prompt-${next++}`);
  };
  while (next < 8) await run();
  await using desktop = await DesktopClient.connect(server.url);
  const count = appendBetweenPages(desktop, run);
  for (const open of [() => desktop.open(id), () => desktop.openByItems(id)]) {
    const before = next;
    count.appended = 0;
    const turns = await open();
    expect(count.appended).toBeGreaterThan(1);
    expect(turns.length).toBeGreaterThanOrEqual(before);
    expect(new Set(turns.map((turn) => turn.id)).size).toBe(turns.length);
    expect(turns.flatMap((turn) => textsOf([turn]))).toEqual(turns.flatMap((_, n) => [`prompt${n}`, "Fortytwo."]));
  }
});
