// Completes a sign-in through a provider. Callers have already checked that the response is valid and comes from the
// browser that started the sign-in (docs/api/single-sign-on.md).

import {
  findConfirmationRefusal,
  isEmail,
  type ProviderProfile,
  type ProviderSignInRefusal,
  parseEmailAddress,
  parseEmailDomain,
  renewSessionSecret,
  signInThroughProvider,
} from '@millrace/accounts';
import type { ApiRequest } from '@millrace/http';
import type { AppError } from '@millrace/runtime';
import { findVerifiedDomain } from '../domains/store.ts';
import { findKnownDevice, startSession } from '../sign-in/rules.ts';
import { findSecondFactor } from '../sign-in/second-factor.ts';
import { createSignInError, type NextPage, type Pending, recordRefusal, type SingleSignOnDeps } from './pending.ts';
import { recordAttempt } from './store.ts';

interface ValidResponse extends Pick<Pending, 'kind' | 'domainId' | 'purpose' | 'next'> {
  profile: ProviderProfile;
  attributes: Record<string, string[]>;
  request: ApiRequest;
}

export async function completeSignIn(deps: SingleSignOnDeps, response: ValidResponse): Promise<NextPage> {
  const { purpose } = response;
  switch (purpose.for) {
    case 'test':
      return showTest(deps, response);
    case 'reauthentication':
      return reauthenticate(deps, purpose, response);
    case 'sign_in':
      return signIn(deps, response);
  }
}

async function reauthenticate(
  deps: SingleSignOnDeps,
  { sessionId, userId }: { sessionId: string; userId: number },
  response: ValidResponse,
): Promise<NextPage> {
  const { profile, next } = response;
  const { installedProviders } = deps;
  const reason = await deps.transaction((tx) => findConfirmationRefusal(tx, profile, { userId, installedProviders }));
  if (reason === 'another_account') throw createSignInError('reauth_user_mismatch');
  if (reason !== null) throw await rejectSignIn(deps, response, reason);
  const session = await renewSessionSecret(deps.sql, sessionId);
  return { path: next, signedIn: { session, device: null } };
}

async function signIn(deps: SingleSignOnDeps, response: ValidResponse): Promise<NextPage> {
  const { profile, next, request } = response;
  const { transaction, installedProviders, accountMailing } = deps;
  const { kind, domainId } = profile;
  const done = await transaction(async (tx) => {
    const arrival = await signInThroughProvider(tx, profile, { now: new Date(), installedProviders });
    if (arrival.outcome === 'refused') return arrival;
    const { user } = arrival;
    // Require a second factor as for other sign-in methods, because the account can also be in organizations that do
    // not trust this provider.
    const device = await findKnownDevice(tx, request, user.email);
    const factor = await findSecondFactor(tx, user, { device, method: kind });
    if ('step' in factor) return { ...arrival, step: factor.step };
    const signedIn = await startSession(deps, tx, request, { user, method: kind, secondFactor: factor.shown });
    return { ...arrival, signedIn };
  });
  if (done.outcome === 'refused') throw await rejectSignIn(deps, response, done.reason);
  const { user, changed, emailBefore, domain, isEnforcedNow } = done;
  if (changed.includes('claimed')) accountMailing.notifyUser(user, 'account_claimed');
  else if (changed.includes('linked')) accountMailing.notifyUser(user, 'provider_linked');
  if (emailBefore !== null) {
    accountMailing.notifyUser(user, 'email_changed');
    accountMailing.notifyUser({ ...user, email: emailBefore }, 'email_changed');
  }
  if (domain && isEnforcedNow) accountMailing.notifyAdministrators(domain, 'sso_active');
  if (domainId !== null) {
    const attempt = { domain_id: domainId, provider: kind, is_test: false, email: user.email, attributes: null };
    const detail =
      'step' in done ? 'The response is valid. The account requires a second factor.' : 'The user was signed in.';
    await recordAttempt(deps.sql, { ...attempt, reason: null, detail });
  }
  if ('step' in done) {
    const path = `/console/sign-in?second_factor=1&next=${encodeURIComponent(next)}`;
    return { path, step: done.step, outcome: 'second_factor_wanted' };
  }
  return { path: next, signedIn: done.signedIn, outcome: 'signed_in' };
}

/**
 * Records what the provider reported and how a real sign-in would end, so that an administrator can see both. Does not
 * sign anyone in or change an account.
 */
async function showTest(
  { sql }: SingleSignOnDeps,
  { kind, domainId, profile, attributes, next }: ValidResponse,
): Promise<NextPage> {
  const domain = domainId === null ? undefined : await findVerifiedDomain(sql, { id: domainId });
  if (!domain) throw createSignInError('improperly_configured_sso');
  const outcome = testOutcome(profile, domain.domain);
  const { email } = profile;
  await recordAttempt(sql, { domain_id: domain.id, provider: kind, is_test: true, email, attributes, ...outcome });
  return { path: next };
}

/** Returns how a user's first sign-in with this response would end. */
function testOutcome(
  { email, isEmailVerified, firstName, lastName, subject }: ProviderProfile,
  domain: string,
): { reason: string | null; detail: string } {
  if (email === null || parseEmailDomain(email) !== domain) {
    const detail =
      email === null ? refusalSentences.no_email : `The email address ${email} is not in the domain ${domain}.`;
    return { reason: 'other_domain', detail };
  }
  if (!isEmailVerified) {
    return { reason: 'email_not_verified', detail: `${refusalSentences.email_not_verified} Address: ${email}.` };
  }
  const names = [firstName, lastName, subject].filter(Boolean).join(', ');
  return { reason: null, detail: `The response is valid. It identifies the user ${email} (${names}).` };
}

async function rejectSignIn(
  deps: SingleSignOnDeps,
  response: ValidResponse,
  reason: ProviderSignInRefusal,
): Promise<AppError> {
  const { email } = response.profile;
  const isEnforced = typeof reason === 'object';
  const code = isEnforced ? `${reason.enforced}_sso_enforced` : reason;
  const sentence = isEnforced
    ? `The domain of the account, or of the reported email address, enforces a different provider (${reason.enforced}).`
    : refusalSentences[reason];
  return recordRefusal(deps, response, {
    reason: code,
    detail: `${sentence} Reported address: ${email ?? 'none'}.`,
    code,
  });
}

const refusalSentences: Record<Extract<ProviderSignInRefusal, string>, string> = {
  account_disabled: 'The account is deactivated.',
  no_email: 'The provider did not report a valid email address.',
  email_not_verified: 'The provider did not report the email address as verified.',
  other_domain: 'The email address is not in this domain.',
  kept_out: 'An administrator removed this user from the organization and blocked the email address.',
  jit_not_enabled:
    'There is no account with this email address, and the domain does not create accounts automatically.',
  no_new_organizations: 'There is no account with this email address. Ask for an invite.',
};

/** Returns the provider's email address in normalized form, or null if the address is missing or invalid. */
export function readReportedEmail(written: string | null): string | null {
  const email = parseEmailAddress(written ?? '');
  return email !== null && isEmail(email) ? email : null;
}
