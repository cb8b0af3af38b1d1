import { AppError } from '@millrace/errors';

/** The promise's result, or AppError `unavailable` after `ms`. The work itself goes on; its late result is ignored. */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new AppError('unavailable', `No answer within ${ms} ms.`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
