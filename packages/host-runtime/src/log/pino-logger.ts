import type { Logger as Pino } from "pino";
import type { LogFields, Logger, LogLevel } from "./logger.ts";
import { redact, redactText } from "./redact.ts";

const ORDER: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const MAX_EARLY = 1_000;

export interface ProcessLogger extends Logger {
  /** Resolves when all lines so far are written. */
  flush(): Promise<void>;
}

/**
 * Writes JSON lines with pino to a file, or to stderr: stdout is the wire. Pino itself is loaded with the first line, as
 * a start should not wait for it. Secrets never get into a line.
 */
export function createLogger(options: { level: LogLevel; file: string | null }): ProcessLogger {
  let pino: Pino | null = null;
  let loading: Promise<void> | null = null;
  let early: { level: LogLevel; message: string; fields: object }[] = [];
  const load = async (): Promise<void> => {
    const { default: make } = await import("pino");
    const destination = make.destination({ dest: options.file ?? 2, sync: true, mkdir: true, mode: 0o600 });
    pino = make({ level: options.level, base: null }, destination);
    for (const { level, message, fields } of early) pino[level](fields, message);
    early = [];
  };
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (ORDER[level] < ORDER[options.level]) return;
    const clean = redact(fields) as object;
    if (pino !== null) return pino[level](clean, redactText(message));
    if (early.length < MAX_EARLY) early.push({ level, message: redactText(message), fields: clean });
    // Nobody can be told that the log cannot be written.
    loading ??= load().catch(() => undefined);
  };
  return {
    debug: (message, fields) => write("debug", message, fields),
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
    flush: async () => {
      await loading;
    },
  };
}
