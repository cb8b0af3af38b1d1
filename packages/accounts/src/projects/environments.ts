import type { environment } from '@millrace/db';
import type { AccountClient } from '../input/account-client.ts';
import { answeringConstraints, notFound } from '../input/account-errors.ts';
import { isRowId } from '../input/account-input.ts';
import { defaultFiltersOf } from './default-filters-of.ts';
import { type NewEnvironmentSettings, newEnvironmentColumns } from './environment-settings.ts';

export interface NewEnvironment extends NewEnvironmentSettings {
  projectId: number;
}

/**
 * Adds an environment with its own id and API token to a project.
 * @throws AppError `invalid` naming the field, or `not_found` for the project.
 */
export async function createEnvironment(client: AccountClient, input: NewEnvironment): Promise<environment> {
  const { projectId, ...settings } = input;
  const columns = newEnvironmentColumns(settings);
  if (!isRowId(projectId)) throw notFound('Project');
  const project = await client.project.findUnique({ where: { id: projectId }, select: { organization_id: true } });
  if (!project) throw notFound('Project');
  const filters = await defaultFiltersOf(client, project.organization_id, columns.is_demo);
  // Deleted meanwhile.
  return answeringConstraints({ environment_project_id_fkey: (cause) => notFound('Project', cause) }, () =>
    client.environment.create({ data: { project_id: projectId, ...columns, test_account_filters: filters } }),
  );
}

/** Environments of a project by id; the first one shares the project's id. */
export async function listEnvironments(client: AccountClient, filter: { projectId: number }): Promise<environment[]> {
  return client.environment.findMany({ where: { project_id: filter.projectId }, orderBy: { id: 'asc' } });
}
