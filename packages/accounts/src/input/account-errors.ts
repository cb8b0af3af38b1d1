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
    const { constraint } = (error ?? {}) as { constraint?: unknown };
    const answer = typeof constraint === 'string' ? answers[constraint] : undefined;
    throw answer ? answer(error) : error;
  }
}
