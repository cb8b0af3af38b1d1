import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { recordActivity } from '../activity/record-activity.ts';
import { deleteEnvironment } from './environment-write-store.ts';
import { levelsInProject } from './project-reach-store.ts';
import { deleteProject, listEnvironmentKeys, lockProject } from './project-write-store.ts';

/**
 * Removes an environment; with a project's last one the project goes, which is nothing without. The row is gone with the
 * commit, its ingested data is removed in the background (reference/management-api.md sections 7 and 14).
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

/**
 * Removes a project with all its environments, as `removeEnvironment` does. Who may not remove each of them may not remove
 * the project.
 * @returns the keys that stop working.
 * @throws AppError `not_found` when it is gone by now, `forbidden` when an environment of it is not the caller's to remove.
 */
export async function removeProject(tx: Transaction, caller: Caller, projectId: number): Promise<string[]> {
  const project = await lockProject(tx, projectId);
  if (!project) throw new AppError('not_found', 'Not found.');
  await requireAllEnvironments(tx, caller, projectId);
  const organizationId = project.organization_id;
  const environments = await listEnvironmentKeys(tx, projectId);
  for (const environment of environments) {
    await recordDeletion(tx, caller, { scope: 'Team', organizationId, ...environment });
  }
  await recordDeletion(tx, caller, { scope: 'Project', organizationId, ...project });
  await deleteProject(tx, projectId);
  return environments.map(({ api_token }) => api_token);
}

/** The path names the project, by which only its first environment was asked about. */
async function requireAllEnvironments(tx: Transaction, caller: Caller, projectId: number): Promise<void> {
  for (const { id, level } of await levelsInProject(tx, { userId: caller.userId, projectId })) {
    if (caller.scopedTeams.length > 0 && !caller.scopedTeams.includes(id)) {
      throw new AppError('forbidden', 'API key does not have access to all environments of the project.');
    }
    if ((level ?? 0) < membershipLevels.administrator) {
      throw new AppError('forbidden', 'Your organization access level is insufficient.');
    }
  }
}

async function recordDeletion(
  tx: Transaction,
  caller: Caller,
  { scope, organizationId, id, name }: { scope: 'Team' | 'Project'; organizationId: string; id: number; name: string },
): Promise<void> {
  await recordActivity(tx, {
    organizationId,
    environmentId: id,
    scope,
    itemId: id,
    activity: 'deleted',
    actor: caller,
    name,
  });
}
