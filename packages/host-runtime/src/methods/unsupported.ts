import { notSupported } from "@foldcast/protocol-core/wire";
import type { z } from "zod";
import {
  BackgroundTerminalsTerminateParams, ReviewStartParams, ThreadGoalClearParams, ThreadGoalSetParams, threadIdParams, ThreadInjectItemsParams, ThreadMemoryModeSetParams,
} from "@foldcast/protocol-core/wire/params";
import { method } from "./method.ts";
import type { Method } from "./method.ts";

interface Missing {
  params: z.ZodType;
  missing: string;
  /** Asked by clients without the experimental API, too. */
  stable?: true;
}

/** What stock clients ask of a thread and no harness can be asked for; the answer says what is missing. */
const MISSING: Readonly<Record<string, Missing>> = {
  "thread/goal/set": { params: ThreadGoalSetParams, missing: "foldcast keeps no goals", stable: true },
  "thread/goal/clear": { params: ThreadGoalClearParams, missing: "foldcast keeps no goals", stable: true },
  "thread/inject_items": { params: ThreadInjectItemsParams, missing: "a harness takes input only as a turn", stable: true },
  "thread/memoryMode/set": { params: ThreadMemoryModeSetParams, missing: "a harness keeps its memory by itself" },
  "thread/backgroundTerminals/clean": { params: threadIdParams("ThreadBackgroundTerminalsCleanParams"), missing: "a harness ends its background commands by itself" },
  "thread/backgroundTerminals/terminate": { params: BackgroundTerminalsTerminateParams, missing: "a harness ends its background commands by itself" },
  "review/start": { params: ReviewStartParams, missing: "no harness offers a review", stable: true },
};

export const unsupportedMethods: readonly Method[] = Object.entries(MISSING).map(([name, { params, missing, stable }]) => method(name, {
  owner: "thread",
  params,
  ...(stable === true ? {} : { experimental: true as const }),
  handler() {
    throw notSupported(name, missing);
  },
}));
