import type { MembershipLevel } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { Membership } from '../../access/caller.ts';

/**
 * Narrows who may call a route below an organization to members of at least this level (reference/management-api.md 2.8).
 * The returned function throws AppError `forbidden`, after what `find` throws.
 */
export function requireLevel<Context>(level: MembershipLevel, find: (context: Context) => Promise<Membership>) {
  return async (context: Context): Promise<Membership> => {
    const membership = await find(context);
    if (membership.level >= level) return membership;
    throw new AppError('forbidden', 'Your organization access level is insufficient.');
  };
}
