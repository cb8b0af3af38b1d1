// Creates, changes and deletes early access features, together with the feature flags that enable them.

import { recordActivity } from '@millrace/accounts';
import { isObject } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { type RecordRights, requireRecord, requireRecordAccess, toRecordName } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { lockEnvironment } from '../../sql/lock-environment.ts';
import { changeFlag, createFlag, type FlagWriter } from '../feature-flags/changes/write.ts';
import { type FlagRow, findFlag } from '../feature-flags/store.ts';
import { enrollmentFilters, type Stage, toFlagKey } from './rules.ts';
import type { featureChanges, newFeature } from './schema.ts';
import {
  deleteFeature,
  type FeatureFields,
  type FeatureRow,
  findFeature,
  hasFeature,
  insertFeature,
  updateFeature,
} from './store.ts';

export type FeatureChanges = Static<typeof featureChanges>;
export type NewFeature = Static<typeof newFeature>;

/**
 * The user who changes a feature, and this user's access to flags. The access is needed because the change can enable
 * the feature's flag.
 */
export interface FeatureWriter extends FlagWriter, Pick<Caller, 'scopes'> {
  rights: RecordRights;
}

export interface WrittenFeature {
  feature: FeatureRow;
  flag: FlagRow;
}

/**
 * Creates a feature. If the request does not name a flag, also creates a flag (docs/api/early-access-features.md).
 * @throws AppError `invalid` naming the field, or `forbidden` if the caller cannot change the flag
 */
export async function createFeature(tx: Transaction, writer: FeatureWriter, body: NewFeature): Promise<WrittenFeature> {
  const { environmentId } = writer;
  await lockEnvironment(tx, environmentId);
  const { feature_flag_id: flagId, name, stage, description = '', documentation_url = '' } = body;
  const fields: FeatureFields = { name, stage, description, documentation_url, payload: body.payload ?? {} };
  checkUrl(fields);
  checkPayload(fields);
  const found = flagId ? await findSuitableFlag(tx, writer, flagId) : await makeFlag(tx, writer, name);
  const id = await insertFeature(tx, { environmentId, flagId: found.id }, fields);
  const flag = await enroll(tx, writer, { flag: found, stage });
  const feature = await writtenFeature(tx, environmentId, id);
  await recordFeatureActivity(tx, writer, { after: feature });
  return { feature, flag };
}

/**
 * Changes only the given fields, and updates the flag to the feature's stage.
 * @throws AppError `not_found`, `invalid`, or `forbidden` if the flag would change and the caller cannot change it
 */
export async function changeFeature(
  tx: Transaction,
  writer: FeatureWriter,
  { id, changes }: { id: string; changes: FeatureChanges },
): Promise<WrittenFeature> {
  const { environmentId } = writer;
  await lockEnvironment(tx, environmentId);
  const before = await requireFeature(tx, writer, { id, needed: 'editor' });
  const payload = changes.payload === undefined ? before.payload : (changes.payload ?? {});
  const fields: FeatureFields = { ...before, ...changes, payload };
  checkUrl(fields);
  checkPayload(fields);
  await updateFeature(tx, id, fields);
  const stored = await requireFlag(tx, environmentId, before.feature_flag_id);
  const flag = await enroll(tx, writer, { flag: stored, stage: fields.stage });
  const feature = await writtenFeature(tx, environmentId, id);
  await recordFeatureActivity(tx, writer, { before, after: feature });
  return { feature, flag };
}

/**
 * Deletes a feature permanently. Keeps its flag, but removes the enrollment filters.
 * @throws AppError `not_found`, or `forbidden` if the flag would change and the caller cannot change it
 */
export async function removeFeature(tx: Transaction, writer: FeatureWriter, id: string): Promise<void> {
  const { environmentId } = writer;
  await lockEnvironment(tx, environmentId);
  const before = await requireFeature(tx, writer, { id, needed: 'editor' });
  await deleteFeature(tx, id);
  const flag = await requireFlag(tx, environmentId, before.feature_flag_id);
  await enroll(tx, writer, { flag, stage: null });
  await recordFeatureActivity(tx, writer, { before });
}

/**
 * Finds the flag for a new feature.
 * @throws AppError `invalid` for a flag that cannot belong to a feature, or `forbidden`
 */
async function findSuitableFlag(
  tx: Transaction,
  { environmentId, rights, scopes }: FeatureWriter,
  flagId: number,
): Promise<FlagRow> {
  requireScope({ scopes }, 'feature_flag:write');
  const refuse = (detail: string) =>
    new AppError('invalid', detail, { code: 'invalid_input', attr: 'feature_flag_id' });
  const flag = await findFlag(tx, environmentId, flagId);
  if (flag === undefined || flag.deleted) throw refuse('Feature Flag with this ID does not exist');
  requireRecord(rights, 'feature_flag', 'editor', toRecordName(flag));
  if (await hasFeature(tx, flagId)) {
    throw refuse(`Linked feature flag ${flag.key} already has a feature attached to it.`);
  }
  const { groups, aggregation_group_type_index: groupType, multivariate } = flag.filters;
  const conditions = Array.isArray(groups) ? groups.filter(isObject) : [];
  const isOfGroups = [groupType, ...conditions.map((one) => one.aggregation_group_type_index)].some(
    (one) => typeof one === 'number',
  );
  if (isOfGroups) throw refuse('Group-based feature flags are not supported for Early Access Features.');
  if (isObject(multivariate) && Array.isArray(multivariate.variants) && multivariate.variants.length > 0) {
    throw refuse('Multivariate feature flags are not supported for Early Access Features.');
  }
  return flag;
}

/** Creates a flag that is off for all users who have not enrolled. */
async function makeFlag(tx: Transaction, writer: FeatureWriter, name: string): Promise<FlagRow> {
  requireScope(writer, 'feature_flag:write');
  const key = toFlagKey(name);
  if (key === '') {
    const detail =
      'The name must contain an ASCII letter or digit, because the flag key is derived from it. Change the name, or set ' +
      '`feature_flag_id`.';
    throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'name' });
  }
  return createFlag(tx, writer, {
    key,
    name: `Feature Flag for Feature ${name}`,
    filters: { groups: [{ properties: [], rollout_percentage: 0 }] },
  });
}

/** Sets a flag's enrollment filters. Writes the flag only if the filters change. */
async function enroll(
  tx: Transaction,
  writer: FeatureWriter,
  { flag, stage }: { flag: FlagRow; stage: Stage | null },
): Promise<FlagRow> {
  const filters = enrollmentFilters(flag.key, stage);
  const isSame = (flag.filters.feature_enrollment ?? null) === filters.feature_enrollment;
  if (isSame) return flag;
  requireScope(writer, 'feature_flag:write');
  return changeFlag(tx, writer, { id: flag.id, changes: { filters } });
}

/** Checks that the documentation URL is empty or a web URL. @throws AppError `invalid` */
function checkUrl({ documentation_url: url }: FeatureFields): void {
  if (url === '') return;
  const isAddress = URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
  if (isAddress) return;
  throw new AppError('invalid', 'Enter a valid URL.', { code: 'invalid_input', attr: 'documentation_url' });
}

const maxPayloadBytes = 32 * 1024;

function checkPayload({ payload }: FeatureFields): void {
  if (Buffer.byteLength(JSON.stringify(payload)) <= maxPayloadBytes) return;
  throw new AppError('invalid', 'The payload must not exceed 32 KiB.', { code: 'max_length', attr: 'payload' });
}

/** Reads a feature and checks the caller's access. @throws AppError `not_found` or `forbidden` */
export async function requireFeature(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { id, needed }: { id: string; needed: 'viewer' | 'editor' },
): Promise<FeatureRow> {
  return requireRecordAccess(
    rights,
    { kind: 'early_access_feature', needed },
    await findFeature(sql, environmentId, id),
  );
}

async function writtenFeature(tx: Transaction, environmentId: number, id: string): Promise<FeatureRow> {
  const row = await findFeature(tx, environmentId, id);
  if (!row) throw new Error('The early access feature was written but could not be read back.');
  return row;
}

async function requireFlag(tx: Transaction, environmentId: number, id: number): Promise<FlagRow> {
  const row = await findFlag(tx, environmentId, id);
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}

async function recordFeatureActivity(
  tx: Sql,
  { userId, organizationId, environmentId }: FlagWriter,
  { before, after }: { before?: FeatureRow; after?: FeatureRow },
): Promise<void> {
  const row = after ?? before;
  if (row === undefined) return;
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'EarlyAccessFeature',
    itemId: row.id,
    activity: before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated',
    actor: { userId },
    name: row.name,
    ...(before && after && { change: { before: visible(before), after: visible(after) } }),
  });
}

function visible({ name, description, stage, documentation_url, payload }: FeatureRow) {
  return { name, description, stage, documentation_url, payload };
}
