/** Creates a process's logger, and serializes errors. */

import winston from 'winston';
import { isAppError } from './app-error.ts';

/**
 * A process's log. Its levels: `error` for problems that require action now, `warn` for problems to look at within a
 * week, `info` for the lifecycle, and `debug` for messages about single events.
 */
export type Logger = winston.Logger;

/**
 * Creates a log that writes JSON lines to standard output. Callers may log IDs and counts, but never properties, keys
 * or email addresses. Error messages that may quote user input are omitted (see `messageOf`).
 * @param service the service's name, which every line contains
 */
export function createLogger(service: string, level = 'info'): Logger {
  return winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(winston.format.timestamp(), winston.format.json({ replacer: toLoggable })),
    transports: [new winston.transports.Console()],
  });
}

/** Serializes errors and bigints. `JSON.stringify` alone would write errors as `{}` and throw on a bigint. */
function toLoggable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Error ? describeError(value) : value;
}

const maxCauses = 5;

/**
 * Returns an error's name, code, stack and causes for the log, without messages that may quote user input (see
 * `messageOf`). A database error also includes the names of its table, column and constraint.
 */
function describeError(error: Error, depth = 0): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  const errors = error instanceof AggregateError ? error.errors.slice(0, maxCauses) : [];
  return {
    name: error.name,
    message: messageOf(error),
    ...(code === undefined ? {} : { code }),
    ...(isAppError(error) ? { kind: error.kind, details: error.details } : {}),
    ...databaseDetails(error),
    ...(depth === 0 ? { stack: framesOf(error) } : {}),
    ...(errors.length === 0 ? {} : { errors: errors.map((each) => describeCause(each, depth + 1)) }),
    ...(error.cause === undefined || depth >= maxCauses ? {} : { cause: describeCause(error.cause, depth + 1) }),
  };
}

function describeCause(cause: unknown, depth: number): unknown {
  return cause instanceof Error ? describeError(cause, depth) : String(cause);
}

/**
 * Returns an error's message, unless it may quote user input. JSON.parse quotes its input. PostgreSQL quotes values in
 * data exceptions (22), integrity violations (23), exceeded limits (54), errors raised by triggers (P0) and internal
 * errors (XX000). Other PostgreSQL messages, and those of the Prisma client when it cannot connect, contain only names
 * and servers, which operators need.
 */
function messageOf(error: Error): string {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  if (typeof severity === 'string' && /^(22|23|54|P0)|^XX000$/.test(String(code)))
    return 'rejected by PostgreSQL (message withheld)';
  if (/^(PrismaClient|DriverAdapter)/.test(error.name) && !/^P1/.test(String(code)))
    return 'rejected by the database client (message withheld)';
  if (error instanceof SyntaxError && /JSON|token/.test(error.message)) return 'not valid JSON';
  return error.message;
}

function databaseDetails(error: Error): Record<string, unknown> {
  const { severity, table, column, constraint, routine } = error as unknown as Record<string, unknown>;
  if (severity === undefined) return {};
  const names = Object.entries({ table, column, constraint, routine });
  return Object.fromEntries(names.filter(([, name]) => typeof name === 'string'));
}

/** Removes the message from an error's stack. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}
