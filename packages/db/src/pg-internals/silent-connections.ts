import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import { endConnection } from './end-connection.ts';

/**
 * Reason: `pg` notices a dead connection only when a statement times out.
 * Relies on: `processID`, `readyForQuery` and `connection.stream` of a client of `pg` 8.23, which its types do not know.
 * Witness: silent-connections.test.ts.
 * May go: when `pg` gives up a connection of which the server knows nothing.
 */
export interface SilentConnections {
  stop(): void;
}

export interface SilentConnectionsOptions {
  /** Makes one more connection like those of the pool. */
  config: () => pg.ClientConfig;
  logger: Logger;
  /** A connection that waits for an answer and has moved no byte for this long is checked. */
  silentMs?: number;
  lookIntervalMs?: number;
}

/** What is noted about a connection at each check. */
interface Watched {
  bytes: number;
  movedAt: number;
}

/** pg's own, of which its types do not tell. */
interface Inside {
  processID: number | null;
  /** False from sending a statement until the server has answered all of it. */
  readyForQuery: boolean;
  connection: { stream: { bytesRead: number; bytesWritten: number; destroy(error: Error): void } };
}

/**
 * Finds dead connections: we wait for an answer that the server does not owe us. Without this
 * a process would notice when its query times out, half a minute later, and the server only after hours, with the locks
 * of that transaction held meanwhile.
 *
 * Silence alone proves nothing, since statements may take long and wait for locks. So the server is asked, over another
 * connection, what it is doing for the silent one. When at two checks in a row it was waiting for us in the same state,
 * or does not know the connection, the connection is given up on both sides. Idle connections that have been silent for
 * longer are given up too: the next statements would find them one after the other.
 */
export function watchSilentConnections(
  pool: pg.Pool,
  { config, logger, silentMs = 2000, lookIntervalMs = 1000 }: SilentConnectionsOptions,
): SilentConnections {
  const watched = new Map<pg.PoolClient, Watched>();
  let isLooking = false;
  /** Behind a pooler the process ids of backends are not those the server knows. */
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
      // The server cannot be asked. Then nothing works, and nothing is known about one connection.
    } finally {
      isLooking = false;
      await endConnection(probe);
    }
  }

  /** Silent connections whose backend is not at work for them, each with its state. */
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
    // When the state is hidden from us, or not kept, nothing is concluded.
    const atWork = new Set(rows.flatMap(({ pid, is_at_work: isAtWork }) => (isAtWork === false ? [] : [pid])));
    const states = new Map(rows.map(({ pid, state }) => [pid, state]));
    const waiting = silent.filter((client) => !atWork.has(inside(client).processID));
    return new Map(waiting.map((client) => [client, states.get(inside(client).processID) ?? 'unknown']));
  }

  /** Idle connections that have moved no byte since the first of these fell silent. */
  function idleSince(forgotten: readonly pg.PoolClient[]): pg.PoolClient[] {
    const since = Math.min(...forgotten.map((client) => watched.get(client)?.movedAt ?? 0));
    return [...watched].flatMap(([client, { movedAt }]) =>
      inside(client).readyForQuery && movedAt <= since ? [client] : [],
    );
  }

  const timer = setInterval(() => void look(), lookIntervalMs).unref();
  return { stop: () => clearInterval(timer) };
}

/** The server's side first, so that its locks are free when the work is done again. */
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
