import type pg from 'pg';

/**
 * Calls `onFailed` with the error of each failed connection attempt of a pool.
 *
 * Reason for this workaround: a `pg` pool reports failed connection attempts only to the caller that requested a
 * connection, and Prisma's adapter does not pass them on. Relies on: the pool's own `query` and Prisma's adapter both
 * calling `pool.connect`, the first with a callback. Test: database.test.ts ("becomes unhealthy when … cannot get a
 * connection"). Remove this workaround when the pool has an event for failed attempts.
 */
export function watchFailedConnects(pool: pg.Pool, onFailed: (error: unknown) => void): void {
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
  const watchedConnect = (callback?: (error: Error | undefined, ...rest: unknown[]) => void) => {
    if (callback) {
      return connect((error: Error | undefined, ...rest: unknown[]) => {
        if (error) onFailed(error);
        callback(error, ...rest);
      });
    }
    return (connect() as Promise<unknown>).catch((error: unknown) => {
      onFailed(error);
      throw error;
    });
  };
  Object.assign(pool, { connect: watchedConnect });
}
