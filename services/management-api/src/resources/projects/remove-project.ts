import { removeProject } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Caller } from '../../access/caller.ts';
import { levelsInProject } from './project-reach-store.ts';

/**
 * Removes a project with all its environments. Who may not remove each of them may not remove the project.
 *
 * @returns the keys that stop working.
 * @throws AppError as `removeProject` does, or `forbidden` when an environment of it is not the caller's to remove.
 */
export async function removeProjectFor(tx: Transaction, caller: Caller, projectId: number): Promise<string[]> {
  const requireRemovable = () => requireAllEnvironments(tx, caller, projectId);
  const { environments } = await removeProject(tx, { projectId, actor: caller, requireRemovable });
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
