import type { Transaction } from '@millrace/db';
import type { Actor } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { newProjectToken } from '../keys/key-values.ts';
import { lockEnvironment, updateEnvironment } from './environment-store.ts';
import { recordEnvironmentChange } from './record-environment-change.ts';

/**
 * Gives an environment a new project API key; the old one stops working at once. The record says that it happened and
 * shows neither key (docs/api-rules.md#environments).
 *
 * @returns the old key.
 * @throws AppError `not_found`.
 */
export async function resetToken(
  tx: Transaction,
  { environmentId, actor }: { environmentId: number; actor: Actor },
): Promise<string> {
  const before = await lockEnvironment(tx, environmentId);
  if (!before) throw notFound('Environment');
  await updateEnvironment(tx, environmentId, { api_token: newProjectToken() });
  await recordEnvironmentChange(tx, before, {
    actor,
    changes: [{ type: 'Team', action: 'changed', field: 'api_token', before: null, after: null }],
  });
  return before.api_token;
}
