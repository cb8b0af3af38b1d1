import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import { watchSilentConnections } from './silent-connections.ts';
import { isConnectionError } from './transient-error.ts';

export interface Reachability {
  isReachable(): boolean;
  /** Tells of an error of any statement; those that do not speak of the connection are ignored. */
  noteError(error: unknown): void;
  stop(): Promise<void>;
}

/**
 * Whether the server can be reached, known without asking it while all is well. An error of a connection, whoever used
 * it, is only a hint: one backend may have been ended on purpose. It starts pings on a connection of their own; the
 * first that fails makes the database unreachable, the next that succeeds reachable. So readiness comes back by itself
 * although nobody sends queries to a service that is not ready.
 *
 * @param pool watched for connections that cannot be made or break.
 */
export function watchReachability(
  pool: pg.Pool,
  { config, logger, pingIntervalMs }: { config: pg.ClientConfig; logger: Logger; pingIntervalMs: number },
): Reachability {
  let isReachable = true;
  let isStopped = false;
  let pinging: Promise<void> | undefined;
  let wake: () => void = () => {};

  async function pingUntilReachable(): Promise<void> {
    while (!isStopped) {
      const error = await ping(config);
      if (isStopped) return;
      if (error === null) {
        if (!isReachable) logger.info('the database is back');
        isReachable = true;
        return;
      }
      if (isReachable) logger.warn('the database cannot be reached', { error });
      isReachable = false;
      await new Promise<void>((resolve) => {
        wake = resolve;
        // A process that only waits for its database may end.
        setTimeout(resolve, pingIntervalMs).unref();
      });
    }
  }

  function noteError(error: unknown): void {
    if (isStopped || !isConnectionError(error)) return;
    pinging ??= pingUntilReachable().finally(() => {
      pinging = undefined;
    });
  }

  const silent = watchSilentConnections(pool, { config, logger });
  pool.on('connect', (client) => void client.on('error', noteError));
  // The pool's own `query` and Prisma's adapter both come through here, the first with a callback.
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
  const watchedConnect = (callback?: (error: Error | undefined, ...rest: unknown[]) => void) => {
    if (callback) {
      return connect((error: Error | undefined, ...rest: unknown[]) => {
        if (error) noteError(error);
        callback(error, ...rest);
      });
    }
    return (connect() as Promise<unknown>).catch((error: unknown) => {
      noteError(error);
      throw error;
    });
  };
  Object.assign(pool, { connect: watchedConnect });

  return {
    isReachable: () => isReachable,
    noteError,
    async stop() {
      isStopped = true;
      silent.stop();
      wake();
      await pinging;
    },
  };
}

/** Null when the server answers, else why not. */
async function ping(config: pg.ClientConfig): Promise<Error | null> {
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await client.end().catch(() => {});
  }
}
