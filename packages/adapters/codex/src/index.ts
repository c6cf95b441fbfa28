import type { HarnessAdapter, HarnessDefinition, HarnessInspection, HarnessManifest } from "@foldcast/protocol-core/harness";
import { history } from "./history/source.ts";
import { findInstalled } from "./installed.ts";
import { tools } from "./tools.ts";

const NATIVE_ONLY = "Codex runs through its own app-server, which foldcast passes through; here its saved sessions are only replayed.";

const manifest: HarnessManifest = {
  id: "codex",
  displayName: "Codex",
  capabilities: {
    steer: false,
    images: false,
    resume: false,
    fork: false,
    rollback: false,
    compact: false,
    interactions: false,
    selectModel: false,
    // Rollouts before 0.104 record no end of a turn.
    historyOutcome: "evidence",
  },
  tools,
};

const adapter: HarnessAdapter = {
  manifest,
  history,
  inspect,
  open: () => Promise.reject(new Error(NATIVE_ONLY)),
  close: () => Promise.resolve(),
};

async function inspect(): Promise<HarnessInspection> {
  const installed = await findInstalled(process.env["PATH"] ?? "");
  const found = installed === null ? "No codex program is on the PATH." : `Found ${installed.path}.`;
  return { ready: false, reason: `${NATIVE_ONLY} ${found}`, version: installed?.version ?? null, models: [] };
}

export { history } from "./history/source.ts";

export const definition: HarnessDefinition = { manifest, create: () => adapter };
