import type { z } from "zod";
import {
  AppsListParams, ExperimentalFeatureEnablementSetParams, ExperimentalFeatureListParams, ExternalAgentConfigDetectParams, HooksListParams, McpServerStatusListParams, noParams,
  PermissionProfileListParams, PluginInstalledParams, PluginListParams, SkillsListParams,
} from "@foldcast/protocol-core/wire/params";
import { method } from "./method.ts";
import type { Method } from "./method.ts";

const empty = (name: string, params: z.ZodType, result: object): Method => method(name, { owner: "static", params, handler: () => result });

/** What stock clients ask for at their start and foldcast has none of, in the shapes of Codex 0.171. */
export const staticMethods: readonly Method[] = [
  method("account/bedrock/checkGovCloudRequirements", {
    owner: "static",
    params: noParams("BedrockCheckGovCloudRequirementsParams"),
    experimental: true,
    handler: () => ({ isGovCloud: false, shouldWarn: false }),
  }),
  method("configRequirements/read", {
    owner: "static",
    params: null,
    handler: () => ({ supportsIndependentSpeedModes: null, requirements: null }),
  }),
  method("collaborationMode/list", {
    owner: "static",
    params: noParams("CollaborationModeListParams"),
    experimental: true,
    handler: () => ({
      data: [
        { name: "Plan", mode: "plan", model: null, reasoning_effort: "medium" },
        { name: "Default", mode: "default", model: null, reasoning_effort: null },
      ],
    }),
  }),
  method("permissionProfile/list", {
    owner: "static",
    params: PermissionProfileListParams,
    handler: () => ({
      data: [":read-only", ":workspace", ":danger-full-access"].map((id) => ({ id, description: null, allowed: true })),
      nextCursor: null,
    }),
  }),
  method("skills/list", {
    owner: "static",
    params: SkillsListParams,
    handler: ({ cwds }) => ({ data: (cwds ?? [process.cwd()]).map((cwd) => ({ cwd, skills: [], errors: [] })) }),
  }),
  method("hooks/list", {
    owner: "static",
    params: HooksListParams,
    handler: ({ cwds }) => ({ data: (cwds ?? [process.cwd()]).map((cwd) => ({ cwd, hooks: [], warnings: [], errors: [] })) }),
  }),
  method("remoteControl/status/read", {
    owner: "host",
    params: null,
    experimental: true,
    handler: (_params, { host }) => host.remoteControlStatus(),
  }),
  empty("plugin/installed", PluginInstalledParams, { marketplaces: [], marketplaceLoadErrors: [] }),
  empty("plugin/list", PluginListParams, { marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] }),
  // Nothing is switched on by it, and the answer says so.
  empty("experimentalFeature/enablement/set", ExperimentalFeatureEnablementSetParams, { enablement: {} }),
  empty("externalAgentConfig/detect", ExternalAgentConfigDetectParams, { items: [], connectors: [] }),
  empty("app/list", AppsListParams, { data: [], nextCursor: null }),
  empty("mcpServerStatus/list", McpServerStatusListParams, { data: [], nextCursor: null }),
  empty("experimentalFeature/list", ExperimentalFeatureListParams, { data: [], nextCursor: null }),
  empty("modelProvider/capabilities/read", noParams("ModelProviderCapabilitiesReadParams"), { imageGeneration: false, webSearch: false }),
];
