/** Who makes a request: a person and the powers of the key used. */
export interface Caller {
  userId: number;
  /** Scopes of the key; `*` is all. */
  scopes: string[];
  /** Non-empty: the key works only on these environments. */
  scopedTeams: number[];
  /** Non-empty: the key works only in these organizations. */
  scopedOrganizations: string[];
  /** Organizations of the person, the one joined first in front. */
  memberships: Membership[];
}

export interface Membership {
  organizationId: string;
  /** 1 member, 8 administrator, 15 owner. */
  level: number;
}

/** Organizations whose data the caller may see with this key. Every query is bounded by them. */
export function visibleOrganizationIds(caller: Caller): string[] {
  return caller.memberships
    .map((membership) => membership.organizationId)
    .filter((id) => caller.scopedOrganizations.length === 0 || caller.scopedOrganizations.includes(id));
}
