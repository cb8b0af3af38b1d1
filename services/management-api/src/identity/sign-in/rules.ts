// Checks sign-ins by password or link, and creates their sessions.

import {
  type AddressDomain,
  beginSession,
  changePassword,
  checkName,
  consumeOneTimeLink,
  createKnownDevice,
  createOwnedOrganization,
  createUser,
  endSession,
  type FieldChange,
  findOneTimeLink,
  findSecondFactors,
  findSignInUser,
  hasSignedIn,
  isKnownDevice,
  listOrganizations,
  lockUserKeys,
  type NewSession,
  type Passwords,
  parseEmailAddress,
  recordActivity,
  recordOwnActivity,
  renewKnownDevice,
  replacePasswordHash,
  requiresSecondFactor,
  type SignInUser,
  trustDevice,
} from '@millrace/accounts';
import { listProductFeatures } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { type ApiRequest, parseInput } from '@millrace/http';
import { AppError, isAppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import { type Caller, requireRecentSignIn, requireSession } from '../../access/caller.ts';
import { readDeviceCookie, readSessionCookie, type SignedIn } from '../../access/session-cookie.ts';
import { createSsoEnforcedError, findEnforcedProvider, isExemptOwner } from './enforcement.ts';
import { checkNewPassword } from './password-rules.ts';
import { describeBrowser, firstOwner, type linkUse } from './schema.ts';
import { createSecondFactorError, findSecondFactor, type SecondFactorDeps } from './second-factor.ts';
import type { SignInCount } from './sign-in-count.ts';

export interface SignInDeps extends SecondFactorDeps {
  passwords: Passwords;
  countSignIn: SignInCount;
}

/**
 * Creates a session for the correct password, or an unfinished sign-in if a second factor is required. An unknown
 * address, a wrong password and a deactivated user get the same response, after the same amount of work.
 * @throws AppError `invalid` with code `invalid_credentials`, or with `sso_enforced` if a provider is enforced,
 *   `unauthenticated` with `2fa_required`, or the errors of the limits
 */
export async function signInByPassword(
  deps: SignInDeps,
  { email, password, request }: { email: string; password: string; request: ApiRequest },
): Promise<SignedIn> {
  const { sql, transaction, passwords, signInLimits } = deps;
  const account = parseEmailAddress(email);
  const enforced = account === null ? null : await findEnforcedProvider(deps, account);
  // If the domain allows no exception for owners, reject the sign-in before checking the password.
  if (enforced?.domain.sso_owner_exception === false) throw createSsoEnforcedError(enforced.kind);
  const refused = () => (enforced === null ? wrongCredentials() : createSsoEnforcedError(enforced.kind));
  const device = account === null ? null : await findKnownDevice(sql, request, account);
  const refundAttempt = await signInLimits.countAttempt(request.address, account ?? email, device);
  const user = account === null ? undefined : await findSignInUser(sql, { email: account });
  const outcome = await passwords.compare(password, user?.password_hash ?? null, device !== null);
  if (!user || outcome === 'wrong' || !user.is_active) throw refused();
  if (enforced && !(await isExemptOwner(sql, enforced.domain, user.id))) throw refused();
  const renewed = outcome === 'outdated' ? await hashUnlessBusy(passwords, password) : null;
  const signedIn = await transaction(async (tx) => {
    await requireUnchanged(tx, user);
    if (renewed !== null && user.password_hash !== null) {
      await replacePasswordHash(tx, user.id, { from: user.password_hash, to: renewed });
    }
    const factor = await findSecondFactor(tx, user, { device, method: 'password' });
    if ('step' in factor) return factor;
    return startSession(deps, tx, request, { user, method: 'password', secondFactor: factor.shown });
  });
  await refundAttempt();
  if ('step' in signedIn) throw createSecondFactorError(request, signedIn.step);
  return signedIn;
}

/** Rejects the sign-in if the password was changed or the user was deactivated while the password was being checked. */
async function requireUnchanged(tx: Transaction, seen: SignInUser): Promise<void> {
  await lockUserKeys(tx, seen.id);
  const user = await findSignInUser(tx, { id: seen.id });
  if (!user?.is_active || user.password_hash !== seen.password_hash) throw wrongCredentials();
}

async function hashUnlessBusy(passwords: Passwords, password: string): Promise<string | null> {
  try {
    return await passwords.hash(password);
  } catch (error) {
    if (isAppError(error, 'rate_limited')) return null;
    throw error;
  }
}

/**
 * Checks the caller's new password, and the current one if the caller has one. A session that began with an operator's
 * link does not need the current password, so that a user can replace a forgotten password without email.
 * @returns a function that stores the password in the request's transaction and ends the caller's other sessions
 * @throws AppError `forbidden` for keys and if the sign-in is too old, or `invalid` naming `current_password` or
 *   `password`
 */
export async function prepareNewPassword(
  { sql, passwords }: Pick<SignInDeps, 'sql' | 'passwords'>,
  caller: Caller,
  { password, current }: { password: string; current: string | null },
): Promise<(tx: Transaction) => Promise<void>> {
  const session = requireSession(caller);
  requireRecentSignIn(caller);
  const user = await requireUser(sql, caller.userId);
  if (user.password_hash !== null && session.method !== 'link') {
    if (current === null) throw refusedPassword('required', 'This field is required.');
    if ((await passwords.compare(current, user.password_hash)) === 'wrong') {
      throw refusedPassword('incorrect_password', 'Your current password is wrong.');
    }
  }
  await checkNewPassword(password, [user.email, user.first_name, user.last_name]);
  const hash = await passwords.hash(password);
  return async (tx) => {
    await requireUnchanged(tx, user);
    await changePassword(tx, user, { hash, actor: { userId: user.id }, keptSession: session.id });
  };
}

function refusedPassword(code: string, detail: string): AppError {
  return new AppError('invalid', detail, { code, attr: 'current_password' });
}

/** Returns the device cookie's secret if it belongs to a known device of the account. */
export async function findKnownDevice(sql: Sql, request: ApiRequest, account: string): Promise<string | null> {
  const device = readDeviceCookie(request);
  return device !== null && (await isKnownDevice(sql, device, account)) ? device : null;
}

/**
 * Starts a session that replaces the browser's previous session, and stores the browser as a known device.
 * @param remember true if this browser can skip the second factor in future sign-ins
 */
export async function startSession(
  { installedProviders, accountMailing }: Pick<SignInDeps, 'installedProviders' | 'accountMailing'>,
  tx: Transaction,
  request: ApiRequest,
  {
    user,
    remember = false,
    ...how
  }: Pick<NewSession, 'method' | 'secondFactor'> & {
    user: Pick<SignInUser, 'id' | 'uuid' | 'email' | 'first_name'>;
    remember?: boolean;
  },
): Promise<SignedIn> {
  const before = readSessionCookie(request);
  if (before !== null) await endSession(tx, before);
  const known = await findKnownDevice(tx, request, user.email);
  if (known !== null) await renewKnownDevice(tx, known);
  const device = known ?? (await createKnownDevice(tx, user.id));
  if (remember) await trustDevice(tx, device);
  const browser = request.header('user-agent') ?? '';
  if (known === null && (await hasSignedIn(tx, user.id))) {
    accountMailing.notifyUser(user, 'new_browser', { browser: describeBrowser(browser), address: request.address });
  }
  const seen = { login_method: how.method, second_factor: how.secondFactor, address: request.address, browser };
  await recordOwnActivity(tx, user, { activity: 'logged_in', changes: seenAt(seen) });
  const enforced = await findEnforcedProvider({ sql: tx, installedProviders }, user.email);
  if (enforced && how.method !== enforced.kind) {
    await recordSsoBypass(tx, enforced.domain, { user, method: how.method });
    accountMailing.notifyAdministrators(enforced.domain, 'way_around', { email: user.email, method: how.method });
  }
  return {
    session: await beginSession(tx, { userId: user.id, ...how, address: request.address, browser }),
    device,
  };
}

/**
 * Records in the organization's activity log that a user bypassed an enforced provider, either with an operator's link
 * or as an exempt owner.
 */
async function recordSsoBypass(
  tx: Transaction,
  { id: itemId, domain: name, organization_id: organizationId }: AddressDomain,
  { user, method }: { user: Pick<SignInUser, 'id'>; method: string },
): Promise<void> {
  const change = {
    type: 'OrganizationDomain',
    action: 'created',
    field: 'way_around',
    before: null,
    after: method,
  } as const;
  await recordActivity(tx, {
    organizationId,
    scope: 'OrganizationDomain',
    itemId,
    name,
    activity: 'updated',
    actor: { userId: user.id },
    changes: [change],
  });
}

/** Converts sign-in details to field changes without a previous value, for the activity log. */
function seenAt(values: Record<string, string | null>): FieldChange[] {
  return Object.entries(values).map(([field, after]) => ({
    type: 'User',
    action: 'created',
    field,
    before: null,
    after: after === null ? null : after.slice(0, 400),
  }));
}

/** @throws AppError `not_found` if the session's user has just been deleted */
export async function requireUser(sql: Sql, userId: number): Promise<SignInUser> {
  const user = await findSignInUser(sql, { id: userId });
  if (!user) throw new AppError('not_found', 'Not found.');
  return user;
}

function wrongCredentials(): AppError {
  return new AppError('invalid', 'Invalid email or password.', { code: 'invalid_credentials' });
}

/** Returns the user for whom a password reset link was created. @throws AppError `invalid` with code `invalid_token` */
export async function requireResetLink(sql: Sql, userUuid: string, token: string): Promise<SignInUser> {
  const link = await findOneTimeLink(sql, token);
  const isReset = link?.kind === 'reset_password' && link.user_id !== null;
  const user = isReset ? await findSignInUser(sql, { id: link.user_id as number }) : undefined;
  if (!user?.is_active || user.uuid !== userUuid) throw badLink('token');
  return user;
}

/**
 * Replaces a forgotten password and ends all of the user's sessions.
 * @returns the account's email address
 * @throws AppError like `requireResetLink`, or `invalid` naming `password`
 */
export async function resetPassword(
  { sql, transaction, passwords, accountMailing }: SignInDeps,
  userUuid: string,
  { token, password }: { token: string; password: string },
): Promise<string> {
  const user = await requireResetLink(sql, userUuid, token);
  await checkNewPassword(password, [user.email, user.first_name, user.last_name]);
  const hash = await passwords.hash(password);
  await transaction(async (tx) => {
    await lockUserKeys(tx, user.id);
    const current = await requireResetLink(tx, userUuid, token);
    if (!(await consumeOneTimeLink(tx, token))) throw badLink('token');
    await changePassword(tx, current, { hash, actor: { userId: user.id } });
  });
  accountMailing.notifyUser(user, 'password_changed');
  return user.email;
}

/**
 * Describes a link that `millrace console-link` printed, without invalidating the link.
 * @throws AppError `invalid` with code `invalid_token`
 */
export async function describeSignInLink(
  sql: Sql,
  secret: string,
): Promise<{ kind: 'sign_in' | 'first_owner'; email?: string }> {
  const link = await findOneTimeLink(sql, secret);
  if (link?.kind === 'first_owner') return { kind: 'first_owner' };
  const user =
    link?.kind === 'sign_in' && link.user_id !== null ? await findSignInUser(sql, { id: link.user_id }) : null;
  if (!user?.is_active) throw badLink();
  return { kind: 'sign_in', email: user.email };
}

/**
 * Signs in the user for whom `millrace console-link` printed a link. If the installation has no account, creates the
 * first one and signs in its user. Each link works only once.
 * @throws AppError like `describeSignInLink`, or `invalid` naming a field of the first owner
 */
export async function signInByLink(
  deps: SignInDeps,
  { body, request }: { body: Static<typeof linkUse>; request: ApiRequest },
): Promise<SignedIn> {
  const { kind } = await describeSignInLink(deps.sql, body.secret);
  if (kind === 'first_owner') return createFirstOwner(deps, { body, request });
  return deps.transaction(async (tx) => {
    const link = await consumeOneTimeLink(tx, body.secret);
    if (link?.kind !== 'sign_in' || link.user_id === null) throw badLink();
    await lockUserKeys(tx, link.user_id);
    const user = await findSignInUser(tx, { id: link.user_id });
    if (!user?.is_active) throw badLink();
    // The link replaces the second factor, because the operator has confirmed the user's identity. Users who have lost
    // their second factor sign in with a link.
    const hasFactor = requiresSecondFactor(await findSecondFactors(tx, user.id));
    return startSession(deps, tx, request, { user, method: 'link', secondFactor: hasFactor ? 'link' : null });
  });
}

async function createFirstOwner(
  deps: SignInDeps,
  { body, request }: { body: Static<typeof linkUse>; request: ApiRequest },
): Promise<SignedIn> {
  const { transaction, passwords } = deps;
  const owner = parseInput(firstOwner, body, { trimStrings: true });
  checkName('organization_name', owner.organization_name, { maxLength: 64 });
  await checkNewPassword(owner.password, [owner.email, owner.first_name ?? '', owner.organization_name]);
  const hash = await passwords.hash(owner.password);
  return transaction(async (tx) => {
    const link = await consumeOneTimeLink(tx, body.secret);
    // `millrace bootstrap` may have created an organization since the link was printed.
    if (link?.kind !== 'first_owner' || (await listOrganizations(tx)).length > 0) throw badLink();
    const user = await createUser(tx, { email: owner.email, firstName: owner.first_name ?? '', isEmailVerified: true });
    const actor = { userId: user.id };
    await changePassword(tx, { ...user, password_hash: null }, { hash, actor });
    await createOwnedOrganization(tx, {
      name: owner.organization_name,
      features: listProductFeatures('full'),
      ownerId: user.id,
      actor,
    });
    return startSession(deps, tx, request, { user, method: 'link', secondFactor: null });
  });
}

function badLink(attr: 'secret' | 'token' = 'secret'): AppError {
  return new AppError('invalid', 'This link has expired or was already used. Request a new one.', {
    code: 'invalid_token',
    attr,
  });
}
