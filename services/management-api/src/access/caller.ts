/** Who makes a request: a person and the powers of the key used. */
export interface Caller {
  userId: number;
  /** Id of the key used. */
  keyId: string;
  /** Scopes of the key; `*` is all. */
  scopes: string[];
  /** Non-empty: the key works only on these environments. */
  scopedTeams: number[];
  /** Non-empty: the key works only in these organizations. */
  scopedOrganizations: string[];
  /** Organizations of the person: the chosen current one in front, then in the order they were joined. */
  memberships: Membership[];
  /** The environment the person has chosen to be the current one; it may be gone or out of reach by now. */
  currentEnvironmentId: number | null;
}

export interface Membership {
  organizationId: string;
  /** 1 member, 8 administrator, 15 owner. */
  level: number;
}

/** Memberships in the organizations whose data the caller may see with this key. Every query is bounded by them. */
export function visibleMemberships({ memberships, scopedOrganizations }: Caller): Membership[] {
  if (scopedOrganizations.length === 0) return memberships;
  return memberships.filter(({ organizationId }) => scopedOrganizations.includes(organizationId));
}

/** Ids of the organizations whose data the caller may see with this key. */
export function visibleOrganizationIds(caller: Caller): string[] {
  return visibleMemberships(caller).map(({ organizationId }) => organizationId);
}
