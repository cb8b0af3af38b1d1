import { lockEnvironment, newProjectToken, recordActivity, updateEnvironment } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';

/**
 * Gives an environment a new project API key; the old one stops working at once. The record says that it happened and
 * shows neither key (docs/api-rules.md#environments).
 *
 * @returns the old key.
 * @throws AppError `not_found` when the environment is gone by now.
 */
export async function resetToken(
  tx: Transaction,
  caller: Caller,
  { environmentId, organizationId }: AddressedProject,
): Promise<string> {
  const before = await lockEnvironment(tx, environmentId);
  if (!before) throw new AppError('not_found', 'Not found.');
  await updateEnvironment(tx, environmentId, { api_token: newProjectToken() });
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: 'Team',
    itemId: environmentId,
    activity: 'updated',
    actor: caller,
    name: before.name,
    changes: [{ type: 'Team', action: 'changed', field: 'api_token', before: null, after: null }],
  });
  return before.api_token;
}
