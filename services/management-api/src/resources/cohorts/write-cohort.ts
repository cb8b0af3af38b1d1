import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { checkReferences, refuseDeletionInUse } from './check-cohort.ts';
import { type CohortChanges, cohortTypeOf, fieldsOfNew, withChanges } from './cohort-fields.ts';
import type { CohortFields, CohortRow } from './cohort-row.ts';
import { type CohortSource, findCohort, insertCohort, lockCohortsOf, updateCohort } from './cohort-store.ts';
import { type CohortAuthor, recordCohortActivity } from './record-cohort-activity.ts';

/** Makes a cohort. @throws AppError `invalid` naming the field. */
export async function createCohort(
  tx: Transaction,
  author: CohortAuthor,
  { body, fillFrom }: { body: CohortChanges; fillFrom?: CohortSource },
): Promise<CohortRow> {
  const { environmentId } = author.target;
  const fields = fieldsOfNew(body);
  await lockCohortsOf(tx, environmentId);
  await checkReferences(tx, { environmentId, id: null }, fields);
  const id = await insertCohort(
    tx,
    { environmentId, userId: author.userId },
    { fields, cohortType: cohortTypeOf(fields), ...(fillFrom && { fillFrom }) },
  );
  const after = await foundCohort(tx, environmentId, id);
  await recordCohortActivity(tx, author, { after });
  return after;
}

/**
 * Changes what is sent and leaves the rest; one change after the other.
 * @throws AppError `not_found`, or `invalid` naming the field.
 */
export async function changeCohort(
  tx: Transaction,
  author: CohortAuthor,
  { id, changes }: { id: number; changes: CohortChanges },
): Promise<CohortRow> {
  const { environmentId } = author.target;
  await lockCohortsOf(tx, environmentId);
  const before = await foundCohort(tx, environmentId, id);
  const fields = withChanges(before, changes);
  if (fields.deleted && !before.deleted) await refuseDeletionInUse(tx, { environmentId, id });
  await checkReferences(tx, { environmentId, id }, fields);
  const isRecounted = membershipOf(fields) !== membershipOf(before);
  await updateCohort(tx, id, { fields, cohortType: cohortTypeOf(fields), isRecounted });
  const after = await foundCohort(tx, environmentId, id);
  await recordCohortActivity(tx, author, { before, after });
  return after;
}

/** What decides who belongs to it. */
function membershipOf({ filters, is_static, deleted }: CohortFields): string {
  return JSON.stringify([filters, is_static, deleted]);
}

/** @throws AppError `not_found`. */
export async function foundCohort(tx: Transaction, environmentId: number, id: number): Promise<CohortRow> {
  const row = await findCohort(tx, environmentId, id);
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}
