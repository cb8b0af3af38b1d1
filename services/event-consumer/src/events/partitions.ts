// Creates the event table's monthly partitions before a new month's events are stored.

import type { SqlDatabase } from '@millrace/db/sql';
import { announcePartitions, createMonthPartition, findMonth, type Month } from './store.ts';

export interface EventPartitions {
  /** Ensures that the month of each time has a partition. Sends no statement for months that are in the cache. */
  ensure(timestampsMs: Iterable<number>): Promise<void>;
  /** Clears the cache. Called after retention has dropped a partition. */
  forget(): void;
}

/**
 * The delay in milliseconds before the announcement is repeated. Sessions that were reading the list of partitions at
 * the first announcement have finished by then.
 */
const againMs = 1000;

/**
 * Creates monthly partitions of the `event` table when they are needed, and caches which partitions exist. A partition
 * is created outside of the batch's transaction. Otherwise, all other batches that need the partition would wait until
 * the transaction ends.
 */
export function createEventPartitions(database: Pick<SqlDatabase, 'transaction'>): EventPartitions {
  const known = new Set<string>();
  /** Whether a partition may have been created without being announced. If so, the next batch announces all partitions. */
  let isInDoubt = false;

  async function create(months: Iterable<Month>): Promise<void> {
    let isToAnnounce = isInDoubt;
    isInDoubt = false;
    try {
      for (const one of months) {
        if (await database.transaction((tx) => createMonthPartition(tx, one))) isToAnnounce = true;
      }
      // Announce the partitions before rows are inserted. Otherwise, sessions that do not see a partition would miss
      // some of its rows.
      if (!isToAnnounce) return;
      await database.transaction(announcePartitions);
      setTimeout(announceAgain, againMs).unref();
    } catch (error) {
      isInDoubt = true;
      throw error;
    }
  }

  function announceAgain(): void {
    database.transaction(announcePartitions).catch(() => {
      isInDoubt = true;
    });
  }

  return {
    async ensure(timestampsMs) {
      const missing = new Map<string, Month>();
      let month: Month | null = null;
      for (const timestampMs of timestampsMs) {
        // Most events in a batch are from the same month, so this check avoids most calendar computations.
        if (month !== null && timestampMs >= month.fromMs && timestampMs < month.toMs) continue;
        month = findMonth(timestampMs);
        if (month !== null && !known.has(month.table)) missing.set(month.table, month);
      }
      if (missing.size === 0 && !isInDoubt) return;
      await create(missing.values());
      for (const table of missing.keys()) known.add(table);
    },
    forget() {
      known.clear();
      isInDoubt = true;
    },
  };
}
