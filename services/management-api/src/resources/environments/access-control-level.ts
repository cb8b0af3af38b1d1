import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { Caller } from '../../access/caller.ts';

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
