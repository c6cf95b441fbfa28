import { basename, join } from "node:path";
import type { HistorySource } from "@foldcast/protocol-core/harness";
import { ENVELOPE_HEAD, isOwnLine, readLine } from "./line.ts";
import { peekSession, supersededFiles } from "./peek.ts";
import { filledString, parseRecord } from "@foldcast/adapter-kit";
import { openSession } from "./session-index.ts";

/** Saved sessions of Codex: rollouts, `rollout-<time>-<id>.jsonl`. */
export const history: HistorySource = {
  recognises(file, head) {
    if (/^rollout-.*\.jsonl\.zst$/.test(basename(file))) return true;
    if (!file.endsWith(".jsonl")) return false;
    // Damaged and foreign lines may stand before the first good one.
    return head.replace(/^\ufeff/, "").split("\n").some((line) => looksLikeOwnLine(line.trim()));
  },
  open: openSession,
  roots({ env, home }) {
    const codexHome = filledString(env["CODEX_HOME"]) ?? join(home, ".codex");
    return [{ folder: join(codexHome, "sessions"), depth: 3 }, { folder: join(codexHome, "archived_sessions"), depth: 0 }];
  },
  peek: peekSession,
  copies: supersededFiles,
};

/** A line of a file's head, which may end in the middle of it. */
function looksLikeOwnLine(text: string): boolean {
  const record = parseRecord(text);
  const line = record === null ? null : readLine(record);
  return line === null ? record === null && ENVELOPE_HEAD.test(text) : isOwnLine(line);
}
