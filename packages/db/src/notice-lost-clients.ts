import type pg from 'pg';

const patienceMs = 3000;

/**
 * Has the server look whether the other end of a new connection is still there, every few seconds, also in the middle of a
 * statement. A machine that lost its power, or its network, says nothing; by itself the server would notice after two
 * hours, and hold the locks of its last transaction until then.
 */
export async function noticeLostClients(client: pg.ClientBase): Promise<void> {
  try {
    await client.query({ text: settings, query_timeout: patienceMs } as pg.QueryConfig);
  } catch (error) {
    // A server or pooler that does not know one of the settings does without.
    if ((error as { severity?: unknown }).severity === undefined) throw error;
  }
}

/** Eleven seconds of silence at most; over a socket of the same machine there is nothing to set. */
const settings = `SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false),
  set_config('tcp_keepalives_count', '3', false), set_config('client_connection_check_interval', '5s', false)`;
