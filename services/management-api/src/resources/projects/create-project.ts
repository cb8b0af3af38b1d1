import { createProject, setCurrentEnvironment } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { type Caller, isLimited } from '../../access/caller.ts';
import { requireAccessControlLevel } from '../environments/access-control-level.ts';

import type { ProjectChanges } from './project-schema.ts';

/**
 * Makes a project and its first environment, which is the caller's current one from now on, unless the key used is for
 * some places only.
 *
 * @returns the id of both.
 * @throws AppError as `createProject` does, or `forbidden` for `access_control`.
 */
export async function createProjectFor(
  tx: Transaction,
  caller: Caller,
  { organizationId, sent }: { organizationId: string; sent: ProjectChanges },
): Promise<number> {
  const { product_description: productDescription, ...settings } = sent;
  requireAccessControlLevel(caller, organizationId, settings);
  const { project } = await createProject(tx, { organizationId, settings, productDescription, actor: caller });
  if (!isLimited(caller)) await setCurrentEnvironment(tx, caller.userId, { organizationId, environmentId: project.id });
  return project.id;
}
