import { recordActivity } from '@millrace/accounts';
import type { Sql } from '@millrace/db';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { CohortRow } from './cohort-row.ts';

/** Fields a person may change. Counting is nobody's doing. */
function visible({ name, description, groups, deleted, filters, query, is_static }: CohortRow) {
  return { name, description, groups, deleted, filters, query, is_static };
}

export interface CohortAuthor {
  userId: number;
  target: AddressedProject;
}

/** Records who made, changed or deleted a cohort, in the transaction that does it. */
export async function recordCohortActivity(
  tx: Sql,
  { userId, target }: CohortAuthor,
  { before, after }: { before?: CohortRow; after: CohortRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId: target.organizationId,
    environmentId: target.environmentId,
    scope: 'Cohort',
    itemId: after.id,
    activity: before === undefined ? 'created' : after.deleted && !before.deleted ? 'deleted' : 'updated',
    actor: { userId },
    name: after.name,
    ...(before && { change: { before: visible(before), after: visible(after) } }),
  });
}

/** Records that members came or went: how many, not who. */
export async function recordMemberActivity(
  tx: Sql,
  { userId, target }: CohortAuthor,
  { cohort, before, after }: { cohort: CohortRow; before: number; after: number },
): Promise<void> {
  await recordActivity(tx, {
    organizationId: target.organizationId,
    environmentId: target.environmentId,
    scope: 'Cohort',
    itemId: cohort.id,
    activity: 'updated',
    actor: { userId },
    name: cohort.name,
    change: { before: { count: before }, after: { count: after } },
  });
}
