export type * from "./port.ts";
export { createFeishuPort } from "./feishu-port.ts";
export { FeishuConfigError } from "./base-url.ts";
export { FeishuSdkMissingError } from "./sdk.ts";
export type { PlatformLog } from "./redact.ts";
