import type { SqlDatabase, Transaction } from '@millrace/db/sql';
import type { AppendTransport } from '../append/append-transport.ts';
import type { Reachability } from '../port/reachability.ts';
import { withDeadline } from '../port/with-deadline.ts';
import { AppendRefused } from './append-refused.ts';
import { appendBatches, readEnds } from './event-log-store.ts';

export interface PostgresTransportDeps {
  database: SqlDatabase;
  reachability: Reachability;
  sendTimeoutMs: number;
  /** Told the topics that have new records. */
  announce(topics: Iterable<string>): void;
  /** Done first in every transaction. */
  guard: ((tx: Transaction) => Promise<void>) | undefined;
}

/** Writes all batches of a request in one transaction: many calls of `append` share one commit. */
export function createPostgresTransport(deps: PostgresTransportDeps): AppendTransport {
  const { database, sendTimeoutMs } = deps;

  async function bounded<T>(work: Promise<T>, what: string): Promise<T> {
    try {
      const result = await withDeadline(work, sendTimeoutMs, what);
      deps.reachability.succeeded();
      return result;
    } catch (error) {
      if (!(error instanceof AppendRefused)) deps.reachability.failed(error);
      throw error;
    }
  }

  return {
    async leadersOf(topic) {
      const ends = await bounded(readEnds(database.sql, topic), 'reading the layout of a topic');
      if (ends.length === 0) throw new Error(`the topic ${topic} does not exist`);
      // One database, one leader: one transaction at a time per process, growing under load.
      return ends.map(() => 0);
    },

    async send(batches) {
      await bounded(
        database.transaction(async (tx) => {
          await deps.guard?.(tx);
          await appendBatches(tx, batches, sendTimeoutMs);
        }),
        'appending records',
      );
      deps.announce(new Set(batches.map(({ topic }) => topic)));
      return batches.map(() => null);
    },
  };
}
