import { isTransientError } from '@millrace/db';
import { type AppError, ConfigError, isAppError } from '@millrace/runtime';

/** The command was called wrongly. The message names the option. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** What was asked for is not there, or who was asked does not do it. The message is what a person reads. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Refusal';
  }
}

/** An import that ended before the end of its file, and can be continued. */
export class ImportStopped extends Error {
  readonly exitCode: number;

  /** @param exitCode 1, or 130 when a person stopped it. */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'ImportStopped';
    this.exitCode = exitCode;
  }
}

/** Options that are not simply named after their field. */
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

/** Turns whatever stopped a command into the one line a person reads, naming the option when one is to blame. */
export function describeFailure(error: unknown): { line: string; exitCode: number } {
  if (error instanceof UsageError) return { line: error.message, exitCode: 2 };
  if (error instanceof ImportStopped) return { line: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { line: error.problems.join('; '), exitCode: 2 };
  if (isAppError(error)) return { line: describeAppError(error), exitCode: 1 };
  return { line: describeDatabaseError(error) ?? lastLine(messageOf(error)), exitCode: 1 };
}

/** What PostgreSQL refuses, by its code. */
const refusals: Record<string, string> = {
  '28P01': 'PostgreSQL rejected the login',
  '28000': 'PostgreSQL rejected the login',
  '3D000': 'Could not open the database',
  '42501': 'The database user lacks a required privilege',
};

/** Whatever has a code of PostgreSQL or of the network and was not named on its way here is of the database. */
function describeDatabaseError(error: unknown): string | undefined {
  const { code, message } = originOf(error);
  if (code === '42P01') return 'The database has no tables yet. Run `millrace migrate` first.';
  if (code === '25006')
    return '--database-url: This PostgreSQL server is read-only: it is a standby, or a failover is in progress.';
  if (refusals[code] !== undefined) return `--database-url: ${refusals[code]}: ${message}`;
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

/** The first that has a code, to look up, and its words; Prisma hides PostgreSQL's in fields of its own. */
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

/** Prisma puts what happened after several lines about where. */
function lastLine(message: string): string {
  return message.trim().split('\n').at(-1)?.trim() ?? message;
}
