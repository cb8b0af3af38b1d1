import { grants, isScope } from '@millrace/contracts';
import { AppError } from '@millrace/errors';

/** How far a key reaches and for how long. */
export interface KeyPowers {
  scopes: readonly string[];
  scoped_teams: readonly number[];
  scoped_organizations: readonly string[];
  expires_at: Date | null;
}

/**
 * A key makes and changes only keys that can do no more than itself. Otherwise whoever gets hold of a small key could
 * make a great one with it; the reference avoids that by letting no key make keys.
 *
 * @throws AppError `forbidden`.
 */
export function requireWithin(own: KeyPowers, other: KeyPowers): void {
  const isWithin =
    other.scopes.every((scope) => own.scopes.includes(scope) || (isScope(scope) && grants(own.scopes, scope))) &&
    isNarrower(own.scoped_teams, other.scoped_teams) &&
    isNarrower(own.scoped_organizations, other.scoped_organizations) &&
    (own.expires_at === null || (other.expires_at !== null && other.expires_at <= own.expires_at));
  if (isWithin) return;
  throw new AppError(
    'forbidden',
    'The API key of this request has fewer scopes, reaches less or expires sooner than the key concerned.',
  );
}

/** An empty list is no limit. */
function isNarrower<T>(own: readonly T[], other: readonly T[]): boolean {
  return own.length === 0 || (other.length > 0 && other.every((item) => own.includes(item)));
}
