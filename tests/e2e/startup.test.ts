import { expect, test } from "vitest";
import { RpcFault } from "../support/client.ts";
import { DesktopClient } from "../support/desktop-client.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";

endToEnd();

/** What Desktop and the TUI ask before a person does anything, and cannot do without. */
const NEEDED: readonly [string, object | undefined][] = [
  ["account/read", { refreshToken: false }],
  ["getAuthStatus", { includeToken: false, refreshToken: false }],
  ["config/read", { includeLayers: true, cwd: "/w" }],
  ["configRequirements/read", undefined],
  ["model/list", { includeHidden: true, cursor: null, limit: 100 }],
  ["thread/list", { limit: 50, cursor: null, sortKey: "recency_at", modelProviders: null, archived: false, sourceKinds: ["cli", "vscode"], useStateDbOnly: true }],
  ["thread/list", { limit: 200, ancestorThreadId: "01a229e8-e9f7-71b2-860b-81d668b09a46", sourceKinds: ["subAgentThreadSpawn"], sortDirection: "desc", sortKey: "created_at" }],
  ["skills/list", { cwds: ["/w"], forceReload: true }],
  ["collaborationMode/list", {}],
  ["thread/loaded/list", { cursor: null, limit: null }],
];

/** Asked in the background; an answer that says no is put up with, one that does not fit is not. */
const TOLERATED: readonly [string, object | undefined][] = [
  ["experimentalFeature/list", {}], ["permissionProfile/list", {}], ["modelProvider/capabilities/read", {}], ["hooks/list", { cwds: ["/w"] }],
  ["plugin/list", {}], ["plugin/installed", {}], ["app/list", { cursor: null, limit: 10, threadId: null, forceRefetch: false }],
  ["mcpServerStatus/list", { cursor: null, limit: 10, detail: "full", threadId: null }], ["remoteControl/status/read", undefined],
  ["externalAgentConfig/detect", {}], ["account/rateLimits/read", undefined], ["account/bedrock/checkGovCloudRequirements", {}],
];

test("a fresh client gets what it needs to start, and a lawful answer to everything else", async () => {
  await using server = await startServer();
  await using desktop = await DesktopClient.connect(server.url);
  for (const [method, params] of NEEDED) await desktop.wire.request(method, params);
  for (const [method, params] of TOLERATED) {
    await desktop.wire.request(method, params).catch((error: unknown) => {
      expect(error).toBeInstanceOf(RpcFault);
      expect([-32600, -32601]).toContain((error as RpcFault).code);
    });
  }
  const { data } = await desktop.wire.request<{ data: { id: string; model: string; isDefault: boolean }[] }>("model/list", { includeHidden: true });
  expect(data.filter((model) => model.isDefault)).toHaveLength(1);
  expect(data.every((model) => model.id === model.model)).toBe(true);
});
