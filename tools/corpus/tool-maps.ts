import { harnesses } from "@foldcast/adapter-registry";
import { toolMaps } from "@foldcast/adapter-registry/tool-maps";
import type { ToolMap } from "@foldcast/protocol-core/tools";

const manifests = (await Promise.all(harnesses.map((harness) => harness.load()))).map(({ manifest }) => manifest);

/** Every tool-name map, by harness id: those of the adapters, and of the harnesses that have none yet. */
export const allToolMaps: Readonly<Record<string, ToolMap>> = {
  ...toolMaps,
  ...Object.fromEntries(manifests.map(({ id, tools }) => [id, tools])),
};

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
