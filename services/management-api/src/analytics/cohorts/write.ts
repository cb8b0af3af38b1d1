// Creates and changes cohorts. Checks the fields and the caller's access, and logs changes.

import { recordActivity } from '@millrace/accounts';
import { cutToCodePoints } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { requireKind, requireRecordAccess } from '../../access/record-rights.ts';
import { lockEnvironment } from '../../sql/lock-environment.ts';
import {
  applyCohortChanges,
  type CohortChanges,
  checkReferences,
  fillCohortDefaults,
  findCohortType,
  refuseDeletionInUse,
} from './rules.ts';
import {
  type CohortFields,
  type CohortRow,
  type CohortSource,
  findCohort,
  insertCohort,
  updateCohort,
} from './store.ts';

/**
 * Creates a cohort.
 * @throws AppError `invalid` naming the field
 */
export async function createCohort(
  tx: Transaction,
  author: CohortAuthor,
  { body, fillFrom }: { body: CohortChanges; fillFrom?: CohortSource },
): Promise<CohortRow> {
  const { environmentId } = author.target;
  const fields = fillCohortDefaults(body);
  requireKind(author.target.rights, 'cohort', 'editor');
  await requireReferencedRecords(tx, author.target, fields.filters, fields.query);
  await lockEnvironment(tx, environmentId);
  await checkReferences(tx, { environmentId, id: null }, fields);
  const id = await insertCohort(
    tx,
    { environmentId, userId: author.userId },
    { fields, cohortType: findCohortType(fields), ...(fillFrom && { fillFrom }) },
  );
  const after = await writtenCohort(tx, environmentId, id);
  await recordCohortActivity(tx, author, { after });
  return after;
}

/**
 * Changes only the given fields. Locks the environment, so that concurrent changes run one after the other.
 * @throws AppError `not_found`, or `invalid` naming the field
 */
export async function changeCohort(
  tx: Transaction,
  author: CohortAuthor,
  { id, changes }: { id: number; changes: CohortChanges },
): Promise<CohortRow> {
  const { environmentId } = author.target;
  await lockEnvironment(tx, environmentId);
  const before = await requireCohort(tx, author.target, { id, needed: 'editor' });
  const fields = applyCohortChanges(before, changes);
  const isDefined = [changes.filters, changes.groups, changes.query].some((sent) => sent !== undefined);
  if (isDefined) await requireReferencedRecords(tx, author.target, fields.filters, fields.query);
  if (fields.deleted && !before.deleted) await refuseDeletionInUse(tx, { environmentId, id });
  await checkReferences(tx, { environmentId, id }, fields);
  const isRecounted = membershipOf(fields) !== membershipOf(before);
  await updateCohort(tx, id, { fields, cohortType: findCohortType(fields), isRecounted });
  const after = await writtenCohort(tx, environmentId, id);
  await recordCohortActivity(tx, author, { before, after });
  return after;
}

/** Returns the fields that determine a cohort's members, as a string for comparison. */
function membershipOf({ filters, is_static, deleted }: CohortFields): string {
  return JSON.stringify([filters, is_static, deleted]);
}

/**
 * Finds a cohort and checks that the caller has the required access level.
 * @throws AppError `not_found` or `forbidden`
 */
export async function requireCohort(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { id, needed }: { id: number; needed: 'viewer' | 'editor' },
): Promise<CohortRow> {
  return requireRecordAccess(rights, { kind: 'cohort', needed }, await findCohort(sql, environmentId, id));
}

async function writtenCohort(tx: Transaction, environmentId: number, id: number): Promise<CohortRow> {
  const row = await findCohort(tx, environmentId, id);
  if (!row) throw new Error('The cohort was written but could not be read back.');
  return row;
}

const suffix = ' (static copy)';
const maxNameLength = 400;

/**
 * Creates a static copy of a dynamic cohort. The delivery worker fills the copy with the persons who belong to the
 * original.
 * @throws AppError `not_found`, or `invalid` for a static cohort
 */
export async function duplicateAsStatic(tx: Transaction, author: CohortAuthor, id: number): Promise<CohortRow> {
  const source = await requireCohort(tx, author.target, { id, needed: 'viewer' });
  if (source.is_static || source.deleted) {
    throw new AppError('invalid', 'Cannot duplicate a static cohort as a static cohort.', { code: 'invalid_input' });
  }
  const name = `${cutToCodePoints(source.name ?? '', maxNameLength - suffix.length)}${suffix}`;
  const body = { name, description: source.description, is_static: true };
  return createCohort(tx, author, { body, fillFrom: { cohort: id } });
}

/** Returns the fields that users can change. The activity log does not record calculation results. */
function visible({ name, description, groups, deleted, filters, query, is_static }: CohortRow) {
  return { name, description, groups, deleted, filters, query, is_static };
}

export interface CohortAuthor {
  userId: number;
  target: AddressedProject;
}

async function recordCohortActivity(
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

/** Records that the number of members changed. The activity record does not identify persons. */
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
