export { Host } from "./host.ts";
export type { HostOptions } from "./host.ts";
export { silentLogger } from "./log/logger.ts";
export type { Logger, LogFields, LogLevel } from "./log/logger.ts";
export { DEFAULT_LIMITS } from "./rpc/connection.ts";
export type { Connection, ConnectionLimits, Transport } from "./rpc/connection.ts";
