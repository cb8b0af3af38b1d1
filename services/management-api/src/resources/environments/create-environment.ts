import { createEnvironment, setCurrentEnvironment } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { type Caller, isLimited } from '../../access/caller.ts';
import { requireAccessControlLevel } from './access-control-level.ts';

/**
 * Adds an environment to a project. The caller's current one is the new one from now on, unless the key used is for some
 * places only.
 *
 * @returns its id.
 * @throws AppError as `createEnvironment` does, or `forbidden` for `access_control`.
 */
export async function createEnvironmentFor(
  tx: Transaction,
  caller: Caller,
  { organizationId, projectId, sent }: { organizationId: string; projectId: number; sent: Record<string, unknown> },
): Promise<number> {
  requireAccessControlLevel(caller, organizationId, sent);
  const { id } = await createEnvironment(tx, { projectId, settings: sent, actor: caller });
  if (!isLimited(caller)) await setCurrentEnvironment(tx, caller.userId, { organizationId, environmentId: id });
  return id;
}
