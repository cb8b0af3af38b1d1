import type { environment } from '../generated/client.ts';
import type { AccountClient } from './account-client.ts';
import { answeringConstraints, notFound } from './account-errors.ts';
import { isRowId } from './account-input.ts';
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
  return answeringConstraints({ environment_project_id_fkey: (cause) => notFound('Project', cause) }, () =>
    client.environment.create({ data: { project_id: projectId, ...columns } }),
  );
}

/** Environments of a project by id; the first one shares the project's id. */
export async function listEnvironments(client: AccountClient, filter: { projectId: number }): Promise<environment[]> {
  return client.environment.findMany({ where: { project_id: filter.projectId }, orderBy: { id: 'asc' } });
}
