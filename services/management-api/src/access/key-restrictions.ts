import { isProjectInKey } from '@millrace/accounts/access';
import { AppError } from '@millrace/errors';
import type { Caller } from './caller.ts';

/** Restrictions of a key beside its scopes (docs/api-rules.md#personal-api-keys). All throw AppError `forbidden`. */

/** For routes that address no project: a key made for single projects has no business there. */
export function refuseProjectScopedKey(caller: Caller): void {
  if (caller.scopedTeams.length === 0) return;
  throw new AppError('forbidden', 'API keys with scoped projects are only supported on project-based endpoints.');
}

export function requireOrganizationInKey(caller: Caller, organizationId: string): void {
  if (caller.scopedOrganizations.length === 0 || caller.scopedOrganizations.includes(organizationId)) return;
  throw new AppError('forbidden', `API key does not have access to the requested organization: ID ${organizationId}.`);
}

/**
 * @param named the id by which the request named the project: a refusal shows no other, least of all that of the
 * organization behind it.
 */
export function requireProjectInKey(
  caller: Caller,
  found: { environmentIds: readonly number[]; organizationId: string },
  named: string | number,
): void {
  if (isProjectInKey(caller, found)) return;
  throw new AppError('forbidden', `API key does not have access to the requested project: ID ${named}.`);
}
