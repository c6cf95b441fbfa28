import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import { countFile } from "./count-prompts.ts";
import { claudeFiles, DATA, messages, replayFile } from "./support.ts";

/** Turns of one file that no prompt began: news that set the agent to work, compactions, a beginning that is missing. */
const WITHOUT_PROMPT: Readonly<Record<string, number>> = {
  "sessions/claude/05-bug-c-orphan-toolresult.jsonl": 1,
  "sessions/claude/13-full-lifecycle-continue-8a525d27.jsonl": 4,
  "sessions/claude/2-12_context-compaction.jsonl": 1,
  "claude/history/cli-agentbg/620f196b-469d-428c-80fe-10129c76c622.jsonl": 1,
  "claude/history/cli-bashbg/0150f0b5-5bae-424d-a991-45388d429cb8.jsonl": 1,
  "claude/history/cli-compact/19a329d1-f0bc-4673-ac41-928d49921ee8.jsonl": 1,
};

describe("every saved Claude Code session", () => {
  const files = claudeFiles();

  test("is there to be read", () => {
    expect(files.length).toBeGreaterThanOrEqual(68);
  });

  test.for(files.map((file) => [relative(DATA, file), file] as const))("%s: turns, texts and folding", async ([name, file]) => {
    const counted = countFile(file);
    const replayed = await replayFile(file);
    expect(replayed.errors).toEqual([]);
    const prompts = replayed.turns.filter((turn) => turn.prompt !== "");
    expect(prompts).toHaveLength(counted.prompts.length);
    expect(replayed.turns.length - prompts.length).toBe(WITHOUT_PROMPT[name] ?? 0);

    expect(messages(replayed.items).sort()).toEqual([...counted.texts].sort());
    const sent = replayed.items.filter((item) => item.type === "userMessage");
    expect(sent).toHaveLength(counted.prompts.length + counted.queued.length);
    expect(new Set(replayed.items.map((item) => item.id)).size).toBe(replayed.items.length);

    for (const turn of replayed.turns) {
      const items = turn.threadItems ?? [];
      const answers = items.filter((item) => item.type === "agentMessage" && item.phase === "final_answer");
      if (turn.outcome !== "unknown") {
        expect(answers).toEqual([]);
        expect(turn.fold.folds).toBe(false);
        continue;
      }
      expect(turn.status).toBe("completed");
      const last = items.at(-1);
      if (last?.type !== "agentMessage") continue;
      expect(answers.map((item) => item.id)).toEqual([last.id]);
      expect(turn.finalAnswer?.itemId).toBe(last.id);
      expect(turn.fold.folds).toBe(items.some((item) => item.type !== "userMessage" && item !== last));
      expect(turn.fold.foldedItemIds.every((id) => items.some((item) => item.id === id))).toBe(true);
    }
  });

  test("gives the same ids every time", async () => {
    for (const file of files.slice(0, 12)) expect(await replayFile(file)).toEqual(await replayFile(file));
  });
});
