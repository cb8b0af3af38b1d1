// Rules that keep a personal API key from creating or changing keys with more permissions than its own.

import { includesScope, isScopeName } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/** The projects and organizations to which a key is limited. An empty list means no limit. */
export interface KeyReach {
  scoped_teams: readonly number[];
  scoped_organizations: readonly string[];
}

/** The limits, scopes and expiry of a key. */
export interface KeyPermissions extends KeyReach {
  scopes: readonly string[];
  expires_at: Date | null;
}

/**
 * A key can only create and change keys that have no more permissions than itself. Otherwise, a leaked key with few permissions could be
 * used to create one with all. PostHog prevents this by not letting keys create keys.
 * @throws AppError `forbidden`.
 */
export function requireWithin(own: KeyPermissions, other: KeyPermissions): void {
  const isWithin =
    other.scopes.every(
      (scope) => own.scopes.includes(scope) || (isScopeName(scope) && includesScope(own.scopes, scope)),
    ) &&
    isWithinReach(own, other) &&
    (own.expires_at === null || (other.expires_at !== null && other.expires_at <= own.expires_at));
  if (!isWithin) throw exceedsOwnPermissions();
}

/**
 * Checks only the projects and organizations. This runs before the ones that the request names are looked up, so that the response does not
 * reveal whether they exist.
 * @throws AppError `forbidden`.
 */
export function requireWithinReach(own: KeyReach, other: KeyReach): void {
  if (!isWithinReach(own, other)) throw exceedsOwnPermissions();
}

/** Whether a key is limited to projects and organizations that another key can access. */
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

/** An empty list means no limit. */
function isNarrower<T>(own: readonly T[], other: readonly T[]): boolean {
  return own.length === 0 || (other.length > 0 && other.every((item) => own.includes(item)));
}
