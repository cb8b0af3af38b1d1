// The caller of a request, and the limits of the key that was used.

import { isProjectInKey, type Membership } from '@millrace/accounts/access';
import { includesScope, membershipLevels, type Scope } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

export type { Membership } from '@millrace/accounts/access';

/** How the caller authenticated: with a personal API key, or with a browser session. */
export type Credential =
  | { kind: 'key'; id: string; expiresAt: Date | null }
  | {
      kind: 'session';
      id: string;
      expiresAt: Date;
      /** The time when the user last authenticated. */
      signedInAt: Date;
      method: string;
      /**
       * What an organization requires of the user: to enter the second factor, or to set one up. It is null if it
       * requires nothing.
       */
      wants: 'second factor' | 'second factor set up' | null;
    };

export type SessionCredential = Extract<Credential, { kind: 'session' }>;

/**
 * The caller of a request: a user with the permissions of the key that was used. A session has all permissions of its
 * user.
 */
export interface Caller {
  userId: number;
  credential: Credential;
  /** The scopes of the key. `*` means all. */
  scopes: string[];
  /** The environments to which the key is limited. They are empty for no limit. */
  scopedTeams: number[];
  /** The organizations to which these environments belong. */
  organizationsOfTeams: string[];
  /** The organizations to which the key is limited. They are empty for no limit. */
  scopedOrganizations: string[];
  /** The organizations of the user: the current one first, and then in the order of joining. */
  memberships: Membership[];
  /** The environment that the user chose as the current one. It may have been deleted or become inaccessible since. */
  currentEnvironmentId: number | null;
}

/** Returns the memberships in the organizations that the key can access. All queries are limited to them. */
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

/** Returns the environments to which the key is limited, or null if it is not limited to environments. */
export function findScopedEnvironments({ scopedTeams }: Caller): number[] | null {
  return scopedTeams.length > 0 ? scopedTeams : null;
}

/**
 * Returns whether the key is limited to organizations or environments. Such a key cannot change anything that affects
 * other keys of the user.
 */
export function isLimited({ scopedOrganizations, scopedTeams }: Caller): boolean {
  return scopedOrganizations.length > 0 || scopedTeams.length > 0;
}

/** Returns whether the user is an administrator or owner of an organization. */
export function isAdministrator({ memberships }: Caller, organizationId: string): boolean {
  return memberships.some(
    (own) => own.organizationId === organizationId && own.level >= membershipLevels.administrator,
  );
}

/**
 * Returns whether the caller can see the secrets of a record. Administrators can, with a key that can change the
 * record.
 * @param level the caller's level for the record
 */
export function canSeeSecrets({ scopes }: Pick<Caller, 'scopes'>, write: Scope, level: number | null): boolean {
  return level !== null && level >= membershipLevels.administrator && includesScope(scopes, write);
}

/**
 * Requires a session. It is for actions whose effect would outlast a key, which keys cannot perform.
 * @throws AppError `forbidden`
 */
export function requireSession({ credential }: Caller): SessionCredential {
  if (credential.kind === 'session') return credential;
  throw new AppError(
    'forbidden',
    'This action cannot be performed with a personal API key. Sign in and use a session instead.',
  );
}

const recentMs = 2 * 60 * 60 * 1000;

/** Returns the time until which the last sign-in in a session counts as recent. */
export function recentSignInUntil({ signedInAt }: SessionCredential): Date {
  return new Date(signedInAt.getTime() + recentMs);
}

/**
 * Requires a recent sign-in. It is for actions that someone who finds an open browser must not be able to perform
 * (docs/api/sign-in.md). Keys are limited only by their scopes.
 * @throws AppError `forbidden` with code `sensitive_action_required_reauth`
 */
export function requireRecentSignIn({ credential }: Caller, withinMs = recentMs): void {
  if (credential.kind === 'key' || credential.signedInAt.getTime() + withinMs > Date.now()) return;
  const ago = withinMs === recentMs ? 'two hours' : `${withinMs / 60_000} minutes`;
  throw new AppError('forbidden', `You signed in more than ${ago} ago. Confirm your identity to continue.`, {
    code: 'sensitive_action_required_reauth',
  });
}

/**
 * Requires a second factor if an organization does (`enforce_2fa`). Does not apply to keys.
 * @throws AppError `forbidden`
 */
export function requireSecondFactor({ credential }: Caller): void {
  if (credential.kind === 'key' || credential.wants === null) return;
  throw credential.wants === 'second factor'
    ? new AppError(
        'forbidden',
        'Your organization requires two-factor authentication. Sign in again with your second factor.',
        {
          code: 'two_factor_verification_required',
        },
      )
    : new AppError('forbidden', 'Your organization requires two-factor authentication. Set up a second factor.', {
        code: 'two_factor_setup_required',
      });
}

/** Returns the IDs of the organizations whose data the caller can access with this key. */
export function visibleOrganizationIds(caller: Caller): string[] {
  return visibleMemberships(caller).map(({ organizationId }) => organizationId);
}

/** Limits of a key in addition to its scopes (docs/api/personal-api-keys.md). All throw AppError `forbidden`. */

/**
 * Rejects a key that is limited to projects, for routes without a project.
 * @throws AppError `forbidden`
 */
export function refuseProjectScopedKey(caller: Caller): void {
  if (caller.scopedTeams.length === 0) return;
  throw new AppError('forbidden', 'API keys with scoped projects are only supported on project-based endpoints.');
}

export function requireOrganizationInKey(caller: Caller, organizationId: string): void {
  if (caller.scopedOrganizations.length === 0 || caller.scopedOrganizations.includes(organizationId)) return;
  throw new AppError('forbidden', `API key does not have access to the requested organization: ID ${organizationId}.`);
}

/**
 * Rejects a key that is limited to other projects.
 * @param named the ID of the project in the request. The error contains no other ID, in particular not that of its
 *   organization.
 */
export function requireProjectInKey(
  caller: Caller,
  found: { environmentIds: readonly number[]; organizationId: string },
  named: string | number,
): void {
  // Organizations can forbid their members to use personal API keys. Such memberships are left out for keys.
  if (!caller.memberships.some(({ organizationId }) => organizationId === found.organizationId))
    throw new AppError('forbidden', 'This organization does not allow its members to use personal API keys.');
  if (isProjectInKey(caller, found)) return;
  throw new AppError('forbidden', `API key does not have access to the requested project: ID ${named}.`);
}
