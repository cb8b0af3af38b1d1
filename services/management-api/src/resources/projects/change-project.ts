import { lockProject, recordActivity, updateProject } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { changeEnvironment } from '../environments/change-environment.ts';

/**
 * Changes a project (docs/api-rules.md#projects): its own name and description, everything else on its first
 * environment, which is renamed with it.
 *
 * @returns the first environment's key.
 * @throws AppError as `changeEnvironment` does.
 */
export async function changeProject(
  tx: Transaction,
  caller: Caller,
  { target, sent }: { target: AddressedProject; sent: Record<string, unknown> },
): Promise<string> {
  const { product_description: description, ...settings } = sent;
  // The project before its environment, here as in every other place that holds both.
  const before = await lockProject(tx, target.projectId);
  if (!before) throw new AppError('not_found', 'Not found.');
  const { api_token: token } = await changeEnvironment(tx, caller, { target, sent: settings });
  const own = {
    ...(sent.name !== undefined && { name: sent.name }),
    ...(description !== undefined && { product_description: description }),
  };
  if (Object.keys(own).length === 0) return token;
  const after = await updateProject(tx, target.projectId, own);
  await recordActivity(tx, {
    organizationId: target.organizationId,
    environmentId: target.environmentId,
    scope: 'Project',
    itemId: target.projectId,
    activity: 'updated',
    actor: caller,
    name: typeof after.name === 'string' ? after.name : before.name,
    change: { before, after },
  });
  return token;
}
