import type { HarnessManifest } from "@foldcast/protocol-core/harness";
import { kimiCodeTools } from "./tools.ts";

export const manifest: HarnessManifest = {
  id: "kimi-code",
  displayName: "Kimi Code",
  capabilities: {
    // `kimi acp` refuses a prompt while another one runs, and has no other way in (2.1.0).
    steer: false,
    images: true,
    resume: true,
    // A copy of a whole session; ACP names no point in it.
    fork: false,
    rollback: false,
    compact: true,
    interactions: true,
    denyText: false,
    selectModel: true,
    // `turn.ended` is written since protocol 1.5 only, and never by kimi-cli.
    historyOutcome: "evidence",
  },
  tools: kimiCodeTools,
};
