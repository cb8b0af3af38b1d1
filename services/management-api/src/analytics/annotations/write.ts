// Creates and changes annotations. Checks the fields and the caller's access, and records the change in the activity
// log.

import { recordActivity } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { parseDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { findRecord, hasRecordLevel } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import type { annotationChanges } from './schema.ts';
import {
  type AnnotationFields,
  type AnnotationRow,
  type AnnotationScope,
  annotationScopes,
  findAnnotation,
  insertAnnotation,
  lockAnnotation,
  updateAnnotation,
} from './store.ts';

type Changes = Static<typeof annotationChanges>;

interface Author {
  caller: Caller;
  place: AddressedProject;
}

const fieldsOfNew: AnnotationFields = {
  content: null,
  date_marker: null,
  scope: 'dashboard_item',
  creation_type: 'USR',
  emoji: null,
  hidden_in_user_interface: null,
  deleted: false,
  dashboard_item: null,
  dashboard_id: null,
};

/**
 * Creates an annotation.
 * @throws AppError `invalid` naming the field, or `forbidden` for a key without permission to read the insight or
 * dashboard
 */
export async function createAnnotation(tx: Transaction, author: Author, body: Changes): Promise<AnnotationRow> {
  const { caller, place } = author;
  const fields = withChanges(fieldsOfNew, body);
  await checkParents(tx, author, body);
  const id = await insertAnnotation(tx, { environmentId: place.environmentId, userId: caller.userId }, fields);
  const after = await foundAnnotation(tx, place, id);
  await recordAnnotationActivity(tx, author, { after });
  return after;
}

/**
 * Changes only the given fields. Locks the row, so that concurrent changes to different fields do not overwrite each
 * other.
 * @throws AppError `not_found`, `forbidden` for an annotation of another project, or `invalid` naming the field
 */
export async function changeAnnotation(
  tx: Transaction,
  author: Author,
  { id, changes }: { id: number; changes: Changes },
): Promise<AnnotationRow> {
  const { place } = author;
  const isOwn = await lockAnnotation(tx, place.environmentId, id);
  const before = await foundAnnotation(tx, place, id);
  if (!isOwn) {
    throw new AppError('forbidden', 'This annotation belongs to another project. Change it in that project.');
  }
  await checkParents(tx, author, changes);
  await updateAnnotation(tx, id, withChanges(before, changes));
  const after = await foundAnnotation(tx, place, id);
  await recordAnnotationActivity(tx, author, { before, after });
  return after;
}

function withChanges(
  before: AnnotationFields,
  { scope, date_marker: marker, emoji, ...changes }: Changes,
): AnnotationFields {
  return {
    ...before,
    ...changes,
    ...(scope !== undefined && { scope: parseScope(scope) }),
    ...(marker !== undefined && { date_marker: marker === null ? null : parseDateTime(marker) }),
    ...(emoji !== undefined && { emoji: emoji || null }),
  };
}

/** @throws AppError `invalid` naming `scope` */
function parseScope(text: string): AnnotationScope {
  const scope = annotationScopes.find((known) => known === text);
  if (scope !== undefined) return scope;
  const detail = text === 'recording' ? 'Recording scope is deprecated' : `"${text}" is not a valid choice.`;
  throw new AppError('invalid', detail, {
    code: text === 'recording' ? 'invalid_input' : 'invalid_choice',
    attr: 'scope',
  });
}

/**
 * Checks the insight and the dashboard of an annotation.
 * @throws AppError `invalid` for an insight or dashboard that the caller cannot see, or `forbidden` if the key lacks
 *   the scope for it
 */
async function checkParents(tx: Transaction, { caller, place }: Author, changes: Changes): Promise<void> {
  const parents = [
    { attr: 'dashboard_item', kind: 'insight', id: changes.dashboard_item, detail: 'Insight not found.' },
    { attr: 'dashboard_id', kind: 'dashboard', id: changes.dashboard_id, detail: 'Dashboard not found.' },
  ] as const;
  for (const { attr, kind, id, detail } of parents) {
    if (id === undefined || id === null) continue;
    requireScope(caller, `${kind}:read`);
    const record = await findRecord(tx, place.environmentId, { kind, id });
    if (record === undefined || !hasRecordLevel(place.rights, kind, 'viewer', record)) {
      throw new AppError('invalid', detail, { code: 'invalid_input', attr });
    }
  }
}

async function foundAnnotation(tx: Transaction, place: AddressedProject, id: number): Promise<AnnotationRow> {
  const row = await findAnnotation(tx, place, id);
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}

async function recordAnnotationActivity(
  tx: Transaction,
  { caller, place }: Author,
  { before, after }: { before?: AnnotationRow; after: AnnotationRow },
): Promise<void> {
  const { environmentId, organizationId } = place;
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'Annotation',
    itemId: after.id,
    activity: before === undefined ? 'created' : 'updated',
    actor: { userId: caller.userId },
    name: after.content?.slice(0, 200) ?? null,
    ...(before && { change: { before: writtenFields(before), after: writtenFields(after) } }),
  });
}

function writtenFields(row: AnnotationRow): AnnotationFields {
  const names = Object.keys(fieldsOfNew) as (keyof AnnotationFields)[];
  return Object.fromEntries(names.map((name) => [name, row[name]])) as unknown as AnnotationFields;
}
