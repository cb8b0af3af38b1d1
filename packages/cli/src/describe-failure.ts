import { isTransientError } from '@millrace/db';
import { type AppError, isAppError } from '@millrace/errors';
import { ConfigError } from '@millrace/runtime';
import { ImportStopped } from './import/import-stopped.ts';
import { UsageError } from './usage-error.ts';

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
};

/** Turns whatever stopped a command into the one line a person reads, naming the option when one is to blame. */
export function describeFailure(error: unknown): { line: string; exitCode: number } {
  if (error instanceof UsageError) return { line: error.message, exitCode: 2 };
  if (error instanceof ImportStopped) return { line: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { line: error.problems.join('; '), exitCode: 2 };
  if (isAppError(error) && error.kind !== 'unavailable') return { line: describeAppError(error), exitCode: 1 };
  // What the event log says when it does not answer.
  if (isAppError(error)) return { line: error.message, exitCode: 1 };
  if (isTransientError(error)) return { line: `the database does not answer${codeOf(error)}`, exitCode: 1 };
  if (isMissingTable(error))
    return { line: 'the database has no tables yet; run `millrace migrate` first', exitCode: 1 };
  const message = error instanceof Error ? error.message : String(error);
  return { line: lastLine(message), exitCode: 1 };
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

/** What the driver calls it, to look up: ` (ECONNREFUSED)`. */
function codeOf(error: unknown): string {
  for (let each = error; typeof each === 'object' && each !== null; each = (each as { cause?: unknown }).cause) {
    const { code } = each as { code?: unknown };
    if (typeof code === 'string') return ` (${code})`;
  }
  return '';
}

/** PostgreSQL's code for a table that is not there. */
function isMissingTable(error: unknown): boolean {
  return (error as { code?: unknown }).code === '42P01';
}

/** Prisma puts what happened after several lines about where. */
function lastLine(message: string): string {
  return message.trim().split('\n').at(-1)?.trim() ?? message;
}
