import type { Database, Transaction } from '@millrace/db';

type OnStatement = (text: string, tx: Transaction) => void | Promise<void>;

/**
 * Wraps a database, and calls `onStatement` before each statement in a transaction. If `onStatement` throws, the
 * statement fails.
 */
export function watchedDatabase(
  database: Pick<Database, 'transaction'>,
  onStatement: OnStatement,
): Pick<Database, 'transaction'> {
  return {
    transaction: (work) => database.transaction((tx) => work(watched(tx, onStatement))),
  };
}

function watched(tx: Transaction, onStatement: OnStatement): Transaction {
  let last: Promise<unknown> = Promise.resolve();
  function oneByOne<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }
  const pipeline: Transaction['pipeline'] = async (send) => {
    const statements = send();
    await Promise.allSettled(statements);
    return Promise.all(statements) as never;
  };
  return {
    isTransaction: true,
    query: (text, values) =>
      oneByOne(async () => {
        await onStatement(text, tx);
        return tx.query(text, values);
      }),
    copy: (statement, chunks) =>
      oneByOne(async () => {
        await onStatement(statement, tx);
        return tx.copy(statement, chunks);
      }),
    pipeline,
    async commitWith(send) {
      await pipeline(send);
      await tx.commitWith(() => []);
    },
  };
}
