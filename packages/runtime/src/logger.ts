/** Creates a process's logger, and serializes errors. */

import winston from 'winston';
import { isAppError } from './app-error.ts';

/**
 * The log of a process. The levels have these meanings for operators: error requires action now, warn requires a look
 * this week, info is about the lifecycle, and debug is written for each event.
 */
export type Logger = winston.Logger;

/**
 * Creates a log that writes JSON lines to standard output. Never log properties, keys or email addresses, only IDs and
 * counts. Error messages that may quote user input are omitted (`describeError`).
 * @param service name that every line contains
 */
export function createLogger(service: string, level = 'info'): Logger {
  return winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(winston.format.timestamp(), winston.format.json({ replacer: toLoggable })),
    transports: [new winston.transports.Console()],
  });
}

/**
 * Serializes errors and bigints anywhere in the metadata. `JSON.stringify` alone would write errors as `{}` and throw
 * on a bigint.
 */
function toLoggable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Error ? describeError(value) : value;
}

const maxCauses = 5;

/**
 * Describes an error for the log: its name, code and stack, and the chain of its causes. Messages that may quote user
 * input are omitted (see `messageOf`). A database error keeps the names of its table, column and constraint.
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

/** Describes an error's cause. If the cause is not an error, logs only its text. */
function describeCause(cause: unknown, depth: number): unknown {
  return cause instanceof Error ? describeError(cause, depth) : String(cause);
}

/**
 * Returns the message of an error, unless it may quote user input. PostgreSQL quotes values in data exceptions (22),
 * integrity violations (23), exceeded limits (54), errors raised by triggers (P0) and internal errors (XX000).
 * PostgreSQL's other messages contain only names and servers, which operators need, and so do the typed client's
 * messages when it cannot connect. JSON.parse quotes its input.
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

/** Returns the stack without its first lines, which repeat the message. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}
