/** The log of a process, and what it shows of an error. */

import winston from 'winston';
import { isAppError } from './app-error.ts';

/** Levels for the person on call: error = act now, warn = look this week, info = lifecycle, debug = per event. */
export type Logger = winston.Logger;

/**
 * JSON lines on standard output. Never pass properties, keys or e-mail addresses: ids and counts only. Errors are told
 * without messages that may quote them (`describeError`).
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

/**
 * An error as a line of the log shows it: what it is, where it happened, and the chain of its causes. Messages that may
 * quote what somebody sent are left out (see `messageOf`); a database's error keeps the names of what it concerns.
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

/** Something that is no error may hold anything, so only its text is kept. */
function describeCause(cause: unknown, depth: number): unknown {
  return cause instanceof Error ? describeError(cause, depth) : String(cause);
}

/**
 * PostgreSQL quotes the value it dislikes, which may be anybody's, in data exceptions (22), violations (23), exceeded limits
 * (54), what triggers raise (P0) and internal errors (XX000); elsewhere its messages speak of names and servers, which
 * whoever is on call needs. So do those of the typed client when it cannot connect. JSON.parse quotes what it reads.
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

/** Without the first lines, which repeat the message. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}
