// Removes projects and environments, and requests the deletion of their data.

import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { isRowId, notFound } from '../input.ts';
import { deleteEnvironment } from './environment-store.ts';
import {
  deleteProject,
  findProjectOfEnvironment,
  listEnvironmentKeys,
  lockProject,
  type StoredProject,
} from './project-store.ts';

export interface RemovedEnvironment {
  id: number;
  name: string;
  api_token: string;
}

/**
 * Removes an environment. If it is the project's last environment, also removes the project. The event data is deleted
 * in the background.
 * @throws AppError `not_found`
 */
export async function removeEnvironment(
  tx: Transaction,
  { environmentId, actor }: { environmentId: number; actor: Actor },
): Promise<RemovedEnvironment> {
  const projectId = isRowId(environmentId) ? await findProjectOfEnvironment(tx, environmentId) : undefined;
  // As everywhere, lock the project before its environments.
  const project = projectId === undefined ? undefined : await lockProject(tx, projectId);
  const environments = project ? await listEnvironmentKeys(tx, project.id) : [];
  const environment = environments.find(({ id }) => id === environmentId);
  if (!project || !environment) throw notFound('Environment');
  const isLast = environments.length === 1;
  await recordRemoval(tx, project, { scope: 'Team', ...environment, actor });
  if (isLast) await recordRemoval(tx, project, { scope: 'Project', ...project, actor });
  if (isLast) await deleteProject(tx, project.id);
  else await deleteEnvironment(tx, environmentId);
  return environment;
}

/**
 * Removes a project with all its environments, like `removeEnvironment`.
 *
 * @param requireRemovable called while the project is locked. Throws an error if the project must not be removed.
 * @throws AppError `not_found`
 */
export async function removeProject(
  tx: Transaction,
  { projectId, actor, requireRemovable }: { projectId: number; actor: Actor; requireRemovable?: () => Promise<void> },
): Promise<{ project: StoredProject; environments: RemovedEnvironment[] }> {
  const project = isRowId(projectId) ? await lockProject(tx, projectId) : undefined;
  if (!project) throw notFound('Project');
  await requireRemovable?.();
  const environments = await listEnvironmentKeys(tx, projectId);
  for (const environment of environments) await recordRemoval(tx, project, { scope: 'Team', ...environment, actor });
  await recordRemoval(tx, project, { scope: 'Project', ...project, actor });
  await deleteProject(tx, projectId);
  return { project, environments };
}

async function recordRemoval(
  tx: Transaction,
  { organization_id: organizationId }: StoredProject,
  { scope, id, name, actor }: { scope: 'Team' | 'Project'; id: number; name: string; actor: Actor },
): Promise<void> {
  await recordActivity(tx, {
    organizationId,
    environmentId: id,
    scope,
    itemId: id,
    activity: 'deleted',
    actor,
    name,
  });
}
