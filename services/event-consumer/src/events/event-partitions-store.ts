import type { Transaction } from '@millrace/db/sql';

/** One month of the `event` table, UTC. */
export interface Month {
  /** Name of its partition, e.g. `event_2026_11`. */
  table: string;
  fromMs: number;
  /** The first moment after it. */
  toMs: number;
}

/** Everything older lies in the one partition `event_before_2015`, which the migration makes. */
const firstMonthMs = Date.UTC(2015, 0, 1);

/** The month a time falls into, or null when it is older than the first month. */
export function monthOf(timestampMs: number): Month | null {
  if (timestampMs < firstMonthMs) return null;
  const time = new Date(timestampMs);
  const year = time.getUTCFullYear();
  const month = time.getUTCMonth();
  return {
    table: `event_${year}_${String(month + 1).padStart(2, '0')}`,
    fromMs: Date.UTC(year, month, 1),
    toMs: Date.UTC(year, month + 1, 1),
  };
}

/**
 * Adds the month's partition unless it is there. The table is made beside the parent and then attached: unlike
 * `CREATE TABLE ... PARTITION OF` this never locks the parent against readers and writers. The advisory lock makes
 * processes that need the same month take turns.
 */
export async function createMonthPartition(tx: Transaction, month: Month): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [partitionLock]);
  const [attached] = await tx.query(
    `SELECT 1 FROM pg_inherits WHERE inhparent = 'event'::regclass AND inhrelid = to_regclass($1)`,
    [month.table],
  );
  if (attached !== undefined) return;
  // Names and bounds come from `monthOf` only: digits, dashes and a fixed prefix.
  await tx.query(`CREATE TABLE IF NOT EXISTS "${month.table}" (LIKE event INCLUDING ALL)`);
  await tx.query(
    `ALTER TABLE event ATTACH PARTITION "${month.table}"
       FOR VALUES FROM ('${isoTime(month.fromMs)}') TO ('${isoTime(month.toMs)}')`,
  );
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Any number no other advisory lock of the product uses. */
const partitionLock = 620_150_101;
