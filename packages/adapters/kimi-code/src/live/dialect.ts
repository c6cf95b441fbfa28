import type { AcpDialect } from "@foldcast/adapter-kit/acp";
import { argumentsOf } from "../history/decode-code.ts";
import { outputOf } from "../history/parts.ts";
import { resultOf } from "../history/results.ts";
import { objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";

/** Codex's profiles. Kimi asks for commands in its `default` mode and writes in its workspace without asking. */
const PROFILES: Readonly<Record<string, string>> = { ":read-only": "default", ":workspace": "default", ":danger-full-access": "yolo" };

/** As `kimi acp` (2.1.0) offers them in each session. */
export const MODES = ["default", "plan", "auto", "yolo"] as const;

/** What `kimi acp` (2.1.0) says of its own and not of a turn: compactions come as one whole chunk of the next answer. */
const NOTICES = /^(?:Compaction completed\.\n- Messages compacted: [\d,]+\n|Compaction cancelled\.$|Compaction is blocked by the current turn; retry|Compacting conversation context(?:…$| with instruction: )|Context compaction started — it runs in the background)/;

/** How `kimi acp` (2.1.0) deviates: the tool's name is only in the first title, the arguments grow as content, call ids carry the turn's number. */
export const kimiDialect: AcpDialect = {
  streamsInput: true,
  callsComeFirst: true,
  callId: (acpId) => acpId.replace(/^\d+:/, ""),
  toolName: (call) => call.firstTitle,
  toolInput(call) {
    if (call.rawInput !== undefined) return call.rawInput;
    // The name alone says nothing of what the call will do; JSON that is not whole says something else.
    const text = stringOf(objectOf(objectsOf(call.content)[0]?.["content"])["text"]) ?? "";
    if (call.status !== "in_progress" || !text.trimEnd().endsWith("}")) return undefined;
    const input = argumentsOf(text);
    return typeof input === "object" ? input : undefined;
  },
  // The same words as in the session's file, read by the same rules.
  result(call, { outcome, result }) {
    const { output, content } = outputOf(call.rawOutput);
    if (call.rawOutput === undefined) return { outcome, result };
    return resultOf({ type: "result", callId: null, output, content, failed: call.status === "failed", durationMs: null, diffs: [] }, call.firstTitle ?? "", outcome.status === "declined");
  },
  modeOf: (permissionMode) => PROFILES[permissionMode] ?? permissionMode,
  isNotice: (text) => NOTICES.test(text),
  // Titles are the first prompt's words; a plan is told by its call.
  silentUpdates: new Set(["session_info_update", "plan"]),
};
