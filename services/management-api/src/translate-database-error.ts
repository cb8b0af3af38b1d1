import { isTransientError } from '@millrace/db';
import { AppError } from '@millrace/errors';

/** SQLSTATE of a statement cancelled, here because it ran longer than the pool's limit. */
const queryCanceled = '57014';

/** What a failure of the database means for the person who asked; null for everything that is no such failure. */
export function translateDatabaseError(error: unknown): AppError | null {
  if (!isTransientError(error)) return null;
  if ((error as { code?: unknown }).code === queryCanceled) {
    return new AppError('unavailable', 'The query took too long. Narrow it, for example with after and before.', {
      code: 'query_timeout',
      cause: error,
    });
  }
  return new AppError('unavailable', 'The service is temporarily unavailable. Please try again.', {
    retryAfterSeconds: 1,
    cause: error,
  });
}
