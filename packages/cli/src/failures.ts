// Command errors, and their conversion to an output line and an exit code.

import { isTransientError } from '@millrace/db';
import { type AppError, ConfigError, isAppError } from '@millrace/runtime';

/** Thrown if a command was called incorrectly. The message names the option. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Thrown if a record does not exist or a server rejected the request. The message is shown to the user. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Thrown if an import stops before the end of its file and can be continued. */
export class ImportStopped extends Error {
  readonly exitCode: number;

  /** @param exitCode the exit code: 1, or 130 if a user interrupted the import */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'ImportStopped';
    this.exitCode = exitCode;
  }
}

/** Maps each API field to its command option, if their names differ. */
const optionOfField: Record<string, string> = {
  id: '<id>',
  user_id: '--user',
  expires_at: '--expires',
  scoped_organizations: '--organizations',
  scoped_teams: '--projects',
};

const optionOfResource: Record<string, string> = {
  Organization: '--organization',
  User: '--user',
  Project: '--project',
  Environment: '--environment',
  Person: '<id>',
  Member: '--user',
  Invite: '<id>',
  'Personal API key': '<id>',
  Restriction: '<id>',
};

/** Describes an error in one line. If an option caused the error, the line names the option. */
export function describeFailure(error: unknown): { line: string; exitCode: number } {
  if (error instanceof UsageError) return { line: error.message, exitCode: 2 };
  if (error instanceof ImportStopped) return { line: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { line: error.problems.join('; '), exitCode: 2 };
  if (isAppError(error)) return { line: describeAppError(error), exitCode: 1 };
  return { line: describeDatabaseError(error) ?? lastLine(messageOf(error)), exitCode: 1 };
}

/** Error messages for users, by PostgreSQL error code. */
const messageByPostgresCode: Record<string, string> = {
  '28P01': 'PostgreSQL rejected the login',
  '28000': 'PostgreSQL rejected the login',
  '3D000': 'Could not open the database',
  '42501': 'The database user lacks a required privilege',
};

/**
 * Describes a database error. Only database errors have a PostgreSQL or network code here, because errors of other
 * servers are converted where they occur.
 */
function describeDatabaseError(error: unknown): string | undefined {
  const { code, message } = originOf(error);
  if (code === '42P01') return 'The database has no tables yet. Run `millrace migrate` first.';
  if (code === '25006')
    return '--database-url: This PostgreSQL server is read-only: it is a standby, or a failover is in progress.';
  if (messageByPostgresCode[code] !== undefined) return `--database-url: ${messageByPostgresCode[code]}: ${message}`;
  if (!isTransientError(error)) return undefined;
  return `--database-url: Could not connect to the database${code && ` (${code})`}. Check the URL and that PostgreSQL is running.`;
}

function describeAppError(error: AppError): string {
  const resource = error.details.resource;
  const option = error.attr
    ? (optionOfField[error.attr] ?? `--${error.attr.replaceAll('_', '-')}`)
    : typeof resource === 'string'
      ? optionOfResource[resource]
      : undefined;
  return option ? `${option}: ${error.message}` : error.message;
}

/**
 * Finds the first error in the chain of causes that has an error code. Prisma puts the PostgreSQL error into separate
 * fields.
 */
function originOf(error: unknown): { code: string; message: string } {
  for (let each = error as Origin | undefined; typeof each === 'object' && each !== null; ) {
    const code = each.originalCode ?? each.code;
    if (typeof code === 'string' && !/^P\d{4}$/.test(code)) {
      return { code, message: lastLine(each.originalMessage ?? each.message ?? '') };
    }
    each = each.cause ?? each.meta?.driverAdapterError ?? each.errors?.[0];
  }
  return { code: '', message: '' };
}

interface Origin {
  code?: unknown;
  message?: string;
  originalCode?: unknown;
  originalMessage?: string;
  cause?: Origin;
  errors?: Origin[];
  meta?: { driverAdapterError?: Origin };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns a message's last line. Prisma's messages begin with lines about the location in the code. */
function lastLine(message: string): string {
  return message.trim().split('\n').at(-1)?.trim() ?? message;
}
