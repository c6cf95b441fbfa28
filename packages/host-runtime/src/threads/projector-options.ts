import type { ProjectorOptions } from "@foldcast/protocol-core/projection";
import type { ToolMap } from "@foldcast/protocol-core/tools";
import { threadIdFor } from "./ids.ts";

/** What the projectors of all turns of one thread have in common, live and from history. */
export function projectorOptions(thread: { id: string; harness: string; cwd: string }, toolMaps: Readonly<Record<string, ToolMap>>): Omit<ProjectorOptions, "turnId"> {
  const { id, harness, cwd } = thread;
  return { threadId: id, cwd, toolMaps, defaultMap: harness, childThreadId: (ref) => threadIdFor(harness, ref) };
}
