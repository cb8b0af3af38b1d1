// Who makes a request, and what the key used keeps from them.

import { isProjectInKey, type Membership } from '@millrace/accounts/access';
import { grants, membershipLevels, type Scope } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

export type { Membership } from '@millrace/accounts/access';

/** By what the person is known: a personal API key, or the session of a browser. */
export type Credential =
  | { kind: 'key'; id: string; expiresAt: Date | null }
  | {
      kind: 'session';
      id: string;
      expiresAt: Date;
      /** When the person last proved who they are. */
      signedInAt: Date;
      method: string;
      /** What an organization of the person demands: to show the second factor, or to set one up; null: nothing more. */
      wants: 'second factor' | 'second factor set up' | null;
    };

export type SessionCredential = Extract<Credential, { kind: 'session' }>;

/** Who makes a request: a person and the powers of the key used. A session has all powers of its person. */
export interface Caller {
  userId: number;
  credential: Credential;
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

/**
 * Whether the caller is shown the secrets of a record: who administrates it, with a key that may change it.
 *
 * @param level the caller's on the record.
 */
export function seesSecrets({ scopes }: Pick<Caller, 'scopes'>, write: Scope, level: number | null): boolean {
  return level !== null && level >= membershipLevels.administrator && grants(scopes, write);
}

/** For what a key has no business with, because it would outlive the key. @throws AppError `forbidden`. */
export function requireSession({ credential }: Caller): SessionCredential {
  if (credential.kind === 'session') return credential;
  throw new AppError(
    'forbidden',
    'This action cannot be performed with a personal API key. Sign in and use a session instead.',
  );
}

const recentMs = 2 * 60 * 60 * 1000;

/** Until when a session may do what needs a recent sign-in. */
export function recentUntil({ signedInAt }: SessionCredential): Date {
  return new Date(signedInAt.getTime() + recentMs);
}

/**
 * For what whoever finds an open browser must not do (docs/api/sign-in.md). A key does what its scopes say.
 * @throws AppError `forbidden` with code `sensitive_action_required_reauth`.
 */
export function requireRecentSignIn({ credential }: Caller, withinMs = recentMs): void {
  if (credential.kind === 'key' || credential.signedInAt.getTime() + withinMs > Date.now()) return;
  const ago = withinMs === recentMs ? 'two hours' : `${withinMs / 60_000} minutes`;
  throw new AppError('forbidden', `You signed in more than ${ago} ago. Confirm your identity to continue.`, {
    code: 'sensitive_action_required_reauth',
  });
}

/** Organizations may demand a second factor (`enforce_2fa`). A key is not asked. @throws AppError `forbidden`. */
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

/** Ids of the organizations whose data the caller may see with this key. */
export function visibleOrganizationIds(caller: Caller): string[] {
  return visibleMemberships(caller).map(({ organizationId }) => organizationId);
}

/** Restrictions of a key beside its scopes (docs/api/personal-api-keys.md). All throw AppError `forbidden`. */

/** For routes that address no project: a key made for single projects has no business there. */
export function refuseProjectScopedKey(caller: Caller): void {
  if (caller.scopedTeams.length === 0) return;
  throw new AppError('forbidden', 'API keys with scoped projects are only supported on project-based endpoints.');
}

export function requireOrganizationInKey(caller: Caller, organizationId: string): void {
  if (caller.scopedOrganizations.length === 0 || caller.scopedOrganizations.includes(organizationId)) return;
  throw new AppError('forbidden', `API key does not have access to the requested organization: ID ${organizationId}.`);
}

/**
 * @param named the id by which the request named the project: a refusal shows no other, least of all that of the
 * organization behind it.
 */
export function requireProjectInKey(
  caller: Caller,
  found: { environmentIds: readonly number[]; organizationId: string },
  named: string | number,
): void {
  // Memberships in organizations that do not let their members use personal API keys are left out of those of a key.
  if (!caller.memberships.some(({ organizationId }) => organizationId === found.organizationId))
    throw new AppError('forbidden', 'This organization does not allow its members to use personal API keys.');
  if (isProjectInKey(caller, found)) return;
  throw new AppError('forbidden', `API key does not have access to the requested project: ID ${named}.`);
}
