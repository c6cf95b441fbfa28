import { z } from "zod";
import { flag, i64, list, oneOf, page, path, struct, text, thread, u32 } from "./param-types.ts";

/** Parameters of requests about the server and its surroundings, and of those that are refused; as in `params.ts`. */

export const ModelListParams = struct("ModelListParams", { ...page, includeHidden: flag.nullish(), modelProvider: text.nullish() });
export const ConfigReadParams = struct("ConfigReadParams", { includeLayers: flag.optional(), cwd: text.nullish() });
const writtenFile = { filePath: text.nullish(), expectedVersion: text.nullish() };
const configEdit = { keyPath: text, value: z.unknown(), mergeStrategy: oneOf(["replace", "upsert"]).nullish() };
export const ConfigValueWriteParams = struct("ConfigValueWriteParams", { ...configEdit, ...writtenFile });
export const ConfigBatchWriteParams = struct("ConfigBatchWriteParams", { edits: list(struct("ConfigEdit", configEdit)), ...writtenFile, reloadUserConfig: flag.optional() });
const force = { forceRefetch: flag.optional() };
export const SkillsListParams = struct("SkillsListParams", { cwds: list(text).nullish(), forceReload: flag.optional() });
export const HooksListParams = struct("HooksListParams", { cwds: list(text).nullish(), threadId: text.nullish() });
export const PluginInstalledParams = struct("PluginInstalledParams", { cwds: list(path).nullish(), installSuggestionPluginNames: list(text).nullish() });
export const PluginListParams = struct("PluginListParams", {
  ...force,
  cwds: list(path).nullish(),
  marketplaceKinds: list(oneOf(["local", "vertical", "workspace-directory", "shared-with-me", "created-by-me-remote"])).nullish(),
});
export const ExperimentalFeatureListParams = struct("ExperimentalFeatureListParams", { ...page, threadId: text.nullish() });
export const ExperimentalFeatureEnablementSetParams = struct("ExperimentalFeatureEnablementSetParams", { enablement: z.record(z.string(), flag, { error: "a map" }) });
export const ExternalAgentConfigDetectParams = struct("ExternalAgentConfigDetectParams", {
  cwds: list(path).nullish(), includeHome: flag.optional(), maxSessionAgeDays: u32.nullish(), maxSessions: u32.nullish(), migrationSource: text.nullish(), source: text.nullish(),
});
export const AppsListParams = struct("AppsListParams", { ...page, ...force, threadId: text.nullish() });
export const McpServerStatusListParams = struct("ListMcpServerStatusParams", {
  ...page, detail: oneOf(["full", "toolsAndAuthOnly"]).nullish(), environmentId: text.nullish(), serverName: text.nullish(), threadId: text.nullish(),
});
export const PermissionProfileListParams = struct("PermissionProfileListParams", { ...page, cwd: text.nullish() });
export const AccountReadParams = struct("GetAccountParams", { refreshToken: flag.optional() });
export const AuthStatusParams = struct("GetAuthStatusParams", { includeToken: flag.nullish(), refreshToken: flag.nullish() });
export const RateLimitsParams = struct("GetAccountRateLimitsParams", { excludeResetCreditDetails: flag.optional(), supportsLunaReserve: flag.optional() });
/** For lists of which the page is all that can be asked; `name` is the real server's for their parameters. */
export const pageParams = (name: string) => struct(name, page);
/** For requests whose parameters have no members. */
export const noParams = (name: string) => struct(name, {});

const goalOrigin = oneOf(["user", "automatic"]).nullish();
export const ThreadGoalSetParams = struct("ThreadGoalSetParams", {
  ...thread, objective: text.nullish(), origin: goalOrigin, tokenBudget: i64.nullish(),
  status: oneOf(["active", "paused", "blocked", "usageLimited", "budgetLimited", "complete"]).nullish(),
});
export const ThreadGoalClearParams = struct("ThreadGoalClearParams", { ...thread, origin: goalOrigin });
export const ThreadInjectItemsParams = struct("ThreadInjectItemsParams", { ...thread, items: list(z.unknown()) });
export const ThreadMemoryModeSetParams = struct("ThreadMemoryModeSetParams", { ...thread, mode: oneOf(["enabled", "disabled"]) });
export const BackgroundTerminalsListParams = struct("ThreadBackgroundTerminalsListParams", { ...thread, ...page });
export const BackgroundTerminalsTerminateParams = struct("ThreadBackgroundTerminalsTerminateParams", { ...thread, processId: text });
export const ReviewStartParams = struct("ReviewStartParams", {
  ...thread,
  delivery: oneOf(["inline"]).nullish(),
  target: z.discriminatedUnion("type", [
    struct("UncommittedChanges", { type: z.literal("uncommittedChanges") }),
    struct("BaseBranch", { type: z.literal("baseBranch"), branch: text }),
    struct("Commit", { type: z.literal("commit"), sha: text }),
    struct("Custom", { type: z.literal("custom"), instructions: text }),
  ], { error: "internally tagged enum ReviewTarget" }),
});
