import type { Sql } from '@millrace/db';
import { deleteOldOutcomes } from './forget-store.ts';

const portion = 1000;

/** Deletes what came of reports and runs after some days: lists stay short and the tables small. @returns whether there may be more. */
export async function forgetOld(sql: Sql, days: number): Promise<boolean> {
  return (await deleteOldOutcomes(sql, { days, limit: portion })) > 0;
}
