export type LogFields = Readonly<Record<string, unknown>>;
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Where the host writes what it notices. An `Error` goes under the field `error`. Never throws. */
export type Logger = Record<LogLevel, (message: string, fields?: LogFields) => void>;

export const silentLogger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
