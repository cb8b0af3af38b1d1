import { effectiveLevel, environmentsOfCaller } from '@millrace/accounts/access';
import type { Transaction } from '@millrace/db';

/** The caller's level on each environment of a project; null where it is private to others. */
export async function levelsInProject(
  tx: Transaction,
  { userId, projectId }: { userId: number; projectId: number },
): Promise<{ id: number; level: number | null }[]> {
  return tx.query(
    `SELECT e.id, ${effectiveLevel} AS level FROM ${environmentsOfCaller} WHERE e.project_id = $2 ORDER BY e.id`,
    [userId, projectId],
  );
}
