import type pg from 'pg';
import { withArrayLiterals } from './array-literals.ts';
import { copyIn } from './copy-in.ts';
import { type Statements, sendPipelined } from './pg-internals/send-pipelined.ts';
import { createPlanAge } from './prepared-statements.ts';
import type { NameOf, Noting, RunTransaction, Sql, Transaction } from './transaction.ts';
import { isConnectionError } from './transient-error.ts';

/**
 * A plan that was made while a table was empty must not be kept: it would read the whole table until the server next
 * collects statistics. These settings prevent most of that. They do not decide which of two indexes of a small table is
 * used, so no plan is kept for long either.
 */
const beginLookups = `BEGIN;
  SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off;
  SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

export interface TransactionsOptions {
  noting: Noting;
  nameOf: NameOf;
  preparesLookups: boolean;
}

export function createTransactions(pool: pg.Pool, options: TransactionsOptions): RunTransaction {
  const { noting, preparesLookups } = options;
  const planAge = createPlanAge();
  const beginOn = (client: pg.PoolClient) => {
    if (!preparesLookups) return 'BEGIN';
    return planAge.isOld(client) ? `${beginLookups}; DISCARD PLANS` : beginLookups;
  };

  async function begin<First extends unknown[]>(
    client: pg.PoolClient,
    tx: Transaction,
    first: ((tx: Sql) => ReturnType<Statements<First>>) | undefined,
  ): Promise<First> {
    const statement = beginOn(client);
    const [, ...results] = await sendPipelined(client, () => [
      noting(() => client.query(statement)),
      ...(first === undefined ? [] : first(tx)),
    ]);
    return results as First;
  }

  return async (work, first) => {
    const client = await pool.connect();
    // Without a listener an error between two statements would end the process.
    const onError = () => {};
    client.on('error', onError);
    let isCommitted = false;
    const tx = transactionOn(client, options, () => {
      isCommitted = true;
    });
    let broken: Error | undefined;
    try {
      const result = await work(tx, await begin(client, tx, first));
      if (!isCommitted) await client.query('COMMIT');
      return result;
    } catch (error) {
      // On a lost connection PostgreSQL rolls back by itself, and asking for it could wait for the full query timeout.
      broken = isConnectionError(error)
        ? new Error('The connection was lost.', { cause: error })
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
      const values = given && withArrayLiterals(given);
      const name = preparesLookups && values !== undefined ? nameOf(text) : undefined;
      return noting(async () => (await client.query({ name, text, values })).rows);
    },
    copy: (statement, chunks) => noting(() => copyIn(client, statement, chunks)),
    pipeline: (send) => sendPipelined(client, send),
    async commitWith(send) {
      // After a failure among them the server takes it for a rollback.
      await sendPipelined(client, () => [...send(), noting(() => client.query('COMMIT'))]);
      committed();
    },
  };
}
