import { expect, test } from "vitest";
import { UsageError } from "../usage-error.ts";
import { runBeside } from "./beside.ts";
import type { RunningChannel } from "./channel.ts";

type Listener = Parameters<RunningChannel["onConnection"]>[0];

function channel(): { readonly running: RunningChannel; readonly closed: () => number; readonly tell: Listener } {
  let closed = 0;
  let tell: Listener = () => undefined;
  const running = {
    channel: { settle: () => Promise.resolve() }, appId: "cli_1",
    onConnection: (listener: Listener) => {
      tell = listener;
      return () => undefined;
    },
    close: () => {
      closed += 1;
      return Promise.resolve();
    },
  } as unknown as RunningChannel;
  return { running, closed: () => closed, tell: (state) => tell(state) };
}
const state = (name: "connected" | "waiting", reason: string | null = null): Parameters<Listener>[0] => ({ state: name, reason, connectedSinceMs: null, nextTryAtMs: null, connections: 1 });
const quick = { fromMs: 1, toMs: 2 };
const soon = (isSo: () => boolean): Promise<void> => new Promise((resolve) => {
  const look = (): unknown => (isSo() ? resolve() : setTimeout(look, 1));
  look();
});

test("a start that fails is tried until it works, and told once", async () => {
  const said: string[] = [];
  const { running, closed, tell } = channel();
  let tries = 0;
  const beside = runBeside({
    say: (line) => said.push(line), pauses: quick,
    start: () => ((tries += 1) < 4 ? Promise.reject(new Error("Feishu cannot be reached")) : Promise.resolve(running)),
  });
  await soon(() => said.length === 2);
  expect(said).toEqual([expect.stringMatching(/^Feishu cannot be reached\. The server goes on .* tried again$/), "talks for cli_1"]);
  tell(state("waiting", "the connection was lost"));
  tell(state("waiting", "still lost"));
  tell(state("connected"));
  expect(said.slice(2)).toEqual(["the connection was lost; it is tried again", "connected again"]);
  await beside.close();
  expect(closed()).toBe(1);
});

test("wrong settings end it at the first try", async () => {
  const said: string[] = [];
  let tries = 0;
  const beside = runBeside({
    say: (line) => said.push(line), pauses: quick,
    start: () => {
      tries += 1;
      return Promise.reject(new UsageError("FOLDCAST_FEISHU_APP_ID is not set"));
    },
  });
  await soon(() => said.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([tries, said]).toEqual([1, [expect.stringContaining("foldcast doctor --feishu")]]);
  await beside.close();
});

test("a channel that comes up after the end is closed, and one that fails at its end is only told of", async () => {
  const said: string[] = [];
  const { running, closed } = channel();
  let begin: (started: RunningChannel) => void = () => undefined;
  const beside = runBeside({ say: (line) => said.push(line), start: () => new Promise((resolve) => (begin = resolve)), pauses: quick });
  await beside.close();
  begin(running);
  await soon(() => closed() === 1);
  const broken = runBeside({ say: (line) => said.push(line), pauses: quick, start: () => Promise.resolve({ ...running, close: () => Promise.reject(new Error("the disk is full")) }) });
  await soon(() => said.includes("talks for cli_1"));
  await broken.close();
  expect(said.at(-1)).toBe("the disk is full");
});
