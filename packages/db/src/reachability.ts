import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import type { CurrentConfig } from './open-pool.ts';
import { endConnection } from './pg-internals/end-connection.ts';
import { watchFailedConnects } from './pg-internals/failed-connects.ts';
import { watchSilentConnections } from './pg-internals/silent-connections.ts';
import { isConnectionError } from './transient-error.ts';

export interface Reachability {
  isReachable(): boolean;
  /** Reports an error of any statement; errors that are not about the connection are ignored. */
  noteError(error: unknown): void;
  stop(): Promise<void>;
}

/**
 * Whether the server can be reached, without asking it while all is well. An error of a connection is only a hint: one
 * backend may have been ended on purpose. It starts pings on a separate connection. The first that fails makes the
 * database unreachable, the next that succeeds reachable. So readiness comes back by itself, although a service that is
 * not ready gets no queries.
 *
 * @param pool watched for connections that cannot be made or break.
 */
export function watchReachability(
  pool: pg.Pool,
  { config, logger, pingIntervalMs }: { config: CurrentConfig; logger: Logger; pingIntervalMs: number },
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
    await endConnection(client);
  }
}
