import type { Database, Transaction } from '@millrace/db';

/** A database whose transactions tell of each statement before it runs; what `onStatement` throws is its failure. */
export function watchedDatabase(
  database: Pick<Database, 'transaction'>,
  onStatement: (text: string, tx: Transaction) => void | Promise<void>,
): Pick<Database, 'transaction'> {
  return { transaction: (work) => database.transaction((tx) => work(watched(tx, onStatement))) };
}

function watched(tx: Transaction, onStatement: (text: string, tx: Transaction) => void | Promise<void>): Transaction {
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, also those that are asked for at once. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  }
  const all = async (send: () => Promise<unknown>[]) => {
    const statements = send();
    await Promise.allSettled(statements);
    await Promise.all(statements);
  };
  return {
    isTransaction: true,
    query: (text, values) =>
      inTurn(async () => {
        await onStatement(text, tx);
        return tx.query(text, values);
      }),
    copy: (statement, chunks) =>
      inTurn(async () => {
        await onStatement(statement, tx);
        return tx.copy(statement, chunks);
      }),
    atOnce: all,
    async commitWith(send) {
      await all(send);
      await tx.commitWith(() => []);
    },
  };
}
