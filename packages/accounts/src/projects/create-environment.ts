import type { Transaction } from '@millrace/db';
import type { Actor } from '../activity/record-activity.ts';
import { lockOrganization } from '../organizations/lock-organization-store.ts';
import { checkNewSettings } from './check-new-settings.ts';
import { createWithDefaults } from './create-with-defaults.ts';
import type { StoredEnvironment } from './environment-store.ts';
import { isBoundByPlan, requireEnvironmentRoom } from './plan-room.ts';
import { organizationOfProject } from './projects.ts';

export interface NewEnvironment {
  projectId: number;
  /** By their columns. */
  settings?: Record<string, unknown>;
  actor: Actor;
}

/**
 * Adds an environment with its own id and key to a project.
 * @throws AppError `invalid` naming the field, `not_found` for the project, or `forbidden` when the plan of a user
 * has no room.
 */
export async function createEnvironment(
  tx: Transaction,
  { projectId, settings: given = {}, actor }: NewEnvironment,
): Promise<StoredEnvironment> {
  const settings = checkNewSettings(given);
  const organizationId = await organizationOfProject(tx, projectId);
  const { available_product_features: plan } = await lockOrganization(tx, organizationId);
  const isDemo = settings.is_demo === true;
  if (isBoundByPlan(actor)) await requireEnvironmentRoom(tx, { organizationId, projectId, plan, isDemo });
  return createWithDefaults(tx, { organizationId, projectId, id: null, settings, actor });
}
