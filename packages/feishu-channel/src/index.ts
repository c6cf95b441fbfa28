export { FeishuChannel, type ChannelOptions } from "./channel/channel.ts";
export { environmentFeishu, FeishuSettings } from "./channel/config.ts";
export { Documents, type SqlDatabase } from "./ledger/documents.ts";
export { CALLBACKS, EVENTS, missingScopes, NEEDED_SCOPES, USEFUL_SCOPES } from "./platform/console.ts";
export type { Subscriptions } from "./platform/port.ts";
export { createFeishuPort, FeishuConfigError, FeishuSdkMissingError, type PlatformLog } from "./platform/index.ts";
