import { AppError } from '@millrace/errors';

/** @param what also the fact `resource` in the error's details, for callers that say which of their inputs was wrong. */
export function notFound(
  what: 'Organization' | 'User' | 'Member' | 'Invite' | 'Project' | 'Environment' | 'Personal API key' | 'Restriction',
  cause?: unknown,
): AppError {
  return new AppError('not_found', `${what} not found.`, { cause, details: { resource: what } });
}

/** Answers of an account function to constraints of the database, by constraint name. */
export type ConstraintAnswers = Record<string, (cause: unknown) => AppError>;

/**
 * Runs a write and turns the violation of a named constraint into its answer. Checking first and writing then would
 * race with another process; the constraint does not.
 */
export async function answeringConstraints<T>(answers: ConstraintAnswers, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const answer = answers[violatedConstraint(error) ?? ''];
    throw answer ? answer(error) : error;
  }
}

/** Prisma keeps the constraint's name in the metadata of its driver's error. */
function violatedConstraint(error: unknown): string | null {
  if (!isRecord(error) || (error.code !== 'P2002' && error.code !== 'P2003')) return null;
  const driverError = isRecord(error.meta) ? error.meta.driverAdapterError : null;
  const cause = isRecord(driverError) ? driverError.cause : null;
  const constraint = isRecord(cause) ? cause.constraint : null;
  return isRecord(constraint) && typeof constraint.index === 'string' ? constraint.index : null;
}

/** True when an update or delete addressed no row. */
export function isRowMissing(error: unknown): boolean {
  return isRecord(error) && error.code === 'P2025';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
