import { deleteProject, listEnvironmentKeys, lockProject } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Caller } from '../../access/caller.ts';
import { recordDeletion } from '../environments/record-deletion.ts';
import { levelsInProject } from './project-reach-store.ts';

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
