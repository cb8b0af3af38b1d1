// Creates, replaces and revokes the secret keys that servers use to evaluate an environment's feature flags.

import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { FieldChange } from '../activity/changed-fields.ts';
import { type Actor, getActorUserId } from '../activity/record-activity.ts';
import { isRowId, notFound } from '../input.ts';
import { hashPersonalApiKey, maskPersonalApiKey, newProjectSecretKeyValue } from '../keys/key-values.ts';
import { recordEnvironmentChange } from './change-environment.ts';
import { lockEnvironment, type StoredEnvironment } from './environment-store.ts';
import {
  deleteSecretKeys,
  insertPrimarySecretKey,
  type ProjectSecretKey,
  type SecretKeySlot,
  selectSecretKeys,
  turnPrimaryKeyIntoBackup,
} from './project-secret-key-store.ts';
import { getEnvironment } from './projects.ts';

interface SecretKeyChange {
  environmentId: number;
  actor: Actor;
}

export interface RolledSecretKey {
  keys: ProjectSecretKey[];
  /** The new key (`phs_…`). It is not stored, so show it to the user immediately. */
  value: string;
}

/** Field names in the activity log. They match the API's field names. */
const fieldOfSlot = { primary: 'secret_api_token', backup: 'secret_api_token_backup' } as const;

/**
 * Lists the masks of an environment's secret keys, primary first.
 * @throws AppError `not_found`
 */
export async function listProjectSecretKeys(sql: Sql, environmentId: number): Promise<ProjectSecretKey[]> {
  await getEnvironment(sql, environmentId);
  return selectSecretKeys(sql, environmentId);
}

/**
 * Creates the first secret key of an environment. Stores only its hash and mask.
 * @throws AppError `not_found`, or `conflict` if there is already a key, because replacing it must be explicit
 */
export async function createProjectSecretKey(tx: Transaction, change: SecretKeyChange): Promise<RolledSecretKey> {
  const environment = await lock(tx, change.environmentId);
  const keys = await selectSecretKeys(tx, change.environmentId);
  if (keys.some(({ slot }) => slot === 'primary')) {
    throw new AppError('conflict', 'The environment already has a secret key. Rotate it to get a new one.');
  }
  return addPrimary(tx, { ...change, environment }, 'created');
}

/**
 * Gives an environment a new secret key. The previous key stays valid as the backup, so that servers can switch. An
 * older backup becomes invalid.
 * @throws AppError `not_found`.
 */
export async function rollProjectSecretKey(tx: Transaction, change: SecretKeyChange): Promise<RolledSecretKey> {
  const environment = await lock(tx, change.environmentId);
  const keys = await selectSecretKeys(tx, change.environmentId);
  const hasPrimary = keys.some(({ slot }) => slot === 'primary');
  if (hasPrimary) {
    await deleteSecretKeys(tx, change.environmentId, ['backup']);
    await turnPrimaryKeyIntoBackup(tx, change.environmentId);
  }
  return addPrimary(tx, { ...change, environment }, hasPrimary ? 'changed' : 'created');
}

/**
 * Deletes the secret keys in the given slots. They become invalid immediately.
 * @returns the slots that had a key.
 * @throws AppError `not_found`.
 */
export async function revokeProjectSecretKeys(
  tx: Transaction,
  { slots, ...change }: SecretKeyChange & { slots: readonly SecretKeySlot[] },
): Promise<SecretKeySlot[]> {
  const environment = await lock(tx, change.environmentId);
  const removed = await deleteSecretKeys(tx, change.environmentId, slots);
  await record(
    tx,
    { ...change, environment },
    removed.map((slot) => ({ field: fieldOfSlot[slot], action: 'deleted' })),
  );
  return removed;
}

async function addPrimary(
  tx: Transaction,
  change: SecretKeyChange & { environment: StoredEnvironment },
  action: FieldChange['action'],
): Promise<RolledSecretKey> {
  const { environmentId, actor } = change;
  const value = newProjectSecretKeyValue();
  await insertPrimarySecretKey(tx, {
    environmentId,
    secureValue: hashPersonalApiKey(value),
    maskValue: maskPersonalApiKey(value),
    createdById: getActorUserId(actor),
  });
  await record(tx, change, [{ field: fieldOfSlot.primary, action }]);
  return { keys: await selectSecretKeys(tx, environmentId), value };
}

async function lock(tx: Transaction, environmentId: number): Promise<StoredEnvironment> {
  const environment = isRowId(environmentId) ? await lockEnvironment(tx, environmentId) : undefined;
  if (!environment) throw notFound('Environment');
  return environment;
}

/** The activity record does not contain any part of a key. */
async function record(
  tx: Transaction,
  { environment, actor }: SecretKeyChange & { environment: StoredEnvironment },
  changes: Pick<FieldChange, 'field' | 'action'>[],
): Promise<void> {
  await recordEnvironmentChange(tx, environment, {
    actor,
    changes: changes.map((change) => ({ type: 'Team', ...change, before: null, after: null })),
  });
}
