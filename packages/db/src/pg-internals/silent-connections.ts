import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import { endConnection } from './end-connection.ts';

/**
 * Reason for this workaround: `pg` notices a dead connection only when a statement times out. Relies on: `processID`,
 * `readyForQuery` and `connection.stream` of a client in `pg` 8.23, which its types do not declare. Test:
 * silent-connections.test.ts. Remove this workaround when `pg` closes connections that the server does not know.
 */
export interface SilentConnections {
  stop(): void;
}

export interface SilentConnectionsOptions {
  /** Returns the pool's connection settings, which the probe connection also uses. */
  config: () => pg.ClientConfig;
  logger: Logger;
  /** A connection is checked when it has waited for a response for this many milliseconds without transferring data. */
  silentMs?: number;
  lookIntervalMs?: number;
}

/** The number of bytes that a connection had transferred at the last check, and when this number last changed. */
interface Watched {
  bytes: number;
  movedAt: number;
}

interface Inside {
  processID: number | null;
  /** Whether the connection is idle, with complete responses to all statements. */
  readyForQuery: boolean;
  connection: { stream: { bytesRead: number; bytesWritten: number; destroy(error: Error): void } };
}

/**
 * Finds dead connections, on which this process waits for a response that the server will never send. Without this
 * check, the process would notice a dead connection only when its query times out half a minute later. The server would
 * notice after hours, and hold the locks of the transaction until then.
 *
 * A connection that transfers nothing is not necessarily dead, because statements can take long or wait for locks. A
 * probe connection therefore queries the server for the connection's state. A connection is closed on both sides if two
 * consecutive checks find that the server does not have it, or was waiting for the client in the same state. Idle
 * connections that have transferred nothing for even longer are closed too, because otherwise the next statements would
 * discover them one by one.
 */
export function watchSilentConnections(
  pool: pg.Pool,
  { config, logger, silentMs = 2000, lookIntervalMs = 1000 }: SilentConnectionsOptions,
): SilentConnections {
  const watched = new Map<pg.PoolClient, Watched>();
  let isLooking = false;
  /** Behind a pooler, the backends' process IDs differ from those that the client knows. */
  let isPooled = false;
  pool.on('connect', (client) => void watched.set(client, { bytes: 0, movedAt: performance.now() }));
  pool.on('remove', (client) => void watched.delete(client));

  function silentClients(): pg.PoolClient[] {
    const now = performance.now();
    const silent: pg.PoolClient[] = [];
    for (const [client, seen] of watched) {
      const { readyForQuery, connection } = inside(client);
      const bytes = connection.stream.bytesRead + connection.stream.bytesWritten;
      if (bytes !== seen.bytes) Object.assign(seen, { bytes, movedAt: now });
      else if (!readyForQuery && now - seen.movedAt >= silentMs) silent.push(client);
    }
    return silent;
  }

  async function look(): Promise<void> {
    if (isLooking || isPooled || silentClients().length === 0) return;
    isLooking = true;
    const probe = new pg.Client(config());
    probe.on('error', () => {});
    try {
      await probe.connect();
      const first = await waitingForUs(probe);
      if (first.size === 0) return;
      await sleep(lookIntervalMs, undefined, { ref: false });
      const second = await waitingForUs(probe);
      const forgotten = [...second].filter(([client, state]) => first.get(client) === state).map(([client]) => client);
      if (forgotten.length > 0) await giveUp(probe, [...forgotten, ...idleSince(forgotten)], { config, logger });
    } catch {
      // If the server cannot be reached, all connections fail. The failure of this probe does not show which
      // connections are dead.
    } finally {
      isLooking = false;
      await endConnection(probe);
    }
  }

  /** Returns the silent connections whose backend is idle or missing, each with the backend's state. */
  async function waitingForUs(probe: pg.Client): Promise<Map<pg.PoolClient, string>> {
    const silent = silentClients();
    const { rows } = await probe.query<{ own: number; pid: number | null; state: string; is_at_work: boolean | null }>(
      `SELECT pg_backend_pid() AS own, pid, coalesce(state, '') || ' ' || coalesce(state_change::text, '') AS state,
              CASE WHEN state = 'active' THEN wait_event_type IS DISTINCT FROM 'Client'
                   WHEN state LIKE 'idle%' THEN false END AS is_at_work
         FROM (SELECT 1) AS one LEFT JOIN pg_stat_activity ON pid = ANY ($1::int[])`,
      [silent.map((client) => inside(client).processID)],
    );
    isPooled = rows[0]?.own !== inside(probe).processID;
    if (isPooled) return new Map();
    // If the backend's state is hidden from this role or not tracked, assume that the backend is working.
    const atWork = new Set(rows.flatMap(({ pid, is_at_work: isAtWork }) => (isAtWork === false ? [] : [pid])));
    const states = new Map(rows.map(({ pid, state }) => [pid, state]));
    const waiting = silent.filter((client) => !atWork.has(inside(client).processID));
    return new Map(waiting.map((client) => [client, states.get(inside(client).processID) ?? 'unknown']));
  }

  /**
   * Returns the idle connections that have transferred nothing since the first unresponsive connection became silent.
   */
  function idleSince(forgotten: readonly pg.PoolClient[]): pg.PoolClient[] {
    const since = Math.min(...forgotten.map((client) => watched.get(client)?.movedAt ?? 0));
    return [...watched].flatMap(([client, { movedAt }]) =>
      inside(client).readyForQuery && movedAt <= since ? [client] : [],
    );
  }

  const timer = setInterval(() => void look(), lookIntervalMs).unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Closes unresponsive connections. Ends their sessions on the server first, so that locks are released before the work
 * is repeated.
 */
async function giveUp(
  probe: pg.Client,
  forgotten: readonly pg.PoolClient[],
  { config, logger }: Pick<SilentConnectionsOptions, 'config' | 'logger'>,
): Promise<void> {
  logger.warn('closing unresponsive database connections', { connections: forgotten.length });
  try {
    await probe.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid = ANY ($1::int[]) AND usename = session_user AND application_name = $2`,
      [forgotten.map((client) => inside(client).processID), config().application_name ?? ''],
    );
  } finally {
    for (const client of forgotten) inside(client).connection.stream.destroy(forgottenError());
  }
}

function inside(client: pg.ClientBase): Inside {
  return client as unknown as Inside;
}

function forgottenError(): Error {
  return Object.assign(new Error('The connection was closed because PostgreSQL is not responding.'), {
    code: 'ETIMEDOUT',
  });
}
