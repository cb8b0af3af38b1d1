// Rules that prevent a personal API key from creating or changing keys with more permissions than its own.

import { includesScope, isScopeName } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/** The projects and organizations that a key is limited to. An empty list means no limit. */
export interface KeyReach {
  scoped_teams: readonly number[];
  scoped_organizations: readonly string[];
}

export interface KeyPermissions extends KeyReach {
  scopes: readonly string[];
  expires_at: Date | null;
}

/**
 * Checks that another key has no more permissions than the caller's key. Without this check, a leaked key with few
 * permissions could be used to create a key with all permissions. In PostHog, keys cannot create keys at all.
 * @throws AppError `forbidden`
 */
export function requireNotBroader(own: KeyPermissions, other: KeyPermissions): void {
  const isWithin =
    other.scopes.every(
      (scope) => own.scopes.includes(scope) || (isScopeName(scope) && includesScope(own.scopes, scope)),
    ) &&
    isWithinReach(own, other) &&
    (own.expires_at === null || (other.expires_at !== null && other.expires_at <= own.expires_at));
  if (!isWithin) throw exceedsOwnPermissions();
}

/**
 * Checks only the projects and organizations of a key. Runs before the requested projects and organizations are looked
 * up, so that the response does not reveal whether they exist.
 * @throws AppError `forbidden`
 */
export function requireReachWithin(own: KeyReach, other: KeyReach): void {
  if (!isWithinReach(own, other)) throw exceedsOwnPermissions();
}

/** Returns true if the key `own` can access all projects and organizations that the key `other` can access. */
export function isWithinReach(own: KeyReach, other: KeyReach): boolean {
  return (
    isNarrower(own.scoped_teams, other.scoped_teams) && isNarrower(own.scoped_organizations, other.scoped_organizations)
  );
}

function exceedsOwnPermissions(): AppError {
  return new AppError(
    'forbidden',
    'An API key cannot be used to manage a key that has more scopes, broader access or a later expiration date.',
  );
}

/** Returns true if `other` is at least as limited as `own`. An empty list means no limit. */
function isNarrower<T>(own: readonly T[], other: readonly T[]): boolean {
  return own.length === 0 || (other.length > 0 && other.every((item) => own.includes(item)));
}
