import { AppError } from '@millrace/errors';

/**
 * The promise's result, or AppError `unavailable` after `ms`. The work goes on; its late result is ignored.
 *
 * Before it gives up it reads what has arrived: a process that was busy itself for that long must not blame the other
 * side.
 */
export function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new AppError('unavailable', `No answer within ${ms} ms.`));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
