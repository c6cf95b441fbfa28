import { definition as claudeCode } from "@foldcast/adapter-claude-code";
import { toolMaps } from "@foldcast/adapter-registry/tool-maps";
import type { ToolMap } from "@foldcast/protocol-core/tools";

/** Every tool-name map, by harness id. */
export const allToolMaps: Readonly<Record<string, ToolMap>> = { ...toolMaps, [claudeCode.manifest.id]: claudeCode.manifest.tools };

/** The map of a harness by its id, or by a short form of it (`claude`, `kimi`, `grok-acp`); null when there is none. */
export function toolMapOf(harness: string): ToolMap | null {
  if (Object.hasOwn(allToolMaps, harness)) return allToolMaps[harness]!;
  const wanted = bare(harness);
  const ids = Object.keys(allToolMaps);
  const id = ids.find((candidate) => bare(candidate) === wanted) ?? ids.find((candidate) => wanted.startsWith(`${bare(candidate)}-`));
  return id === undefined ? null : allToolMaps[id]!;
}

function bare(harness: string): string {
  return harness.toLowerCase().replace(/(?:-(?:cli|code|acp|rpc|serve|build|harness))+$/, "");
}
