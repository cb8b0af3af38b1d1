// Finds the organization in a request path, and the caller's membership in it.

import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { organizationExists } from './addressed-store.ts';
import {
  type Caller,
  getVisibleOrganizationIds,
  type Membership,
  refuseProjectScopedKey,
  requireOrganizationInKey,
} from './caller.ts';
export const organizationParams = Type.Object({
  organization_id: Type.String({ description: 'ID (UUID) of the organization, or `@current`.' }),
});

/**
 * Creates a function that returns the caller's membership in the organization in the path. `@current` is the first
 * organization that the caller joined, among those that the key can access. The returned function throws AppError
 * `not_found` for an unknown organization, and `forbidden` for an organization that the caller does not belong to
 * (docs/api/access.md#levels).
 */
export function addressedOrganization(sql: Sql) {
  return async (
    { caller, params }: { caller: Caller; params: { organization_id: string } },
    { isProjectBased = false } = {},
  ): Promise<Membership> => {
    // If the path also contains a project, a later check compares that project with the key's limits.
    if (!isProjectBased) refuseProjectScopedKey(caller);
    if (params.organization_id === '@current') return currentMembership(caller);
    const organizationId = params.organization_id.toLowerCase();
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(organizationId)) throw unknownOrganization();
    const membership = caller.memberships.find((candidate) => candidate.organizationId === organizationId);
    if (membership) {
      requireOrganizationInKey(caller, organizationId);
      return membership;
    }
    if (!(await organizationExists(sql, organizationId))) throw unknownOrganization();
    throw new AppError('forbidden', 'You do not have permission to perform this action.');
  };
}

function currentMembership(caller: Caller): Membership {
  const [organizationId] = getVisibleOrganizationIds(caller);
  const membership = caller.memberships.find((candidate) => candidate.organizationId === organizationId);
  if (membership) return membership;
  throw new AppError('not_found', 'Current organization not found.');
}

function unknownOrganization(): AppError {
  return new AppError('not_found', 'Organization not found.');
}
