import { allScopes, grants, membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/errors';

/** What the key that makes an invite can do, which the first key of whoever accepts it inherits. */
export interface InvitingKey {
  scopes: readonly string[];
  /** It is for some organizations only. A key for single environments makes no invites. */
  isLimited: boolean;
  expiresAt: Date | null;
}

/**
 * Who may invite somebody to administrate uses a key that could administrate itself: the somebody may have an account
 * already, with a key for everything.
 *
 * @param level the highest the invite gives, in the organization or on one environment.
 * @throws AppError `forbidden`.
 */
export function requireFullReach({ scopes }: InvitingKey, level: number): void {
  if (level <= membershipLevels.member || allScopes.every((scope) => grants(scopes, scope))) return;
  throw new AppError('forbidden', 'Inviting with more than level 1 needs an API key with all scopes.');
}
