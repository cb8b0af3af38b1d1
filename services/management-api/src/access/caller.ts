// The caller of a request, and the limits of the caller's key.

import { canKeyAccessProject, type Membership } from '@millrace/accounts/access';
import { includesScope, membershipLevels, type Scope } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

export type { Membership } from '@millrace/accounts/access';

export type Credential =
  | { kind: 'key'; id: string; expiresAt: Date | null }
  | {
      kind: 'session';
      id: string;
      expiresAt: Date;
      signedInAt: Date;
      method: string;
      /**
       * The step that one of the user's organizations requires: entering the second factor, or setting one up. Null if
       * no step is required.
       */
      wants: 'second factor' | 'second factor set up' | null;
    };

export type SessionCredential = Extract<Credential, { kind: 'session' }>;

/**
 * The caller of a request: a user, with the permissions of the personal API key in the request. With a session, the
 * caller has all permissions of the user.
 */
export interface Caller {
  userId: number;
  credential: Credential;
  /** `*` grants all scopes. */
  scopes: string[];
  /** Environments to which the key is limited. An empty list means no limit. */
  scopedEnvironments: number[];
  organizationsOfEnvironments: string[];
  /** Organizations to which the key is limited. An empty list means no limit. */
  scopedOrganizations: string[];
  /** Memberships with the current organization first, and the others in the order of joining. */
  memberships: Membership[];
  /** The user's current environment, which may have been deleted or become inaccessible. */
  currentEnvironmentId: number | null;
}

/**
 * Returns the memberships in organizations that the key can access. Every query for the caller's data must be limited
 * to these organizations.
 */
export function getVisibleMemberships(caller: Caller): Membership[] {
  return caller.memberships.filter(({ organizationId }) => isOrganizationInKey(caller, organizationId));
}

function isOrganizationInKey(caller: Caller, organizationId: string): boolean {
  const { scopedOrganizations, scopedEnvironments, organizationsOfEnvironments } = caller;
  return (
    (scopedOrganizations.length === 0 || scopedOrganizations.includes(organizationId)) &&
    (scopedEnvironments.length === 0 || organizationsOfEnvironments.includes(organizationId))
  );
}

/** Returns null if the key is not limited to environments. */
export function findScopedEnvironments({ scopedEnvironments }: Caller): number[] | null {
  return scopedEnvironments.length > 0 ? scopedEnvironments : null;
}

/**
 * Returns true if the key is limited to organizations or environments. With a limited key, a caller cannot change
 * anything that affects the user's other keys.
 */
export function hasLimitedReach({ scopedOrganizations, scopedEnvironments }: Caller): boolean {
  return scopedOrganizations.length > 0 || scopedEnvironments.length > 0;
}

export function isAdministrator({ memberships }: Caller, organizationId: string): boolean {
  return memberships.some(
    (own) => own.organizationId === organizationId && own.level >= membershipLevels.administrator,
  );
}

/**
 * Returns true if the caller can see a record's secrets. Only administrators can, and only with a key that can change
 * the record.
 * @param level the caller's level for the record
 */
export function canSeeSecrets({ scopes }: Pick<Caller, 'scopes'>, write: Scope, level: number | null): boolean {
  return level !== null && level >= membershipLevels.administrator && includesScope(scopes, write);
}

/** Requires a session for an action whose effect would outlast a key. @throws AppError `forbidden` for a key */
export function requireSession({ credential }: Caller): SessionCredential {
  if (credential.kind === 'session') return credential;
  throw new AppError(
    'forbidden',
    'This action cannot be performed with a personal API key. Sign in and use a session instead.',
  );
}

const recentMs = 2 * 60 * 60 * 1000;

/** Returns the time at which a session's last sign-in stops counting as recent. */
export function computeRecentSignInEnd({ signedInAt }: SessionCredential): Date {
  return new Date(signedInAt.getTime() + recentMs);
}

/**
 * Requires a recent sign-in for an action that a stranger must not be able to perform in an unattended browser
 * (docs/api/sign-in.md). Keys do not need a recent sign-in, because only their scopes limit them.
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
 * Requires a second factor if one of the user's organizations requires it (`enforce_2fa`). Does not apply to keys.
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

export function getVisibleOrganizationIds(caller: Caller): string[] {
  return getVisibleMemberships(caller).map(({ organizationId }) => organizationId);
}

/** Rejects a key that is limited to projects, for routes without a project. @throws AppError `forbidden` */
export function refuseProjectScopedKey(caller: Caller): void {
  if (caller.scopedEnvironments.length === 0) return;
  throw new AppError('forbidden', 'API keys with scoped projects are only supported on project-based endpoints.');
}

export function requireOrganizationInKey(caller: Caller, organizationId: string): void {
  if (caller.scopedOrganizations.length === 0 || caller.scopedOrganizations.includes(organizationId)) return;
  throw new AppError('forbidden', `API key does not have access to the requested organization: ID ${organizationId}.`);
}

/**
 * Rejects a key that is limited to projects other than the requested one.
 * @param named the project ID in the request. The error contains only this ID, so it does not reveal the ID of the
 *   organization.
 */
export function requireProjectInKey(
  caller: Caller,
  found: { environmentIds: readonly number[]; organizationId: string },
  named: string | number,
): void {
  // If a caller authenticates with a key, the memberships omit organizations that forbid personal API keys.
  if (!caller.memberships.some(({ organizationId }) => organizationId === found.organizationId))
    throw new AppError('forbidden', 'This organization does not allow its members to use personal API keys.');
  if (canKeyAccessProject(caller, found)) return;
  throw new AppError('forbidden', `API key does not have access to the requested project: ID ${named}.`);
}
