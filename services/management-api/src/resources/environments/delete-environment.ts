import { deleteEnvironment, deleteProject, listEnvironmentKeys, lockProject } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { recordDeletion } from './record-deletion.ts';

/**
 * Removes an environment; with a project's last one the project goes, which is nothing without. The row is gone with the
 * commit, its ingested data is removed in the background (docs/api-rules.md#projects).
 *
 * @returns the keys that stop working.
 * @throws AppError `not_found` when it is gone by now.
 */
export async function removeEnvironment(
  tx: Transaction,
  caller: Caller,
  { environmentId, projectId }: AddressedProject,
): Promise<string[]> {
  const project = await lockProject(tx, projectId);
  const environments = project ? await listEnvironmentKeys(tx, projectId) : [];
  const environment = environments.find(({ id }) => id === environmentId);
  if (!project || !environment) throw new AppError('not_found', 'Not found.');
  const isLast = environments.length === 1;
  await recordDeletion(tx, caller, { scope: 'Team', organizationId: project.organization_id, ...environment });
  if (isLast)
    await recordDeletion(tx, caller, { scope: 'Project', organizationId: project.organization_id, ...project });
  if (isLast) await deleteProject(tx, projectId);
  else await deleteEnvironment(tx, environmentId);
  return [environment.api_token];
}
