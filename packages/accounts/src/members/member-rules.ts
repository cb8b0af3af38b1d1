// Rules that determine which other members a member of an organization can change, promote or remove.

import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/**
 * A user with their level in the organization: either the user who makes a change, or the member who is changed. These
 * rules do not apply to operators.
 */
export interface RankedMember {
  userId: number;
  level: number;
}

/**
 * Checks whether the caller may change the target (docs/api/members.md).
 * @throws AppError `forbidden`
 */
export function requireMayEditMember(caller: RankedMember, target: RankedMember): void {
  if (caller.userId === target.userId) return;
  if (caller.level < membershipLevels.administrator)
    throw createForbiddenError('You can only edit others if you are an admin.');
  if (target.level > caller.level)
    throw createForbiddenError('You can only edit others with level lower or equal to you.');
}

/**
 * Checks whether the caller may give this level to the target. Users cannot change their own level. The last owner can
 * therefore be demoted only by concurrent changes.
 * @throws AppError `forbidden`
 */
export function requireMayGrantLevel(caller: RankedMember, target: RankedMember, level: number): void {
  requireMayEditMember(caller, target);
  if (caller.userId === target.userId) throw createForbiddenError("You can't change your own access level.");
  if (level === membershipLevels.owner && caller.level < membershipLevels.owner) {
    throw createForbiddenError("You can only make another member owner if you're this organization's owner.");
  }
  if (level > caller.level) {
    throw createForbiddenError('You can only change access level of others to lower or equal to your current one.');
  }
}

/**
 * Checks whether the caller may remove the target. Everyone except owners may leave.
 * @throws AppError `forbidden`, or `invalid` for an owner.
 */
export function requireMayRemoveMember(caller: RankedMember, target: RankedMember): void {
  requireMayEditMember(caller, target);
  if (target.level === membershipLevels.owner) {
    throw new AppError('invalid', 'Cannot leave the organization as its owner!', { code: 'invalid_input' });
  }
}

function createForbiddenError(sentence: string): AppError {
  return new AppError('forbidden', sentence);
}
