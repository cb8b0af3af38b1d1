import type { SqlDatabase } from '@millrace/db/sql';
import { announcePartitions, createMonthPartition, type Month, monthOf } from './store.ts';

export interface EventPartitions {
  /** Makes sure that each of the times has a partition. Free of statements once a month is known. */
  ensure(timestampsMs: Iterable<number>): Promise<void>;
  /** What is known is asked for again: retention has dropped a partition. */
  forget(): void;
}

/** By then whoever was reading the list of partitions at the first announcement has read it. */
const againMs = 1000;

/**
 * The months of the `event` table that have a partition, as far as this process knows. Partitions are made outside the
 * batch's transaction: otherwise all other batches that need the partition would wait until this batch ends.
 */
export function createEventPartitions(database: Pick<SqlDatabase, 'transaction'>): EventPartitions {
  const known = new Set<string>();
  /** Partitions may be there that were not announced: the next batch does it. */
  let isInDoubt = false;

  async function create(months: Iterable<Month>): Promise<void> {
    let isToAnnounce = isInDoubt;
    isInDoubt = false;
    try {
      for (const one of months) {
        if (await database.transaction((tx) => createMonthPartition(tx, one))) isToAnnounce = true;
      }
      // Before any row goes into them, or a session that does not see them would show a part of what is stored.
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
        // The events of a batch are mostly of one month, so the calendar is only asked when the month changes.
        if (month !== null && timestampMs >= month.fromMs && timestampMs < month.toMs) continue;
        month = monthOf(timestampMs);
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
