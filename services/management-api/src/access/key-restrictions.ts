import { AppError } from '@millrace/errors';
import type { Caller } from './caller.ts';

/** Restrictions a key may carry beside its scopes (reference/management-api.md 2.6). All throw AppError `forbidden`. */

/** For routes that address no project: a key made for single projects has no business there. */
export function refuseProjectScopedKey(caller: Caller): void {
  if (caller.scopedTeams.length === 0) return;
  throw new AppError('forbidden', 'API keys with scoped projects are only supported on project-based endpoints.');
}

export function requireOrganizationInKey(caller: Caller, organizationId: string): void {
  if (caller.scopedOrganizations.length === 0 || caller.scopedOrganizations.includes(organizationId)) return;
  throw new AppError('forbidden', `API key does not have access to the requested organization: ID ${organizationId}.`);
}

export function requireProjectInKey(caller: Caller, environmentId: number): void {
  if (caller.scopedTeams.length === 0 || caller.scopedTeams.includes(environmentId)) return;
  throw new AppError('forbidden', `API key does not have access to the requested project: ID ${environmentId}.`);
}
