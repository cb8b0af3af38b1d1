import { membershipLevels } from '@millrace/contracts';

/** What a rule of access may say, the least first. */
export const accessLevels = ['none', 'member', 'admin'] as const;
export type AccessLevel = (typeof accessLevels)[number];

/** The membership level that stands for an access level; null shuts out. */
export function toMembershipLevel(level: AccessLevel): number | null {
  if (level === 'none') return null;
  return level === 'admin' ? membershipLevels.administrator : membershipLevels.member;
}

export function toAccessLevel(level: number | null): AccessLevel {
  if (level === null) return 'none';
  return level >= membershipLevels.administrator ? 'admin' : 'member';
}
