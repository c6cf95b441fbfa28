import type { ToolMap } from "@foldcast/protocol-core/tools";
import { antigravityTools } from "./maps/antigravity.ts";
import { claudeStyleTools } from "./maps/claude-style.ts";
import { codexTools } from "./maps/codex.ts";
import { copilotTools } from "./maps/copilot.ts";
import { cursorCliTools } from "./maps/cursor-cli.ts";
import { deepseekHarnessTools } from "./maps/deepseek-harness.ts";
import { geminiTools } from "./maps/gemini.ts";
import { grokTools } from "./maps/grok.ts";
import { hermesTools } from "./maps/hermes.ts";
import { kimiCodeTools } from "./maps/kimi-code.ts";
import { kiroCliTools } from "./maps/kiro-cli.ts";
import { mistralVibeTools } from "./maps/mistral-vibe.ts";
import { ompTools } from "./maps/omp.ts";
import { opencodeTools } from "./maps/opencode.ts";
import { piTools } from "./maps/pi.ts";
import { qwenTools } from "./maps/qwen.ts";

export { acpKinds } from "./maps/acp-kinds.ts";

/**
 * Tool-name maps of harnesses that have no adapter of their own here, by harness id. The map of a harness with an
 * adapter is `manifest.tools` of that adapter.
 */
export const toolMaps: Readonly<Record<string, ToolMap>> = {
  codex: codexTools,
  "kimi-code": kimiCodeTools,
  opencode: opencodeTools,
  pi: piTools,
  omp: ompTools,
  gemini: geminiTools,
  qwen: qwenTools,
  grok: grokTools,
  copilot: copilotTools,
  qoder: claudeStyleTools,
  codebuddy: claudeStyleTools,
  workbuddy: claudeStyleTools,
  "kiro-cli": kiroCliTools,
  "cursor-cli": cursorCliTools,
  hermes: hermesTools,
  "deepseek-harness": deepseekHarnessTools,
  antigravity: antigravityTools,
  "mistral-vibe": mistralVibeTools,
};
