import { join } from "node:path";
import type { HistorySource } from "@foldcast/protocol-core/harness";
import { looksLikeOwnLine } from "./line.ts";
import { peekSession, supersededFiles } from "./peek.ts";
import { filledString } from "@foldcast/adapter-kit";
import { openSession } from "./session-index.ts";

/** Saved sessions of Claude Code: `projects/<folder>/<session>.jsonl` and the files of their sub-agents. */
export const history: HistorySource = {
  recognises(file, head) {
    if (!file.endsWith(".jsonl")) return false;
    // Damaged and foreign lines may stand before the first good one.
    return head.replace(/^\ufeff/, "").split("\n").some((line) => looksLikeOwnLine(line.trim()));
  },
  open: openSession,
  // A sub-agent's file stands deeper, in a folder of its session; those of before 2.1 do not.
  roots: ({ env, home }) => [{ folder: join(filledString(env["CLAUDE_CONFIG_DIR"]) ?? join(home, ".claude"), "projects"), depth: 1 }],
  peek: peekSession,
  wholeTexts: true,
  copies: supersededFiles,
};
