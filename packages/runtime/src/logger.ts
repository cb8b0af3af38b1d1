import { isAppError } from '@millrace/errors';
import winston from 'winston';

/** Levels for the person on call: error = act now, warn = look this week, info = lifecycle, debug = per event. */
export type Logger = winston.Logger;

/**
 * JSON lines on standard output. Never pass properties, keys or e-mail addresses: ids and counts only.
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

const maxCauses = 5;

function describeError(error: Error, depth = 0): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  const errors = error instanceof AggregateError ? error.errors.slice(0, maxCauses) : [];
  return {
    name: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(isAppError(error) ? { kind: error.kind, details: error.details } : {}),
    ...(depth === 0 ? { stack: error.stack } : {}),
    ...(errors.length === 0 ? {} : { errors: errors.map((each) => describeCause(each, depth + 1)) }),
    ...(error.cause === undefined || depth >= maxCauses ? {} : { cause: describeCause(error.cause, depth + 1) }),
  };
}

/** Something that is no error may hold anything, so only its text is kept. */
function describeCause(cause: unknown, depth: number): unknown {
  return cause instanceof Error ? describeError(cause, depth) : String(cause);
}
