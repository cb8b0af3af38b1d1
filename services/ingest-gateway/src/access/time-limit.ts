import { AppError } from '@millrace/errors';

/**
 * The promise's result, or AppError `unavailable` after `ms`. The work itself goes on; its late result is ignored.
 *
 * What has arrived by then is read first: a process that was busy for so long must not take its own silence for another's.
 */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new AppError('unavailable', `No answer within ${ms} ms.`));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
