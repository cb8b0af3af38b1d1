import winston from 'winston';
import { describeError } from './describe-error.ts';

/** Levels for the person on call: error = act now, warn = look this week, info = lifecycle, debug = per event. */
export type Logger = winston.Logger;

/**
 * JSON lines on standard output. Never pass properties, keys or e-mail addresses: ids and counts only. Errors are told
 * without messages that may quote them (describe-error.ts).
 * @param service name written into every line.
 */
export function createLogger(service: string, level = 'info'): Logger {
  return winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(winston.format.timestamp(), winston.format.json({ replacer: toLoggable })),
    transports: [new winston.transports.Console()],
  });
}

/** Errors, wherever they are, keep what they know; JSON alone would print them as `{}` and refuse a bigint. */
function toLoggable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Error ? describeError(value) : value;
}
