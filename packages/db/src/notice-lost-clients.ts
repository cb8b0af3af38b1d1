import type pg from 'pg';

const patienceMs = 3000;

/** A setting that is left out stays as the server has it. */
export interface LostClientLimits {
  /** A client that is silent for so long in the middle of a transaction loses it, with its session. */
  idleInTransactionTimeoutMs?: number | undefined;
  /** How long a statement waits for a lock that others hold. */
  lockTimeoutMs?: number | undefined;
}

/**
 * Makes the server check every few seconds whether the other end of a new connection is still there, also during a
 * statement. A machine that lost its power or its network says nothing: without this the server would notice after two
 * hours, and hold the locks of the last transaction until then. A process that was stopped (SIGSTOP, a debugger, a
 * paused machine) still has its connection; only its silence tells.
 */
export async function noticeLostClients(client: pg.ClientBase, limits: LostClientLimits): Promise<void> {
  const settings: Record<string, string> = { ...keepAlive };
  if (limits.idleInTransactionTimeoutMs !== undefined) {
    settings.idle_in_transaction_session_timeout = String(limits.idleInTransactionTimeoutMs);
  }
  if (limits.lockTimeoutMs !== undefined) settings.lock_timeout = String(limits.lockTimeoutMs);
  try {
    const config: pg.QueryConfig & { query_timeout: number } = {
      text: 'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value)',
      values: [Object.keys(settings), Object.values(settings)],
      query_timeout: patienceMs,
    };
    await client.query(config);
  } catch (error) {
    // When a server or pooler does not know one of the settings, it is left out.
    if ((error as { severity?: unknown }).severity === undefined) throw error;
  }
}

/** Eleven seconds of silence at most. For a socket of the same machine there is nothing to set. */
const keepAlive = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  client_connection_check_interval: '5s',
};
