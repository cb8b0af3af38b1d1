// Drops old months of events from PostgreSQL after they have been copied to ClickHouse.

import type { Sql, Transaction } from '@millrace/db';
import { type ClickHouseClient, countCopiedEvents, isRebuilding, readCopiedUntil } from '@millrace/insights';
import { dropMonth, type RetentionDeps } from '../retention/retention.ts';
import { dropDetachedPartitions, listPartitionsBefore } from '../retention/store.ts';

const dayMs = 86_400_000;

/**
 * Drops months whose last event is older than `days`, if ClickHouse has all of their events: the copy must have passed
 * the stored time of every event, and the counts must be equal. Drops nothing while the ClickHouse table is rebuilt
 * from PostgreSQL.
 * @returns false, because the task never has more work immediately
 */
export async function dropCopiedMonths(
  deps: RetentionDeps & { client: ClickHouseClient },
  days: number,
  now = Date.now(),
): Promise<false> {
  const { client, logger } = deps;
  const { sql } = deps.database;
  await dropDetachedPartitions(sql);
  const { events: copiedUntil } = await readCopiedUntil(sql);
  if (copiedUntil === null || (await isRebuilding(sql))) return false;
  for (const partition of await listPartitionsBefore(sql, new Date(now - days * dayMs))) {
    if (await hasStoredSince(sql, partition, copiedUntil)) continue;
    const [inPostgres, inClickhouse] = [
      await countEvents(sql, partition),
      await countCopiedEvents(client, spanOf(partition)),
    ];
    if (inClickhouse < inPostgres) {
      logger.warn('keeping a month of events in PostgreSQL, because ClickHouse has fewer events', {
        partition,
        here: inPostgres,
        there: inClickhouse,
      });
      continue;
    }
    const isCopied = async (tx: Transaction, table: string) => {
      await tx.query("SET LOCAL statement_timeout = '500ms'");
      return !(await hasStoredSince(tx, table, copiedUntil));
    };
    await dropMonth(deps, partition, isCopied);
  }
  return false;
}

/** Returns a month's start and end. @param partition a name such as `event_2024_01` */
function spanOf(partition: string): { from: Date; to: Date } {
  const [year = 0, month = 0] = partition.split('_').slice(1).map(Number);
  return { from: new Date(Date.UTC(year, month - 1)), to: new Date(Date.UTC(year, month)) };
}

/**
 * Returns whether a partition contains an event that was stored since the given time. A small BRIN index makes this
 * query fast.
 * @param table a partition name from the catalog
 */
async function hasStoredSince(sql: Sql, table: string, time: Date): Promise<boolean> {
  return (await sql.query(`SELECT 1 FROM "${table}" WHERE created_at >= $1 LIMIT 1`, [time])).length > 0;
}

async function countEvents(sql: Sql, table: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(`SELECT count(*)::float8 AS count FROM "${table}"`);
  return row?.count ?? 0;
}
