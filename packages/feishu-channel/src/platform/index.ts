export type * from "./port.ts";
export { createFeishuPort, type PlatformConfig } from "./feishu-port.ts";
export { FeishuConfigError, resolveBaseUrl } from "./base-url.ts";
export { FeishuSdkMissingError } from "./sdk.ts";
export type { PlatformLog } from "./redact.ts";
export type { ProxyChoice } from "./proxy.ts";
