// Creates and changes feature flags. Applies all rules in one transaction, and records changes in the activity log.

import { isObject } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import type { ValidatedPatterns } from '@millrace/flags';
import { AppError } from '@millrace/runtime';
import type { AddressedProject } from '../../../access/addressed-store.ts';
import { type RecordRights, requireKind, requireRecordAccess } from '../../../access/record-rights.ts';
import { lockEnvironment } from '../../../sql/lock-environment.ts';
import { violatesConstraint } from '../../../sql/violates.ts';
import { type FlagFilters, filtersForAllUsers } from '../filters/filters.ts';
import { parseFlagFilters } from '../filters/parse.ts';
import { decryptFilters, type PayloadSecrets, readPayloads } from '../payloads.ts';
import { toFeatureFlag } from '../show.ts';
import { type FlagFields, type FlagRow, findFlag, insertFlag, updateFlag } from '../store.ts';
import { type FlagAuthor, recordFlagActivity } from './activity.ts';
import { checkDependents, checkGroupAggregation, checkReferences } from './references.ts';
import {
  applyFlagChanges,
  checkFlag,
  checkFlagLimits,
  type FlagChanges,
  fillFlagDefaults,
  type NewFlag,
  rejectConflictingEdit,
  renameEnrollment,
} from './rules.ts';

export interface FlagWriter extends FlagAuthor {
  environmentId: number;
  rights: RecordRights;
  secrets: PayloadSecrets;
  /** Patterns that were compiled in advance, so that the transaction does not wait for their compilation. */
  tried?: ValidatedPatterns;
}

/**
 * Creates a flag (docs/api/feature-flags.md). The key of a deleted flag can be used again.
 * @throws AppError `invalid` naming the field, or the problem in the filters
 */
export async function createFlag(tx: Transaction, writer: FlagWriter, body: NewFlag): Promise<FlagRow> {
  const { environmentId, rights } = writer;
  requireKind(rights, 'feature_flag', 'editor');
  await lockEnvironment(tx, environmentId);
  const filters = filtersOfNew(body, writer.tried);
  const fields: FlagFields = { ...fillFlagDefaults(body), filters };
  checkFlag(fields, null);
  await checkReferences(tx, { environmentId, id: null, key: fields.key, filters });
  const stored = sealed(fields, { writer, before: null });
  const id = await refusingTakenKey(() => insertFlag(tx, writer, stored));
  await checkFlagLimits(tx, environmentId);
  const after = await writtenFlag(tx, environmentId, id);
  await recordFlagActivity(tx, writer, { after });
  return after;
}

/**
 * Changes only the given fields.
 * @throws AppError `not_found`, `conflict` if another user changed the same field in the meantime, or `invalid` naming
 *   the problem
 */
export async function changeFlag(
  tx: Transaction,
  writer: FlagWriter,
  { id, changes }: { id: number; changes: FlagChanges },
): Promise<FlagRow> {
  const { environmentId, secrets, tried } = writer;
  await lockEnvironment(tx, environmentId);
  const before = await requireFlag(tx, writer, { id, needed: 'editor' });
  const shown = decryptFilters(before, secrets);
  rejectConflictingEdit(changes, toFeatureFlag(before, shown, true));
  const filters = changedFilters(changes, { stored: shown, tried });
  const changed = applyFlagChanges(before, changes);
  const fields = renameEnrollment({ ...changed, filters: filters ?? shown }, before.key);
  checkFlag(fields, before);
  if (filters !== null) {
    await checkGroupAggregation(tx, id, filters);
    await checkReferences(tx, { environmentId, id, key: fields.key, filters });
  }
  await checkDependents(tx, before, fields);
  await refusingTakenKey(() => updateFlag(tx, { id, userId: writer.userId }, sealed(fields, { writer, before })));
  if (filters !== null || (before.deleted && !fields.deleted)) await checkFlagLimits(tx, environmentId);
  const after = await writtenFlag(tx, environmentId, id);
  await recordFlagActivity(tx, writer, { before, after });
  return after;
}

/**
 * Returns the filters of a new flag. A flag without filters is on for everyone. A remote configuration is always on.
 */
function filtersOfNew(
  { filters: sent = filtersForAllUsers, is_remote_configuration }: NewFlag,
  tried: ValidatedPatterns | undefined,
): FlagFilters {
  if (is_remote_configuration !== true) return parseFlagFilters({ sent, stored: null, tried });
  const hasConditions = Array.isArray(sent.groups) && sent.groups.length > 0;
  const filters = parseFlagFilters({
    sent: hasConditions ? sent : { ...sent, ...filtersForAllUsers },
    stored: null,
    tried,
  });
  const groups = filters.groups.map((group) => ({ ...group, rollout_percentage: group.rollout_percentage || 100 }));
  return { ...filters, groups };
}

/** Returns the changed filters, or null if the request contains no filters. */
function changedFilters(
  { filters: sent }: FlagChanges,
  before: { stored: Record<string, unknown>; tried: ValidatedPatterns | undefined },
): FlagFilters | null {
  return sent === undefined || Object.keys(sent).length === 0 ? null : parseFlagFilters({ sent, ...before });
}

/** Returns the fields in their stored form. Encrypts the payloads if the flag requires it. */
function sealed(fields: FlagFields, { writer, before }: { writer: FlagWriter; before: FlagRow | null }): FlagFields {
  const { filters } = fields;
  if (fields.has_encrypted_payloads !== true || !isObject(filters.payloads)) return fields;
  const stored = before === null ? {} : readPayloads(before);
  const payloads = writer.secrets.seal(readPayloads(fields), { environmentId: writer.environmentId, stored });
  return { ...fields, filters: { ...filters, payloads } };
}

async function refusingTakenKey<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violatesConstraint(error, 'feature_flag_live_key')) throw error;
    const options = { code: 'unique', attr: 'key', cause: error };
    throw new AppError('invalid', 'There is already a feature flag with this key.', options);
  }
}

/** Reads a flag and checks the caller's access. @throws AppError `not_found` or `forbidden` */
export async function requireFlag(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { id, needed }: { id: number; needed: 'viewer' | 'editor' },
): Promise<FlagRow> {
  return requireRecordAccess(rights, { kind: 'feature_flag', needed }, await findFlag(sql, environmentId, id));
}

async function writtenFlag(tx: Transaction, environmentId: number, id: number): Promise<FlagRow> {
  const row = await findFlag(tx, environmentId, id);
  if (!row) throw new Error('The feature flag could not be read after it was written.');
  return row;
}
