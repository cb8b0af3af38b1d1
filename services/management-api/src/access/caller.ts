// The caller of a request, and the limits of the key in use.

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
      /** When the user last authenticated. */
      signedInAt: Date;
      method: string;
      /**
       * What an organization requires of the user: to use the second factor, or to set one up. Null if it requires
       * nothing.
       */
      wants: 'second factor' | 'second factor set up' | null;
    };

export type SessionCredential = Extract<Credential, { kind: 'session' }>;

/** The caller of a request: a user with the permissions of the key in use. A session has all permissions of its user. */
export interface Caller {
  userId: number;
  credential: Credential;
  /** Scopes of the key. `*` means all. */
  scopes: string[];
  /** If not empty, the key only works for these environments. */
  scopedTeams: number[];
  /** The organizations of these environments. */
  organizationsOfTeams: string[];
  /** If not empty, the key only works in these organizations. */
  scopedOrganizations: string[];
  /** Organizations of the user: the current one first, then in the order of joining. */
  memberships: Membership[];
  /** The environment that the user chose as the current one. It may be deleted or inaccessible by now. */
  currentEnvironmentId: number | null;
}

/** Memberships in the organizations that the key can access. All queries are limited to them. */
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

/** The environments to which the key is limited, or null if it is not limited to environments. */
export function findScopedEnvironments({ scopedTeams }: Caller): number[] | null {
  return scopedTeams.length > 0 ? scopedTeams : null;
}

/**
 * Whether the key is limited to organizations or environments. Such a key cannot change what affects the user's other keys.
 */
export function isLimited({ scopedOrganizations, scopedTeams }: Caller): boolean {
  return scopedOrganizations.length > 0 || scopedTeams.length > 0;
}

/** Whether the user is an administrator or owner of an organization. */
export function isAdministrator({ memberships }: Caller, organizationId: string): boolean {
  return memberships.some(
    (own) => own.organizationId === organizationId && own.level >= membershipLevels.administrator,
  );
}

/**
 * Whether the caller can see the secrets of a record: administrators with a key that can change it.
 * @param level the caller's level on the record.
 */
export function canSeeSecrets({ scopes }: Pick<Caller, 'scopes'>, write: Scope, level: number | null): boolean {
  return level !== null && level >= membershipLevels.administrator && includesScope(scopes, write);
}

/** For actions whose effect would outlive the key, which keys cannot perform. @throws AppError `forbidden`. */
export function requireSession({ credential }: Caller): SessionCredential {
  if (credential.kind === 'session') return credential;
  throw new AppError(
    'forbidden',
    'This action cannot be performed with a personal API key. Sign in and use a session instead.',
  );
}

const recentMs = 2 * 60 * 60 * 1000;

/** The time until which a session counts as recently signed in. */
export function recentSignInUntil({ signedInAt }: SessionCredential): Date {
  return new Date(signedInAt.getTime() + recentMs);
}

/**
 * For actions that must be impossible for someone who finds an open browser (docs/api/sign-in.md). Keys are only limited by
 * their scopes.
 * @throws AppError `forbidden` with code `sensitive_action_required_reauth`.
 */
export function requireRecentSignIn({ credential }: Caller, withinMs = recentMs): void {
  if (credential.kind === 'key' || credential.signedInAt.getTime() + withinMs > Date.now()) return;
  const ago = withinMs === recentMs ? 'two hours' : `${withinMs / 60_000} minutes`;
  throw new AppError('forbidden', `You signed in more than ${ago} ago. Confirm your identity to continue.`, {
    code: 'sensitive_action_required_reauth',
  });
}

/** Organizations can require a second factor (`enforce_2fa`). Does not apply to keys. @throws AppError `forbidden`. */
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

/** IDs of the organizations whose data the caller can access with this key. */
export function visibleOrganizationIds(caller: Caller): string[] {
  return visibleMemberships(caller).map(({ organizationId }) => organizationId);
}

/** Limits of a key in addition to its scopes (docs/api/personal-api-keys.md). All throw AppError `forbidden`. */

/** For routes without a project, which a key for single projects cannot use. */
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
 * @param named the ID with which the request named the project. The error contains no other ID, in particular not that
 * of its organization.
 */
export function requireProjectInKey(
  caller: Caller,
  found: { environmentIds: readonly number[]; organizationId: string },
  named: string | number,
): void {
  // Organizations can forbid their members to use personal API keys. Such memberships are omitted for keys.
  if (!caller.memberships.some(({ organizationId }) => organizationId === found.organizationId))
    throw new AppError('forbidden', 'This organization does not allow its members to use personal API keys.');
  if (isProjectInKey(caller, found)) return;
  throw new AppError('forbidden', `API key does not have access to the requested project: ID ${named}.`);
}
