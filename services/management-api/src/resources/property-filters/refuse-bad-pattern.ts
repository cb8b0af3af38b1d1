import { AppError } from '@millrace/errors';

/** SQLSTATE of a regular expression the server does not take. */
const invalidPattern = '2201B';

/** Runs a filtered query. @throws AppError `invalid` for a regular expression that only the server finds wrong. */
export async function refuseBadPattern<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== invalidPattern) throw error;
    throw new AppError('invalid', `A regular expression is not valid: ${(error as Error).message}.`, {
      attr: 'properties',
      cause: error,
    });
  }
}
