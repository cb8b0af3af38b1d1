import type { Sql } from '@millrace/db';
import { deleteFormerKeys, deleteOldOutcomes } from './forget-store.ts';

const portion = 1000;
/** For records that wait in the log under a replaced key and carry no environment: longer than a log keeps records. */
const formerKeyDays = 90;

/**
 * Deletes what came of reports and runs after some days, and replaced project keys: lists stay short and the tables small.
 * @returns whether there may be more.
 */
export async function forgetOld(sql: Sql, days: number): Promise<boolean> {
  const outcomes = await deleteOldOutcomes(sql, { days, limit: portion });
  const keys = await deleteFormerKeys(sql, { days: formerKeyDays, limit: portion });
  return outcomes + keys > 0;
}
