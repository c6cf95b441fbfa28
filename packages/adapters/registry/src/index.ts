import type { HarnessDefinition } from "@foldcast/protocol-core/harness";

/** One registered harness; `load` brings in its code. */
export interface HarnessEntry {
  id: string;
  load(): Promise<HarnessDefinition>;
}

/** All harnesses, in the order in which their models are listed. The first ready one gives the default model. */
export const harnesses: readonly HarnessEntry[] = [
  { id: "scripted", load: async () => (await import("@foldcast/adapter-scripted")).definition },
  { id: "claude-code", load: async () => (await import("@foldcast/adapter-claude-code")).definition },
  { id: "kimi-code", load: async () => (await import("@foldcast/adapter-kimi-code")).definition },
  { id: "codex", load: async () => (await import("@foldcast/adapter-codex")).definition },
];
