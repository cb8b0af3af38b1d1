import {
  checkSettings,
  lockEnvironment,
  recordActivity,
  type StoredEnvironment,
  updateEnvironment,
} from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { mergeSettings } from './merge-settings.ts';

/**
 * Writes the sent settings, and nothing else, of an environment. The row is held meanwhile, so that changes of different
 * settings at the same moment all stay (a merged one included).
 *
 * @returns the environment before, for its key.
 * @throws AppError `invalid` naming the field, `forbidden` for `access_control`, `not_found` when it is gone by now.
 */
export async function changeEnvironment(
  tx: Transaction,
  caller: Caller,
  { target, sent }: { target: AddressedProject; sent: Record<string, unknown> },
): Promise<StoredEnvironment> {
  requireAccessControlLevel(caller, target.organizationId, sent);
  const settings = checkSettings(sent);
  const before = await lockEnvironment(tx, target.environmentId);
  if (!before) throw new AppError('not_found', 'Not found.');
  if (Object.keys(settings).length === 0) return before;
  const isSwitched = settings.access_control !== undefined && settings.access_control !== before.access_control;
  const after = await updateEnvironment(tx, target.environmentId, {
    ...mergeSettings(before, settings),
    // Whoever opens or shuts an environment does so for everybody alike.
    ...(isSwitched && { default_access_level: null }),
  });
  await recordActivity(tx, {
    organizationId: target.organizationId,
    environmentId: target.environmentId,
    scope: 'Team',
    itemId: target.environmentId,
    activity: 'updated',
    actor: caller,
    name: typeof after.name === 'string' ? after.name : before.name,
    change: { before, after, secret: ['slack_incoming_webhook'] },
  });
  return before;
}

/** Who may make an environment private is who administrates the organization, even if the value stays (2.8). */
export function requireAccessControlLevel(caller: Caller, organizationId: string, sent: Record<string, unknown>): void {
  if (sent.access_control === undefined) return;
  const membership = caller.memberships.find((candidate) => candidate.organizationId === organizationId);
  if (membership && membership.level >= membershipLevels.administrator) return;
  throw new AppError(
    'forbidden',
    'Your organization access level is insufficient to configure project access restrictions.',
  );
}
