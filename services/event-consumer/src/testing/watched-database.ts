import type { Database, Transaction } from '@millrace/db';

/** A database whose transactions tell of each statement before it runs; what `onStatement` throws is its failure. */
export function watchedDatabase(
  database: Pick<Database, 'transaction'>,
  onStatement: (text: string, tx: Transaction) => void | Promise<void>,
): Pick<Database, 'transaction'> {
  return {
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          isTransaction: true,
          async query(text, values) {
            await onStatement(text, tx);
            return tx.query(text, values);
          },
          async copy(statement, lines) {
            await onStatement(statement, tx);
            return tx.copy(statement, lines);
          },
        }),
      ),
  };
}
