import { AppError } from '@millrace/errors';
import { type Caller, isAdministrator } from '../../access/caller.ts';

/** Who may make an environment private is who administrates the organization, even if the value stays (2.8). */
export function requireAccessControlLevel(caller: Caller, organizationId: string, sent: Record<string, unknown>): void {
  if (sent.access_control === undefined) return;
  if (isAdministrator(caller, organizationId)) return;
  throw new AppError(
    'forbidden',
    'Your organization access level is insufficient to configure project access restrictions.',
  );
}
