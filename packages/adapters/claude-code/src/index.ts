import type { HarnessAdapter, HarnessDefinition, HarnessManifest } from "@foldcast/protocol-core/harness";
import { history } from "./history/source.ts";
import { tools } from "./tools.ts";

export { history } from "./history/source.ts";

const NOT_YET = "Claude Code sessions can be replayed; running them live is not available yet.";

const manifest: HarnessManifest = {
  id: "claude-code",
  displayName: "Claude Code",
  capabilities: {
    steer: false,
    images: false,
    resume: false,
    fork: false,
    rollback: false,
    compact: false,
    interactions: false,
    selectModel: false,
    // The result message of a turn is never saved: a file proves interrupts and failures, and no success.
    historyOutcome: "evidence",
  },
  tools,
};

const adapter: HarnessAdapter = {
  manifest,
  history,
  inspect: () => Promise.resolve({ ready: false, reason: NOT_YET, version: null, models: [] }),
  open: () => Promise.reject(new Error(NOT_YET)),
  close: () => Promise.resolve(),
};

export const definition: HarnessDefinition = { manifest, create: () => adapter };
