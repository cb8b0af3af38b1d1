import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { takeChunks } from './copy-format.ts';
import { copyPipelined, sendPipelined } from './pg-internals/send-pipelined.ts';
import { createPlanExpiry, toArrayLiterals } from './statements.ts';
import type { FindStatementName, RunStatement, RunTransaction, Transaction } from './transaction.ts';
import { isConnectionError } from './transient-error.ts';

/**
 * While a table is empty, PostgreSQL plans to read the whole table, and it would reuse this plan until it next collects
 * statistics. These settings prevent most such plans. They do not affect which of two indexes of a small table
 * PostgreSQL uses, so plans are also discarded regularly.
 */
const beginLookups = `BEGIN;
  SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off;
  SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

export interface TransactionsOptions {
  noting: RunStatement;
  nameOf: FindStatementName;
  preparesLookups: boolean;
}

export function createTransactions(pool: pg.Pool, options: TransactionsOptions): RunTransaction {
  const { noting, preparesLookups } = options;
  const planExpiry = createPlanExpiry();
  const beginOn = (client: pg.PoolClient) => {
    if (!preparesLookups) return 'BEGIN';
    return planExpiry.isDue(client) ? `${beginLookups}; DISCARD PLANS` : beginLookups;
  };

  return async (work) => {
    const client = await pool.connect();
    // Without a listener, a connection error between two statements would crash the process.
    const onError = () => {};
    client.on('error', onError);
    let isCommitted = false;
    const tx = transactionOn(client, options, () => {
      isCommitted = true;
    });
    let broken: Error | undefined;
    try {
      const statement = beginOn(client);
      await noting(() => client.query(statement));
      const result = await work(tx);
      if (!isCommitted) await client.query('COMMIT');
      return result;
    } catch (error) {
      // If the connection is lost, PostgreSQL rolls back automatically. Sending ROLLBACK could take as long as the
      // query timeout.
      broken = isConnectionError(error)
        ? new Error('The connection to PostgreSQL was lost.', { cause: error })
        : await client.query('ROLLBACK').then(
            () => undefined,
            (rollbackError: Error) => rollbackError,
          );
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  };
}

function transactionOn(
  client: pg.PoolClient,
  { noting, nameOf, preparesLookups }: TransactionsOptions,
  committed: () => void,
): Transaction {
  return {
    isTransaction: true,
    query: (text, given) => {
      const values = given && toArrayLiterals(given);
      const name = preparesLookups && values !== undefined ? nameOf(text) : undefined;
      return noting(async () => (await client.query({ name, text, values })).rows);
    },
    copy: (statement, chunks) => noting(() => copyIn(client, statement, chunks)),
    pipeline: (send) => sendPipelined(client, send),
    async commitWith(send) {
      // If a statement fails, the server treats this COMMIT as ROLLBACK.
      await sendPipelined(client, () => [...send(), noting(() => client.query('COMMIT'))]);
      committed();
    },
  };
}

/**
 * Up to this size in bytes, all chunks of a copy are collected and sent together. Larger copies are streamed as fast as
 * the server accepts them.
 */
const maxBytesAtOnce = 8 * 1024 * 1024;

/**
 * Appends rows with COPY, which costs the server less than an INSERT of the same rows. After the first megabytes,
 * chunks are created only as fast as the server accepts them, so that few of them are in memory even if rows are very
 * large.
 * @param chunks the output of `copyRows` (copy-format.ts), or text, depending on the statement's format
 */
async function copyIn(client: pg.ClientBase, statement: string, chunks: Iterable<Buffer>): Promise<void> {
  const rest = chunks[Symbol.iterator]();
  const { taken, isAll } = takeChunks(rest, maxBytesAtOnce);
  await (isAll ? copyPipelined(client, statement, taken) : copyStream(client, statement, taken, rest));
}

async function copyStream(
  client: pg.ClientBase,
  statement: string,
  first: Buffer[],
  rest: Iterator<Buffer>,
): Promise<void> {
  function* all(): Generator<Buffer> {
    for (let chunk = first.shift(); chunk !== undefined; chunk = first.shift()) yield chunk;
    for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
  }
  await pipeline(
    Readable.from(all(), { objectMode: true, highWaterMark: 1 }),
    client.query(copyStreams.from(statement)),
  );
}
