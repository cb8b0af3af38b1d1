// Creates and deletes the secret keys (`phs_…`) that servers use to read flag definitions
// (docs/api/projects.md#secret-keys). The command line follows the same rules (packages/accounts).

import {
  listProjectSecretKeys,
  type ProjectSecretKey,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from '@millrace/accounts';
import type { Sql, Transaction } from '@millrace/db';
import type { SecretFields } from './schema.ts';
import type { AddressedRecord } from './show.ts';

export async function listSecretKeys(sql: Sql, environmentId: number): Promise<SecretFields> {
  return toSecretFields(await listProjectSecretKeys(sql, environmentId));
}

/** @returns the new key, and the masked previous key */
export async function rotateSecretKey(tx: Transaction, { caller, target }: AddressedRecord): Promise<SecretFields> {
  const { environmentId } = target;
  const { keys, value } = await rollProjectSecretKey(tx, { environmentId, actor: caller });
  return { ...toSecretFields(keys), secret_api_token: value };
}

export async function deleteBackupKey(tx: Transaction, { caller, target }: AddressedRecord): Promise<void> {
  const { environmentId } = target;
  await revokeProjectSecretKeys(tx, { environmentId, slots: ['backup'], actor: caller });
}

function toSecretFields(keys: readonly ProjectSecretKey[]): SecretFields {
  const maskOf = (slot: ProjectSecretKey['slot']) => keys.find((key) => key.slot === slot)?.mask_value ?? null;
  return { secret_api_token: maskOf('primary'), secret_api_token_backup: maskOf('backup') };
}
