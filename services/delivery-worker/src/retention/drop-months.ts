import type { Database } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import { detachPartition, dropDetached, listPartitionsBefore } from './partition-store.ts';
import { findCommonEnd } from './retention-store.ts';

export interface RetentionDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  logger: Logger;
}

/**
 * Drops the oldest month that no environment keeps any more: a thousand times cheaper than deleting its rows. One that is in use
 * is left for later, so that writers wait for a fifth of a second at most.
 *
 * @param installationDays how long events are kept at most; 0: for ever.
 * @returns whether there may be more at once.
 */
export async function dropMonths({ database, logger }: RetentionDeps, installationDays: number): Promise<boolean> {
  const { sql } = database;
  await dropDetached(sql);
  const end = await findCommonEnd(sql, installationDays);
  const [partition] = end === null ? [] : await listPartitionsBefore(sql, end);
  if (partition === undefined) return false;
  try {
    await database.transaction((tx) => detachPartition(tx, partition));
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    logger.info('a month that is not kept any more is in use and is dropped later', { partition });
    return false;
  }
  await dropDetached(sql);
  logger.info('a month that is not kept any more was dropped', { partition });
  return true;
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}
