import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Model, ThreadItem } from "@foldcast/protocol-core/wire";
import { DesktopApp } from "../support/desktop-app.ts";
import { desktopFold } from "../support/desktop-fold.ts";
import { desktopProcess, writeShim } from "../support/desktop-start.ts";
import { temporaryDir } from "../support/paths.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, writeScenarios } from "../support/server.ts";
import type { Transport } from "../support/transport.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = {
  asks: {
    schema: 1,
    name: "asks",
    turns: [{
      steps: [
        { message: "I will build it." },
        { tool: { id: "c", name: "shell", input: { command: "make all" } } }, { approve: { kind: "command", id: "c", reason: "It writes." } }, { result: { id: "c", output: "ok\n", exitCode: 0 } },
        { ask: { id: "q", questions: [{ id: "which", question: "Which?", options: [{ label: "left" }, { label: "right" }] }] } },
        { edit: { id: "e", path: "/w/one", before: null, after: "1\n" } },
        { message: "Built, and left it is." },
      ],
    }],
  },
};
const NO_DROPS = { completedWithoutStart: 0, deltaWithoutItem: 0, unknownTurn: 0, unknownThread: 0 };

/** What a person does on the first morning; `connect` opens the door once more for another window. */
async function firstMorning(connect: () => Promise<string | Transport>): Promise<void> {
  const { app: started, missing, failed, answers } = await DesktopApp.start(await connect());
  await using app = started;
  expect([missing, failed]).toEqual([[], []]);
  const models = answers.get("model/list")!["data"] as Model[];
  const picked = models.find(({ model, hidden }) => model === "scripted/asks" && !hidden)!;
  const { client } = app;

  // The draft's thread is there before anybody has chosen a model; the choice comes with the first prompt.
  const threadId = await client.prewarm("/w");
  const turn = await client.submit(threadId, "build it", { model: picked.model });
  const replies: [string, object][] = [
    ["item/commandExecution/requestApproval", { decision: "accept" }],
    ["item/tool/requestUserInput", { answers: { which: { answers: ["left"] } } }],
  ];
  for (const [at, [method, reply]] of replies.entries()) {
    const request = await until(method, () => client.wire.requests[at]);
    expect(request.method).toBe(method);
    client.wire.respond(request.id, reply);
  }
  await until("the turn's end", () => (turn.status === "inProgress" ? undefined : true));
  expect(turn.items.map(({ type }) => type)).toEqual(["userMessage", "agentMessage", "commandExecution", "fileChange", "agentMessage"]);
  const fold = desktopFold(turn);
  expect([fold.collapses, fold.finalAnswer]).toEqual([true, "Built, and left it is."]);
  const live = structuredClone(turn.items);

  await app.rename(threadId, "The build");
  await using again = (await DesktopApp.start(await connect())).app;
  expect(again.sidebar.get(threadId)?.title).toBe("The build");
  const [opened] = await again.client.open(threadId);
  expect(opened!.items).toEqual(live satisfies ThreadItem[]);
  expect(desktopFold(opened!)).toEqual(fold);
  await again.archive(threadId);
  await until("its end in the first window", () => (app.sidebar.has(threadId) ? undefined : true));
  expect([client.dropped, again.client.dropped]).toEqual([NO_DROPS, NO_DROPS]);
}

describe("a first morning with Desktop", () => {
  test("that starts the shim with its own command line, without a search path", async () => {
    const shim = writeShim(null);
    const env = { FOLDCAST_DATA_DIR: temporaryDir("data"), FOLDCAST_NO_NATIVE: "1", FOLDCAST_SCENARIO: writeScenarios(SCENARIOS), FOLDCAST_SCENARIO_SPEED: "0" };
    // A second window is what a helper of Desktop does: it starts one more.
    await firstMorning(() => Promise.resolve(desktopProcess(shim, env)));
  });

  test("that connects to the socket", async () => {
    await using server = await startServer({ scenarios: SCENARIOS });
    const { socket } = JSON.parse(readFileSync(join(server.dataDir, "owner.json"), "utf8")) as { socket: string };
    await firstMorning(() => Promise.resolve(`ws+unix://localhost${socket}:/rpc`));
  });
});

test("a model that the shim was given is the default of its client, and of no other", async () => {
  const env = { FOLDCAST_DATA_DIR: temporaryDir("data"), FOLDCAST_NO_NATIVE: "1", FOLDCAST_SCENARIO: writeScenarios(SCENARIOS), FOLDCAST_HARNESS: "scripted" };
  const modelOf = async ({ client }: DesktopApp): Promise<string> => (await client.wire.request<{ config: { model: string } }>("config/read", { includeLayers: false, cwd: null })).config.model;
  await using plain = (await DesktopApp.start(desktopProcess(writeShim(null), env))).app;
  await using chosen = (await DesktopApp.start(desktopProcess(writeShim(null, "scripted/demo"), env))).app;
  expect([await modelOf(chosen), await modelOf(plain)]).toEqual(["scripted/demo", "scripted/asks"]);
});
