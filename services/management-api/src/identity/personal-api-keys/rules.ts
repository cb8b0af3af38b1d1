import { grants, isScopeName } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/** What a key is for; an empty list is no limit. */
export interface KeyReach {
  scoped_teams: readonly number[];
  scoped_organizations: readonly string[];
}

/** How far a key reaches, what it may do there and for how long. */
export interface KeyPowers extends KeyReach {
  scopes: readonly string[];
  expires_at: Date | null;
}

/**
 * A key makes and changes only keys that can do no more than itself. Otherwise whoever gets hold of a small key could
 * make a great one with it; PostHog avoids that by letting no key make keys.
 *
 * @throws AppError `forbidden`.
 */
export function requireWithin(own: KeyPowers, other: KeyPowers): void {
  const isWithin =
    other.scopes.every((scope) => own.scopes.includes(scope) || (isScopeName(scope) && grants(own.scopes, scope))) &&
    isWithinReach(own, other) &&
    (own.expires_at === null || (other.expires_at !== null && other.expires_at <= own.expires_at));
  if (!isWithin) throw tooGreat();
}

/**
 * The same of the reach alone, to be asked before what a request names is looked up: what of it is there is nothing for
 * a key that does not reach it.
 *
 * @throws AppError `forbidden`.
 */
export function requireWithinReach(own: KeyReach, other: KeyReach): void {
  if (!isWithinReach(own, other)) throw tooGreat();
}

/** Whether a key is for no other environments and organizations than another one. */
export function isWithinReach(own: KeyReach, other: KeyReach): boolean {
  return (
    isNarrower(own.scoped_teams, other.scoped_teams) && isNarrower(own.scoped_organizations, other.scoped_organizations)
  );
}

function tooGreat(): AppError {
  return new AppError(
    'forbidden',
    'An API key cannot be used to manage a key that has more scopes, broader access or a later expiration date.',
  );
}

/** An empty list is no limit. */
function isNarrower<T>(own: readonly T[], other: readonly T[]): boolean {
  return own.length === 0 || (other.length > 0 && other.every((item) => own.includes(item)));
}
