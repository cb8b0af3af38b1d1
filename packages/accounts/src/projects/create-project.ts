import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { lockOrganization } from '../organizations/lock-organization-store.ts';
import { checkDescription, checkNewSettings } from './check-new-settings.ts';
import { createWithDefaults } from './create-with-defaults.ts';
import type { StoredEnvironment } from './environment-store.ts';
import { isBoundByPlan, requireProjectRoom } from './plan-room.ts';
import { insertProject, type StoredProject } from './project-store.ts';

export interface NewProject {
  organizationId: string;
  /** Settings of its first environment by their columns; `name` is the name of both. */
  settings?: Record<string, unknown>;
  /** At most 1000 characters. */
  productDescription?: string | null | undefined;
  actor: Actor;
}

/**
 * Makes a project and its first environment, which share an id and a name. The
 * environment owns the API token and the settings.
 *
 * @throws AppError `invalid` naming the field, `not_found` for the organization, or `forbidden` when the plan has no room.
 */
export async function createProject(
  tx: Transaction,
  { organizationId, settings: given = {}, productDescription, actor }: NewProject,
): Promise<{ project: StoredProject; environment: StoredEnvironment }> {
  const settings = checkNewSettings(given);
  const description = checkDescription(productDescription);
  // Two who make the last one a plan allows come one after the other.
  const { available_product_features: plan } = await lockOrganization(tx, organizationId);
  const isDemo = settings.is_demo === true;
  if (isBoundByPlan(actor)) await requireProjectRoom(tx, { organizationId, plan, isDemo });
  const project = await insertProject(tx, { organizationId, name: settings.name, description });
  const { id, name } = project;
  await recordActivity(tx, {
    ...{ organizationId, environmentId: id, scope: 'Project', itemId: id },
    ...{ activity: 'created', actor, name },
  });
  const environment = await createWithDefaults(tx, { organizationId, projectId: id, id, settings, actor });
  return { project, environment };
}
