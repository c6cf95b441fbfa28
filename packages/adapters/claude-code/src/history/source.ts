import type { HistorySource } from "@foldcast/protocol-core/harness";
import { looksLikeOwnLine } from "./line.ts";
import { openSession } from "./session-index.ts";

/** Saved sessions of Claude Code: `projects/<folder>/<session>.jsonl` and the files of their sub-agents. */
export const history: HistorySource = {
  recognises(file, head) {
    if (!file.endsWith(".jsonl")) return false;
    // Damaged and foreign lines may stand before the first good one.
    return head.replace(/^\ufeff/, "").split("\n").some((line) => looksLikeOwnLine(line.trim()));
  },
  open: (file) => openSession(file),
};
