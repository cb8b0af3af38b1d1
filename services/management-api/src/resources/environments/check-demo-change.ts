import {
  countEnvironments,
  countProjects,
  findIsDemo,
  lockOrganization,
  requireRoom,
  requireUncounted,
} from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type Caller, isAdministrator } from '../../access/caller.ts';

/**
 * Whether a change may turn demo data into a real environment, or the other way round: who does the first makes one more
 * that the plan counts, who does the second makes room for one. To be asked before anything else is held, because the
 * organization is always the first lock taken.
 *
 * @throws AppError `forbidden`, or `not_found` when it is gone by now.
 */
export async function checkDemoChange(
  tx: Transaction,
  caller: Caller,
  { target, sent }: { target: AddressedProject; sent: Record<string, unknown> },
): Promise<void> {
  if (typeof sent.is_demo !== 'boolean') return;
  const { environmentId, projectId, organizationId } = target;
  const { available_product_features: plan } = await lockOrganization(tx, organizationId);
  const isDemo = await findIsDemo(tx, environmentId);
  if (isDemo === undefined) throw new AppError('not_found', 'Not found.');
  if (isDemo === sent.is_demo) return;
  if (!isDemo) {
    requireUncounted(plan);
    return;
  }
  // Demo data is for everybody to make, everything else for who administrates the organization.
  if (!isAdministrator(caller, organizationId)) {
    throw new AppError('forbidden', 'Your organization access level is insufficient.');
  }
  const environments = await countEnvironments(tx, projectId);
  requireRoom(plan, 'environments', { ...environments, demo: environments.demo - 1 });
  if (environments.all > environments.demo) return;
  const projects = await countProjects(tx, organizationId);
  requireRoom(plan, 'projects', { ...projects, demo: projects.demo - 1 });
}
