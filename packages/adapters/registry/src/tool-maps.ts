import type { ToolMap } from "@foldcast/protocol-core/tools";
import { antigravityTools } from "../../antigravity/tools.ts";
import { codebuddyTools } from "../../codebuddy/tools.ts";
import { copilotTools } from "../../copilot/tools.ts";
import { cursorCliTools } from "../../cursor-cli/tools.ts";
import { deepseekHarnessTools } from "../../deepseek-harness/tools.ts";
import { geminiTools } from "../../gemini/tools.ts";
import { grokTools } from "../../grok/tools.ts";
import { hermesTools } from "../../hermes/tools.ts";
import { kiroCliTools } from "../../kiro-cli/tools.ts";
import { mistralVibeTools } from "../../mistral-vibe/tools.ts";
import { ompTools } from "../../omp/tools.ts";
import { opencodeTools } from "../../opencode/tools.ts";
import { piTools } from "../../pi/tools.ts";
import { qoderTools } from "../../qoder/tools.ts";
import { qwenTools } from "../../qwen/tools.ts";
import { workbuddyTools } from "../../workbuddy/tools.ts";

export { acpKinds } from "./acp-kinds.ts";

/**
 * Tool-name maps of harnesses that have no adapter yet, by harness id: each folder holds its map alone until then.
 * The map of a harness with an adapter is `manifest.tools` of that adapter.
 */
export const toolMaps: Readonly<Record<string, ToolMap>> = {
  opencode: opencodeTools,
  pi: piTools,
  omp: ompTools,
  gemini: geminiTools,
  qwen: qwenTools,
  grok: grokTools,
  copilot: copilotTools,
  qoder: qoderTools,
  codebuddy: codebuddyTools,
  workbuddy: workbuddyTools,
  "kiro-cli": kiroCliTools,
  "cursor-cli": cursorCliTools,
  hermes: hermesTools,
  "deepseek-harness": deepseekHarnessTools,
  antigravity: antigravityTools,
  "mistral-vibe": mistralVibeTools,
};
