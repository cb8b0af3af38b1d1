// Tracks whether the database is reachable, for a service's readiness check.

import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import type { ReadClientConfig } from './open-pool.ts';
import { endConnection } from './pg-internals/end-connection.ts';
import { watchFailedConnects } from './pg-internals/failed-connects.ts';
import { watchSilentConnections } from './pg-internals/silent-connections.ts';
import { isConnectionError } from './transient-error.ts';

export interface Reachability {
  isReachable(): boolean;
  /**
   * Reports a statement's error, which may show that the server is down. Ignores errors that are unrelated to the
   * connection.
   */
  noteError(error: unknown): void;
  stop(): Promise<void>;
}

/**
 * Tracks whether the server can be reached, without querying it while no errors occur.
 *
 * A connection error is only a hint, because a single backend may have been terminated on purpose. The error starts
 * pings on a separate connection. The first ping that fails marks the database as unreachable, and the next ping that
 * succeeds marks it as reachable. Readiness therefore recovers automatically, although a service that is not ready gets
 * no queries.
 *
 * @param pool a pool that is watched for connections that break or cannot be opened
 */
export function watchReachability(
  pool: pg.Pool,
  { config, logger, pingIntervalMs }: { config: ReadClientConfig; logger: Logger; pingIntervalMs: number },
): Reachability {
  let isReachable = true;
  let isStopped = false;
  let pinging: Promise<void> | undefined;
  let wake: () => void = () => {};

  async function pingUntilReachable(): Promise<void> {
    while (!isStopped) {
      const error = await ping(config());
      if (isStopped) return;
      if (error === null) {
        if (!isReachable) logger.info('database is responding again');
        isReachable = true;
        return;
      }
      if (isReachable) logger.warn('database is not responding', { error });
      isReachable = false;
      await new Promise<void>((resolve) => {
        wake = resolve;
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
  watchFailedConnects(pool, noteError);

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
    await endConnection(client);
  }
}
