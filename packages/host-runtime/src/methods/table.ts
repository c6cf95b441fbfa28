import { accountMethods } from "./account.ts";
import { configMethods } from "./config.ts";
import { initializeMethods } from "./initialize.ts";
import { staticMethods } from "./lists.ts";
import { interactionMethods } from "./interactions.ts";
import type { Method } from "./method.ts";
import { modelMethods } from "./models.ts";
import { threadChangeMethods } from "./thread-change.ts";
import { threadForkMethods } from "./thread-fork.ts";
import { threadOpenMethods } from "./thread-open.ts";
import { queueMethods } from "./queue.ts";
import { searchMethods } from "./search.ts";
import { sectionMethods } from "./sections.ts";
import { threadReadMethods } from "./thread-read.ts";
import { turnMethods } from "./turns.ts";
import { unsupportedMethods } from "./unsupported.ts";

/** Every request that foldcast answers, one entry each. What is not here is an unknown variant, as with the real server. */
export const METHODS: readonly Method[] = [
  ...initializeMethods,
  ...threadOpenMethods,
  ...threadForkMethods,
  ...threadChangeMethods,
  ...threadReadMethods,
  ...queueMethods,
  ...searchMethods,
  ...sectionMethods,
  ...turnMethods,
  ...interactionMethods,
  ...unsupportedMethods,
  ...modelMethods,
  ...accountMethods,
  ...configMethods,
  ...staticMethods,
];
