import type { Sql, Transaction } from '@millrace/db';

/** Months whose partition ends at or before a time, oldest first: `event_2024_01`. */
export async function listPartitionsBefore(sql: Sql, end: Date): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT name FROM (SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                        WHERE i.inhparent = 'event'::regclass AND c.relname ~ '^event_\\d{4}_\\d{2}$') AS months
      WHERE (to_date(right(name, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC' <= $1::timestamptz
      ORDER BY name`,
    [end],
  );
  return rows.map(({ name }) => name);
}

/** The consumer takes it while it makes a month (event-partitions-store.ts there). */
const partitionLock = 620_150_101;

/**
 * Takes a month out of the table, under a name by which `dropDetached` finds it. Only the catalogue is written, but for that
 * moment nobody may read or write events: it waits for 90 ms at most for each of the two locks it needs, that of all events
 * and that of the month, while whoever comes later waits behind it.
 *
 * Not CONCURRENTLY: that waits for readers without being in their way, but leaves a half-detached partition behind when
 * it is interrupted, to which nothing can be written and which somebody has to finish.
 *
 * @throws PostgreSQL's `lock_not_available` when somebody reads or writes for longer.
 */
export async function detachPartition(tx: Transaction, name: string): Promise<void> {
  await tx.query("SET LOCAL lock_timeout = '90ms'");
  await tx.query('SELECT pg_advisory_xact_lock($1)', [partitionLock]);
  await tx.query(`ALTER TABLE event DETACH PARTITION "${name}"`);
  await tx.query(`ALTER TABLE "${name}" RENAME TO "${name.replace('event_', 'event_expired_')}"`);
}

/** Drops what was detached, here or by a worker that died before it came to that. Nobody reads it any more. */
export async function dropDetached(sql: Sql): Promise<void> {
  const rows = await sql.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relname ~ '^event_expired_\\d{4}_\\d{2}$' AND relkind = 'r'",
  );
  for (const { name } of rows) await sql.query(`DROP TABLE IF EXISTS "${name}"`);
}
