// What ClickHouse has and is old enough leaves PostgreSQL, by whole months.

import type { Sql, Transaction } from '@millrace/db';
import { type ClickHouseClient, countCopied, isRebuilding, readCopiedUntil } from '@millrace/insights';
import { dropMonth, type RetentionDeps } from '../retention/retention.ts';
import { dropDetached, listPartitionsBefore } from '../retention/store.ts';

const dayMs = 86_400_000;

/**
 * Drops months whose last event is older than these days and of which ClickHouse has every event: all of it was stored before what is
 * known to be copied, and there are as many there. Nothing is dropped while the table of ClickHouse is made anew from what is here.
 *
 * @returns that there is no more at once.
 */
export async function dropCopiedMonths(
  deps: RetentionDeps & { client: ClickHouseClient },
  days: number,
  now = Date.now(),
): Promise<false> {
  const { client, logger } = deps;
  const { sql } = deps.database;
  await dropDetached(sql);
  const copiedUntil = await readCopiedUntil(sql);
  if (copiedUntil === null || (await isRebuilding(sql))) return false;
  for (const partition of await listPartitionsBefore(sql, new Date(now - days * dayMs))) {
    if (await hasStoredSince(sql, partition, copiedUntil)) continue;
    const [here, there] = [await countEvents(sql, partition), await countCopied(client, spanOf(partition))];
    if (there < here) {
      logger.warn('keeping a month of events in PostgreSQL, because ClickHouse has fewer events', {
        ...{ partition, here, there },
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

/** The first moment of a month, and the first after it. @param partition `event_2024_01` */
function spanOf(partition: string): { from: Date; to: Date } {
  const [year = 0, month = 0] = partition.split('_').slice(1).map(Number);
  return { from: new Date(Date.UTC(year, month - 1)), to: new Date(Date.UTC(year, month)) };
}

/** Found by an index of a few pages (BRIN). @param table a name from the catalogue */
async function hasStoredSince(sql: Sql, table: string, time: Date): Promise<boolean> {
  return (await sql.query(`SELECT 1 FROM "${table}" WHERE created_at >= $1 LIMIT 1`, [time])).length > 0;
}

async function countEvents(sql: Sql, table: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(`SELECT count(*)::float8 AS count FROM "${table}"`);
  return row?.count ?? 0;
}
