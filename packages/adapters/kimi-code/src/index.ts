import type { HarnessAdapter, HarnessDefinition, HarnessManifest } from "@foldcast/protocol-core/harness";
import { kimiCodeTools } from "./tools.ts";
import { history } from "./history/source.ts";

export { history } from "./history/source.ts";

const NOT_YET = "Kimi Code sessions can be replayed; running them live is not available yet.";

const manifest: HarnessManifest = {
  id: "kimi-code",
  displayName: "Kimi Code",
  capabilities: {
    steer: false,
    images: false,
    resume: false,
    fork: false,
    rollback: false,
    compact: false,
    interactions: false,
    selectModel: false,
    // `turn.ended` is written since protocol 1.5 only, and never by kimi-cli.
    historyOutcome: "evidence",
  },
  tools: kimiCodeTools,
};

const adapter: HarnessAdapter = {
  manifest,
  history,
  inspect: () => Promise.resolve({ ready: false, reason: NOT_YET, version: null, models: [] }),
  open: () => Promise.reject(new Error(NOT_YET)),
  close: () => Promise.resolve(),
};

export const definition: HarnessDefinition = { manifest, create: () => adapter };
