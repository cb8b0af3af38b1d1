import type { environment, project } from '@millrace/db';
import type { AccountClient } from '../input/account-client.ts';
import { answeringConstraints, notFound } from '../input/account-errors.ts';
import { checkText, isUuid } from '../input/account-input.ts';
import { defaultFiltersOf } from './default-filters-of.ts';
import { type NewEnvironmentSettings, newEnvironmentColumns } from './environment-settings.ts';
import { nextProjectOrEnvironmentId } from './next-id-store.ts';

export interface NewProject extends NewEnvironmentSettings {
  organizationId: string;
  /** At most 1000 characters. */
  productDescription?: string | null;
}

/**
 * Creates a project and its first environment. Both have the same id and name; the environment owns the API token and
 * the settings (docs/architecture.md#data). One statement group: either both exist afterwards or neither.
 *
 * @throws AppError `invalid` naming the field, or `not_found` for the organization.
 */
export async function createProject(
  client: AccountClient,
  input: NewProject,
): Promise<{ project: project; environment: environment }> {
  const { organizationId, productDescription, ...settings } = input;
  const columns = newEnvironmentColumns(settings);
  const description =
    productDescription == null
      ? null
      : checkText('product_description', productDescription, { maxLength: 1000, isBlankAllowed: true });
  if (!isUuid(organizationId)) throw notFound('Organization');
  const filters = await defaultFiltersOf(client, organizationId, columns.is_demo);
  const id = await nextProjectOrEnvironmentId(client);
  const { environments, ...created } = await answeringConstraints(
    { project_organization_id_fkey: (cause) => notFound('Organization', cause) },
    () =>
      client.project.create({
        data: {
          id,
          organization_id: organizationId,
          name: columns.name,
          product_description: description,
          environments: { create: { id, ...columns, test_account_filters: filters } },
        },
        include: { environments: true },
      }),
  );
  const [environment] = environments;
  if (!environment) throw new Error('A project was created without its environment.');
  return { project: created, environment };
}

/** By id; all projects, or those of one organization, each with its environments. */
export async function listProjects(
  client: AccountClient,
  filter: { organizationId?: string } = {},
): Promise<(project & { environments: environment[] })[]> {
  const { organizationId } = filter;
  return client.project.findMany({
    where: organizationId === undefined ? {} : { organization_id: organizationId },
    include: { environments: { orderBy: { id: 'asc' } } },
    orderBy: { id: 'asc' },
  });
}
