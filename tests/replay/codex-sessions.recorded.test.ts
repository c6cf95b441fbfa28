import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import { codexFiles, messages, replayCodex } from "./codex-support.ts";
import { countCodexFile } from "./count-codex.ts";
import { DATA } from "./support.ts";

/** Turns that a fork by reference has from its parent, whose file stands beside it. */
const INHERITED: Readonly<Record<string, { turns: number; texts: number }>> = {
  "codex/rollouts/paginated-forked-archived.jsonl": { turns: 4, texts: 5 },
};
/** Peculiarities of these files; any other one fails. */
const DIAGNOSTICS: Readonly<Record<string, readonly string[]>> = {
  // A session and a fork's copy of it in one file.
  "sessions/codex/1-6_checkpoint-rewind.jsonl": ["line.copy"],
  "sessions/codex/fork-conversation.jsonl": ["line.copy"],
};

describe("every saved Codex session", () => {
  const files = codexFiles();

  test("is there to be read", () => {
    expect(files).toHaveLength(19);
  });

  test.for(files.map((file) => [relative(DATA, file), file] as const))("%s: turns, texts and folding", async ([name, file]) => {
    const counted = countCodexFile(file);
    const replayed = await replayCodex(file);
    const from = INHERITED[name]?.turns ?? 0;
    const own = replayed.turns.slice(from);
    const ownItems = own.flatMap((turn) => turn.threadItems ?? []);
    expect(replayed.errors).toEqual([]);
    expect(replayed.diagnostics.map(({ code }) => code)).toEqual(DIAGNOSTICS[name] ?? []);
    expect(own.filter((turn) => turn.prompt !== "").map((turn) => turn.prompt)).toEqual(counted.prompts.map((prompt) => prompt.replace(/\s+/g, " ").trim().slice(0, 200)));
    expect(own.filter((turn) => turn.prompt === "")).toHaveLength(counted.silent);
    expect(messages(ownItems).sort()).toEqual([...counted.texts].sort());
    expect(messages(replayed.items)).toHaveLength(counted.texts.length + (INHERITED[name]?.texts ?? 0));
    expect(ownItems.filter((item) => item.type === "userMessage")).toHaveLength(counted.prompts.length + counted.steers.length);
    expect(new Set(replayed.items.map((item) => item.id)).size).toBe(replayed.items.length);

    for (const [at, turn] of replayed.turns.entries()) {
      const items = turn.threadItems ?? [];
      // These all record how a turn ended: only a last one can lack it.
      expect(turn.outcome).not.toBe("unknown");
      const answers = items.filter((item) => item.type === "agentMessage" && item.phase === "final_answer");
      expect(turn.fold.folds).toBe(turn.status !== "interrupted" && answers.length > 0 && items.at(-1) === answers.at(-1) && items.some((item) => item.type !== "userMessage" && item !== answers.at(-1)));
      if (at < replayed.turns.length - 1) expect(turn.durationMs).not.toBeNull();
    }
  });

  test("gives the same ids every time", async () => {
    for (const file of files.slice(0, 9)) expect(await replayCodex(file)).toEqual(await replayCodex(file));
  });
});
