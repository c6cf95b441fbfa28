import type { HarnessManifest } from "@foldcast/protocol-core/harness";
import { tools } from "./tools.ts";

export const manifest: HarnessManifest = {
  id: "claude-code",
  displayName: "Claude Code",
  capabilities: {
    steer: true,
    images: true,
    resume: true,
    fork: true,
    rollback: false,
    compact: true,
    interactions: true,
    denyText: true,
    selectModel: true,
    // The result message of a turn is never saved: a file proves interrupts and failures, and no success.
    historyOutcome: "evidence",
  },
  tools,
};
