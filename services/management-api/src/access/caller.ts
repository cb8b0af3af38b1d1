import type { Membership } from '@millrace/accounts/access';
import { membershipLevels } from '@millrace/contracts';

export type { Membership } from '@millrace/accounts/access';

/** Who makes a request: a person and the powers of the key used. */
export interface Caller {
  userId: number;
  /** Id of the key used. */
  keyId: string;
  /** When the key ends; null for never. */
  keyExpiresAt: Date | null;
  /** Scopes of the key; `*` is all. */
  scopes: string[];
  /** Non-empty: the key works only on these environments. */
  scopedTeams: number[];
  /** The organizations those environments belong to. */
  organizationsOfTeams: string[];
  /** Non-empty: the key works only in these organizations. */
  scopedOrganizations: string[];
  /** Organizations of the person: the chosen current one in front, then in the order they were joined. */
  memberships: Membership[];
  /** The environment the person has chosen to be the current one; it may be gone or out of reach by now. */
  currentEnvironmentId: number | null;
}

/** Memberships in the organizations whose data the caller may see with this key. Every query is bounded by them. */
export function visibleMemberships(caller: Caller): Membership[] {
  return caller.memberships.filter(({ organizationId }) => isOrganizationInKey(caller, organizationId));
}

function isOrganizationInKey(caller: Caller, organizationId: string): boolean {
  const { scopedOrganizations, scopedTeams, organizationsOfTeams } = caller;
  return (
    (scopedOrganizations.length === 0 || scopedOrganizations.includes(organizationId)) &&
    (scopedTeams.length === 0 || organizationsOfTeams.includes(organizationId))
  );
}

/** The only environments the caller may see with this key; null where the key names none and all of them count. */
export function onlyEnvironmentsOf({ scopedTeams }: Caller): number[] | null {
  return scopedTeams.length > 0 ? scopedTeams : null;
}

/** Whether the key is for some organizations or environments only. It then decides nothing for the person's other keys. */
export function isLimited({ scopedOrganizations, scopedTeams }: Caller): boolean {
  return scopedOrganizations.length > 0 || scopedTeams.length > 0;
}

/** Whether the person administrates an organization, or owns it. */
export function isAdministrator({ memberships }: Caller, organizationId: string): boolean {
  return memberships.some(
    (own) => own.organizationId === organizationId && own.level >= membershipLevels.administrator,
  );
}

/** Ids of the organizations whose data the caller may see with this key. */
export function visibleOrganizationIds(caller: Caller): string[] {
  return visibleMemberships(caller).map(({ organizationId }) => organizationId);
}
