import type { HarnessEvent } from "../harness/index.ts";
import type { DeliveryPolicy } from "../delivery/policy.ts";
import type { ToolMap } from "../tools/index.ts";
import type { Turn } from "../wire/index.ts";
import type { ProjectorOutput } from "./outputs.ts";

export interface ProjectorOptions {
  turnId: string;
  threadId: string;
  /** The session's working directory, absolute. */
  cwd: string;
  /** Tool-name maps by harness id; `defaultMap` names the session's own. */
  toolMaps: Readonly<Record<string, ToolMap>>;
  defaultMap: string;
  /** The thread id of a child agent, from the harness's own id of it. */
  childThreadId(ref: string): string;
}

/** Placeholder of the projector's public shape. */
export declare class TurnProjector {
  constructor(options: ProjectorOptions);
  /** Outputs that the event causes, in order. Never throws. Events after the turn's end are dropped and counted. */
  apply(event: HarnessEvent): ProjectorOutput[];
  /** The turn as a client of this policy has it now, all items. */
  turn(policy: DeliveryPolicy): Turn;
  /** Unified diff of the whole turn in git's form, up to now. */
  diff(): string;
  readonly status: Turn["status"];
  /** Code → how often, and a raw sample. */
  readonly diagnostics: ReadonlyMap<string, { count: number; sample: string | null }>;
}
