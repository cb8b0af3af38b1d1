import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { notFound } from '../input/account-errors.ts';
import { isRowId } from '../input/account-input.ts';
import { changeEnvironment } from './change-environment.ts';
import { checkDescription } from './check-new-settings.ts';
import { listEnvironmentKeys, lockProject, updateProject } from './project-store.ts';

export interface ProjectChange {
  projectId: number;
  /** The one of its environments that `@current` stands for; the first one unless told. */
  environmentId?: number;
  /** Settings of that environment by their columns; a `name` renames both. */
  settings: Record<string, unknown>;
  /** Absent = as it was. */
  productDescription?: string | null | undefined;
  actor: Actor;
}

/**
 * Changes a project: its own name and description, everything else on its first environment, which is renamed with it.
 *
 * @returns the key of that environment.
 * @throws AppError as `changeEnvironment` does.
 */
export async function changeProject(
  tx: Transaction,
  { projectId, environmentId, settings, productDescription, actor }: ProjectChange,
): Promise<string> {
  // The project before its environment, here as in every other place that holds both.
  const before = isRowId(projectId) ? await lockProject(tx, projectId) : undefined;
  const environments = before ? await listEnvironmentKeys(tx, projectId) : [];
  const addressed = environments.find(({ id }) => environmentId === undefined || id === environmentId);
  if (!before || !addressed) throw notFound('Project');
  const { after: environment } = await changeEnvironment(tx, { environmentId: addressed.id, settings, actor });
  const own = {
    ...(settings.name !== undefined && { name: environment.name }),
    ...(productDescription !== undefined && { product_description: checkDescription(productDescription) }),
  };
  if (Object.keys(own).length === 0) return addressed.api_token;
  const after = await updateProject(tx, projectId, own);
  await recordActivity(tx, {
    organizationId: before.organization_id,
    environmentId: addressed.id,
    scope: 'Project',
    itemId: projectId,
    activity: 'updated',
    actor,
    name: typeof after.name === 'string' ? after.name : before.name,
    change: { before, after },
  });
  return addressed.api_token;
}
