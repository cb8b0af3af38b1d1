/** Membership levels of an organization (docs/api/access.md#levels). */
export const membershipLevels = { member: 1, administrator: 8, owner: 15 } as const;
export type MembershipLevel = (typeof membershipLevels)[keyof typeof membershipLevels];

export function isMembershipLevel(value: unknown): value is MembershipLevel {
  return (Object.values(membershipLevels) as unknown[]).includes(value);
}
