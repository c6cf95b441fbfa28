import type { HarnessDefinition } from "@foldcast/protocol-core/harness";

/** One registered harness; `load` brings in its code. */
export interface HarnessEntry {
  id: string;
  /** It plays what is written down and is no agent: the default only where nothing else can be, or where it was asked for. */
  isDemonstration?: true;
  /** Only its saved sessions are read: its threads run elsewhere. */
  isReplayOnly?: true;
  load(): Promise<HarnessDefinition>;
}

/** All harnesses, in the order in which their models are listed. The first ready one gives the default model. */
export const harnesses: readonly HarnessEntry[] = [
  { id: "claude-code", load: async () => (await import("@foldcast/adapter-claude-code")).definition },
  { id: "kimi-code", load: async () => (await import("@foldcast/adapter-kimi-code")).definition },
  { id: "codex", isReplayOnly: true, load: async () => (await import("@foldcast/adapter-codex")).definition },
  { id: "scripted", isDemonstration: true, load: async () => (await import("@foldcast/adapter-scripted")).definition },
];
