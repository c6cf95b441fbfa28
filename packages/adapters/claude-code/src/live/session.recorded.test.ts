import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SessionListener, readTurns } from "@foldcast/adapter-kit/conformance";
import { orderFaults, summarizeTurn } from "@foldcast/adapter-kit/conformance";
import { history } from "../history/source.ts";
import { fakeClaude, options, prompt, testAdapter } from "../testing/harness.ts";

const DATA = join(import.meta.dirname, "../../../../../../shared/data/claude");
const bin = await fakeClaude();

interface Recording {
  name: string;
  path: string;
  file: string;
  prompts: string[];
}

/** A message that was sent in the middle of a turn, without an id: nothing in the output tells what became of it. */
const UNTOLD: ReadonlySet<string> = new Set(["cli-queue.jsonl"]);

/** Runs of 2.1.332 whose output and whose session file are both there. */
const recordings = readdirSync(join(DATA, "stream")).filter((name) => name.startsWith("cli-") && name.endsWith(".jsonl")).flatMap((name): Recording[] => {
  const path = join(DATA, "stream", name);
  const lines = readFileSync(path, "utf8").split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as { dir?: string; msg?: Record<string, unknown> });
  const id = lines.map(({ msg }) => msg?.["session_id"]).find((one) => typeof one === "string" && one !== "") as string | undefined;
  const file = id === undefined ? undefined : historyFiles().find((one) => basename(one) === `${id}.jsonl`);
  const prompts = lines.filter(({ dir, msg }) => dir === "in" && msg?.["type"] === "user").map(({ msg }) => (msg!["message"] as { content: string }).content);
  return file === undefined || prompts.length === 0 || UNTOLD.has(name) ? [] : [{ name, path, file, prompts }];
});

function historyFiles(): string[] {
  return readdirSync(join(DATA, "history"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl")).map((name) => join(DATA, "history", name));
}

describe("what a recorded run tells live is what its file tells", () => {
  const cleanups: (() => void)[] = [];
  afterAll(() => cleanups.forEach((cleanup) => cleanup()));

  test("recordings are there", () => expect(recordings.length).toBeGreaterThan(25));

  test.concurrent.for(recordings.map((recording) => [recording.name, recording] as const))("%s", async ([, { path, file, prompts }], context) => {
    const { adapter, config, workspace, cleanup } = testAdapter(bin, { FAKE_RECORDING: path });
    cleanups.push(cleanup);
    // What sets the agent to work by itself is read in the file.
    mkdirSync(join(config, "projects/recorded"), { recursive: true });
    cpSync(file, join(config, "projects/recorded", basename(file)));
    const saved = await readTurns(await history.open(file));
    const session = await adapter.open({ kind: "create", options: options(workspace) });
    const listener = new SessionListener(session);
    for (const words of prompts) {
      const from = listener.events.length;
      await session.startTurn(prompt(words));
      await listener.until("the turn's end", ({ type }) => type === "turn.completed" || type === "fault", from);
    }
    await listener.until("all turns", () => listener.turn(saved.length - 1).some(({ type }) => type === "turn.completed" || type === "fault"));
    await adapter.close();
    const live = prompts.concat(saved.map(() => "")).map((_, n) => listener.turn(n)).filter((events) => events.length > 0 && !isLocalCommand(events));
    for (const events of live) context.expect(orderFaults(events)).toEqual([]);
    context.expect(live.map(told)).toEqual(saved.map(told));
  });
});

type Events = Parameters<typeof summarizeTurn>[0];

/** Commands of the program are turns in its file only where a client sent them under ids of its own, as it does now. */
function isLocalCommand(events: Events): boolean {
  return /^\/(?:cost|context)$/.test(textOf(events));
}

function textOf([first]: Events): string {
  const part = first?.type === "turn.started" ? first.input[0] : undefined;
  return part?.type === "text" ? part.text : "";
}

/** Without what a file cannot know: that a turn succeeded, that a program was killed, that somebody typed `/compact`. */
function told(events: Events): unknown {
  const { items, outcome, input } = summarizeTurn(events);
  const killed = events.at(-1)?.type === "fault";
  return {
    items,
    input: textOf(events) === "/compact" ? [] : input,
    outcome: outcome === "unknown" || killed ? "succeeded" : outcome,
  };
}
