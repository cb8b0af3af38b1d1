import type pg from 'pg';

/**
 * Reason: a pool of `pg` says nothing of connections that could not be made, except to whoever asked for one; and Prisma's
 * adapter, which asks for some, tells nobody.
 * Relies on: the pool's own `query` and Prisma's adapter both going through `pool.connect`, the first with a callback.
 * Witness: database.test.ts ("becomes bad by … that gets no connection").
 * May go: when the pool has an event for it.
 *
 * @param failed told the error of each connection that could not be made.
 */
export function watchFailedConnects(pool: pg.Pool, failed: (error: unknown) => void): void {
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
  const watchedConnect = (callback?: (error: Error | undefined, ...rest: unknown[]) => void) => {
    if (callback) {
      return connect((error: Error | undefined, ...rest: unknown[]) => {
        if (error) failed(error);
        callback(error, ...rest);
      });
    }
    return (connect() as Promise<unknown>).catch((error: unknown) => {
      failed(error);
      throw error;
    });
  };
  Object.assign(pool, { connect: watchedConnect });
}
