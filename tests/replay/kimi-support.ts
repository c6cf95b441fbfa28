import { definition } from "@foldcast/adapter-kimi-code";
import { dataFiles, replayWith } from "./support.ts";

/** Session files of kimi-cli and Kimi Code in the given material, sub-agents' files too. */
export function kimiFiles(): string[] {
  return dataFiles(["sessions/kimi", "kimi/history"], (name) => /(?:^|\/)(?:wire|context)[^/]*\.jsonl$/.test(name));
}

export const replayKimi = replayWith(definition);
