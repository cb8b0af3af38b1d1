import { AppError, isAppError } from '@millrace/errors';

/** What is not there and what is not for the caller's eyes look the same. */
export async function hideMissing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isAppError(error, 'not_found') ? new AppError('not_found', 'Not found.', { cause: error }) : error;
  }
}
