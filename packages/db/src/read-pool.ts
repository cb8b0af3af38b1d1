// A read-only connection pool for large queries, with limits on time, memory and result size.

import pg from 'pg';
import { createConfigReader, openPool, type PoolOptions } from './open-pool.ts';
import { buildUserSqlBegin, sqlRole, type UserSqlSafeguards, userSqlSafeguardsQuery } from './sql-role.ts';

export interface ReadLimits {
  /** A signal that aborts when the rows are no longer needed. */
  signal: AbortSignal;
  maxMs: number;
  /** The maximum size of a query's result in bytes, as the server sends it. */
  maxBytes: number;
  /**
   * Whether a user wrote the SQL. If true, it runs in a read-only transaction, with a role that can read only a few
   * tables.
   */
  isUserSql?: boolean;
}

/** Read-only connections for large queries. Requests that do not need them use a different pool. */
export interface ReadPool {
  /**
   * Runs one query, and calls `each` with each row's column values as soon as the row arrives. If the query is aborted
   * or exceeds a limit, the server stops it before this function returns.
   * @throws ReadLimitExceeded, the signal's reason, or the driver's error
   */
  read(text: string, values: unknown[], limits: ReadLimits, each: (row: unknown[]) => void): Promise<void>;
  stop(): Promise<void>;
}

export class ReadLimitExceeded extends Error {
  readonly limit: 'time' | 'memory' | 'bytes';

  constructor(limit: 'time' | 'memory' | 'bytes', options?: ErrorOptions) {
    super(`The query exceeded its limit of ${limit}.`, options);
    this.limit = limit;
  }
}

/** The SQLSTATEs for a query that was cancelled or too slow, and for one that exhausted temporary files or memory. */
const outOfTime = '57014';
const outOfMemory = new Set(['53400', '53200', '53100']);

const settings = {
  default_transaction_read_only: 'on',
  work_mem: '32MB',
  // JIT compilation costs more than it saves for queries that take less than a second.
  jit: 'off',
  timezone: 'UTC',
};

export function createReadPool(options: Omit<PoolOptions, 'settings' | 'queryTimeoutMs'>): ReadPool {
  const config = createConfigReader(options);
  const pool = openPool(config, { ...options, settings, queryTimeoutMs: 0 });
  // A separate connection for cancelling queries, which is available even if all query connections are busy.
  const control = openPool(config, { ...options, poolSize: 1, statementTimeoutMs: 5000 });
  const barriers = createBarriers(options.logger);

  return {
    async read(text, values, limits, each) {
      const { signal, maxMs } = limits;
      signal.throwIfAborted();
      const client = await pool.connect();
      const stopped: { why: 'aborted' | 'time' | 'bytes' | null } = { why: null };
      let cancelling: Promise<unknown> | undefined;
      let hasFailed = false;
      const stop = (why: 'aborted' | 'time' | 'bytes') => {
        stopped.why ??= why;
        cancelling ??= control.query('SELECT pg_cancel_backend($1)', [processIdOf(client)]).catch(() => {});
      };
      const onAbort = () => stop('aborted');
      const timer = setTimeout(() => stop('time'), maxMs);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      try {
        if (limits.isUserSql) await client.query(buildUserSqlBegin(await barriers(client)));
        await readRows(client, { text, values, maxBytes: limits.maxBytes, each, stop });
        if (stopped.why !== null) throw new Error('Stopped.');
        if (limits.isUserSql) await client.query('COMMIT');
      } catch (error) {
        hasFailed = true;
        if (stopped.why === 'aborted') signal.throwIfAborted();
        if (stopped.why === 'time' || stopped.why === 'bytes')
          throw new ReadLimitExceeded(stopped.why, { cause: error });
        const code = String((error as { code?: unknown }).code);
        if (code === outOfTime) throw new ReadLimitExceeded('time', { cause: error });
        if (outOfMemory.has(code)) throw new ReadLimitExceeded('memory', { cause: error });
        throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        await cancelling;
        // Close a connection whose query was cancelled, because a late cancellation could otherwise stop its next
        // query.
        let isBroken = cancelling !== undefined;
        if (hasFailed && limits.isUserSql && !isBroken)
          isBroken = await client.query('ROLLBACK').then(
            () => false,
            () => true,
          );
        client.release(isBroken);
      }
    },
    async stop() {
      await Promise.all([pool.end(), control.end()]);
    },
  };
}

/** A missing role or privilege is checked again after this time, because an operator may have granted it. */
const recheckAfterMs = 60_000;

/** Determines which safeguards for user SQL the server supports. Logs once if the role is missing. */
function createBarriers(logger: PoolOptions['logger']): (client: pg.PoolClient) => Promise<UserSqlSafeguards> {
  let known: UserSqlSafeguards | null = null;
  let checkedAt = 0;
  let isLogged = false;
  return async (client) => {
    if (known?.hasRole || (known !== null && performance.now() - checkedAt < recheckAfterMs)) return known;
    const { rows } = await client.query<UserSqlSafeguards>(userSqlSafeguardsQuery);
    known = rows[0] ?? { hasRole: false, canLimitFiles: false };
    checkedAt = performance.now();
    if (!known.hasRole && !isLogged) {
      isLogged = true;
      logger.warn(
        `SQL queries run without the database role ${sqlRole}. Run "millrace migrate" with a user that may create roles, or see docs/operations/install.md`,
      );
    }
    return known;
  };
}

function processIdOf(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID;
}

interface Reading {
  text: string;
  values: unknown[];
  maxBytes: number;
  each: (row: unknown[]) => void;
  stop: (why: 'bytes') => void;
}

function readRows(client: pg.PoolClient, { text, values, maxBytes, each, stop }: Reading): Promise<void> {
  return new Promise((resolve, reject) => {
    // Without a listener, a broken connection would crash the process.
    const onError = (error: Error) => reject(error);
    client.on('error', onError);
    let bytes = 0;
    let failure: unknown;
    const config: pg.QueryArrayConfig = { text, values, rowMode: 'array' };
    const query = new pg.Query<unknown[]>(config);
    query.on('row', (row: unknown) => {
      if (failure !== undefined || bytes > maxBytes) return;
      bytes += sizeOf(row as unknown[]);
      if (bytes > maxBytes) return stop('bytes');
      try {
        each(row as unknown[]);
      } catch (error) {
        failure = error;
        stop('bytes');
      }
    });
    query.on('error', (error) => settle(() => reject(failure ?? error)));
    query.on('end', () => settle(() => (failure === undefined ? resolve() : reject(failure))));
    client.query(query);

    function settle(how: () => void): void {
      client.off('error', onError);
      how();
    }
  });
}

function sizeOf(row: unknown[]): number {
  let size = 8 * row.length;
  for (const value of row) size += typeof value === 'string' ? value.length : Array.isArray(value) ? sizeOf(value) : 8;
  return size;
}
