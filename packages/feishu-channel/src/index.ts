export { FeishuChannel, type ChannelOptions } from "./channel/channel.ts";
export { environmentFeishu, FeishuSettings } from "./channel/config.ts";
export { Documents, type SqlDatabase } from "./ledger/documents.ts";
export { createFeishuPort, FeishuConfigError, FeishuSdkMissingError, type PlatformLog } from "./platform/index.ts";
