// Signing in by a provider, from the click to the session: the browser is sent away with a state that works once and only in
// this browser, and comes back with an answer (docs/api/single-sign-on.md).

import { randomUUID } from 'node:crypto';
import {
  type ArrivalRefusal,
  addressOf,
  arrive,
  beginSignInStep,
  clientSecretContext,
  domainOfAddress,
  findMembership,
  isEmail,
  type ProviderAnswer,
  type ProviderKind,
  providerKinds,
  refusalToConfirm,
  renewSessionSecret,
  takeSignInStep,
} from '@millrace/accounts';
import { findLiveSession, hashSecret, newSecret } from '@millrace/accounts/access';
import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { requirePublicUrl } from '../../access/public-url.ts';
import { requireSessionPlace, type SignedIn, sessionOf, stepOf } from '../../access/session-cookie.ts';
import { hasOidc, samlOf } from '../domains/own-provider.ts';
import { type DomainRow, findVerifiedDomain } from '../domains/store.ts';
import type { OidcSignIn } from '../oidc/oidc-sign-in.ts';
import type { OidcProvider, OidcQuestion } from '../oidc/outcome.ts';
import { samlRequestUrl } from '../saml/messages.ts';
import { begin, knownDeviceOf, type SignInDeps } from '../sign-in/rules.ts';
import { secondFactorOf } from '../sign-in/second-factor.ts';
import type { SignInOutcome } from '../sign-in/sign-in-count.ts';
import { noteTry } from './store.ts';

export interface SingleSignOnDeps extends SignInDeps {
  /** The providers of the installation. */
  installed: ReadonlyMap<ProviderKind, OidcProvider>;
  oidc: OidcSignIn;
}

/** What a sign-in by a provider is for. */
type Purpose = { for: 'sign_in' } | { for: 'reauthentication'; sessionId: string; userId: number } | { for: 'test' };

/** What is kept from the click to the answer. */
export interface Pending {
  kind: ProviderKind;
  domainId: string | null;
  purpose: Purpose;
  /** A path of our own. */
  next: string;
  /** SHA-256 of what the browser's cookie carries; null: no browser of ours asked (SAML's unsolicited answers). */
  browser: string | null;
  /** What the answer is checked against, which no browser sees. */
  question: unknown;
}

/** Where the browser goes next, and with which cookies. */
export interface Leads {
  /** Below the address of the installation. */
  path: string;
  signedIn?: SignedIn;
  step?: string;
  /** Of a sign-in that is over here. */
  outcome?: SignInOutcome;
}

/** The addresses a provider is told; each provider has its own, so that none can be given another's answer. */
export function returnAddress(publicUrl: string, { kind, domainId }: Pick<Pending, 'kind' | 'domainId'>): string {
  return `${publicUrl}/complete/${kind}/${domainId === null || kind === 'saml' ? '' : `${domainId}/`}`;
}

/** A path of our own, or the start: whatever else is written there leads nowhere. */
export function ownPath(next: string | null): string {
  const start = '/console/';
  if (next === null || next.length > 2000 || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next)) return start;
  const own = 'http://own.invalid';
  const url = URL.canParse(next, own) ? new URL(next, own) : null;
  return url?.origin === own ? url.pathname + url.search + url.hash : start;
}

/**
 * Sends the browser to a provider.
 *
 * @param query `email` and, for a test, `test`: they choose the domain; `next`; `reauth=true` to confirm a session.
 * @returns also the secret for the cookie that binds the answer to this browser.
 * @throws AppError with one of the codes of docs/api/single-sign-on.md.
 */
export async function beginAtProvider(
  deps: SingleSignOnDeps,
  { provider, request }: { provider: string; request: ApiRequest },
): Promise<{ url: string; browserSecret: string }> {
  const { sql, signInLimits } = deps;
  const publicUrl = requirePublicUrl(request);
  requireSessionPlace(request);
  await signInLimits.countProviderStep(request.address);
  const kind = providerKinds.find((known) => known === provider);
  if (kind === undefined) throw refusal('invalid_sso_provider');
  const email = addressOf(request.query.get('email') ?? '');
  const testedId = request.query.get('test');
  const domain = await chosenDomain(deps, { kind, email, testedId });
  const purpose = await purposeOf(deps, request, domain);
  const where = { kind, domainId: domain?.id ?? null };
  // An earlier click of the same browser stays good, so that two windows do not take each other's way.
  const browserSecret = stepOf(request) ?? newSecret();
  const pending = { ...where, purpose, next: ownPath(request.query.get('next')), browser: hashSecret(browserSecret) };
  const again = purpose.for === 'reauthentication';

  if (kind === 'saml') {
    const requestId = `_${randomUUID()}`;
    const data = { ...pending, question: requestId };
    const state = await beginSignInStep(sql, { kind: 'provider_sign_in', userId: null, data });
    const { saml_acs_url: signOnUrl } = domain as DomainRow;
    const own = { entityId: publicUrl, acsUrl: returnAddress(publicUrl, where) };
    const times = { requestId, relayState: state, now: new Date(), forceAuthn: again };
    return { url: samlRequestUrl({ signOnUrl: String(signOnUrl), ...own, ...times }), browserSecret };
  }
  const begun = await deps.oidc.begin(openIdProvider(deps, kind, domain), {
    redirectUri: returnAddress(publicUrl, where),
    reauthenticate: again,
    ...(email !== null && { loginHint: email }),
  });
  if (!begun.ok) throw await refuse(deps, pending, begun);
  const data = { ...pending, question: begun.question };
  await beginSignInStep(sql, { kind: 'provider_sign_in', userId: null, secret: begun.state, data });
  return { url: begun.url, browserSecret };
}

/** The domain whose own provider is asked; null for a provider of the installation. */
async function chosenDomain(
  { sql, installed }: SingleSignOnDeps,
  { kind, email, testedId }: { kind: ProviderKind; email: string | null; testedId: string | null },
): Promise<DomainRow | null> {
  if (kind !== 'saml' && kind !== 'oidc') {
    if (installed.has(kind)) return null;
    throw refusal('improperly_configured_sso');
  }
  const by = testedId !== null ? { id: testedId.toLowerCase() } : email !== null && { name: domainOfAddress(email) };
  const domain = by ? await findVerifiedDomain(sql, by) : undefined;
  if (kind === 'saml' && domain && hasSaml(domain)) return domain;
  if (kind === 'oidc' && domain && hasOidc(domain)) return domain;
  if (kind === 'oidc' && testedId === null && installed.has('oidc')) return null;
  throw refusal('improperly_configured_sso');
}

/** Whether people of a domain can sign in by its SAML provider. */
export const hasSaml = (domain: DomainRow): boolean =>
  samlOf(domain)?.problem === null && hasPlanFeature(domain.features, 'saml');

function openIdProvider(
  { installed, sealedTexts }: SingleSignOnDeps,
  kind: Exclude<ProviderKind, 'saml'>,
  domain: DomainRow | null,
): OidcProvider {
  if (domain === null) {
    const provider = installed.get(kind);
    if (provider === undefined) throw refusal('improperly_configured_sso');
    return provider;
  }
  return {
    kind: 'oidc',
    name: domain.domain,
    issuer: String(domain.oidc_issuer),
    clientId: String(domain.oidc_client_id),
    clientSecret: sealedTexts.open(String(domain.oidc_client_secret), clientSecretContext(domain.id)),
    isOfOperator: false,
  };
}

async function purposeOf({ sql }: SingleSignOnDeps, request: ApiRequest, domain: DomainRow | null): Promise<Purpose> {
  const isTest = request.query.has('test');
  if (!isTest && request.query.get('reauth') !== 'true') return { for: 'sign_in' };
  const secret = sessionOf(request);
  const session = secret === null ? undefined : await findLiveSession(sql, hashSecret(secret));
  if (!session) throw refusal('session_ended');
  if (!isTest) return { for: 'reauthentication', sessionId: session.id, userId: session.user_id };
  const organizationId = domain?.organization_id ?? '';
  const member = domain && (await findMembership(sql, { organizationId, userId: session.user_id }));
  if (!member || member.level < membershipLevels.administrator) throw refusal('improperly_configured_sso');
  return { for: 'test' };
}

/**
 * Takes the answer of an OpenID provider, which the browser brings.
 * @throws AppError with one of the codes of docs/api/single-sign-on.md.
 */
export async function finishOpenId(
  deps: SingleSignOnDeps,
  { provider, domainId, request }: { provider: string; domainId: string | null; request: ApiRequest },
): Promise<Leads> {
  const publicUrl = requirePublicUrl(request);
  await deps.signInLimits.countProviderStep(request.address);
  const state = request.query.get('state') ?? '';
  const step = await takeSignInStep(deps.sql, 'provider_sign_in', state);
  if (!step) throw refusal('state_unknown');
  const pending = step.data as unknown as Pending;
  if (pending.kind !== provider || pending.kind === 'saml' || pending.domainId !== domainId) {
    throw refusal('state_unknown');
  }
  requireSameBrowser(pending, request);
  const domain = domainId === null ? null : ((await findVerifiedDomain(deps.sql, { id: domainId })) ?? null);
  if (domainId !== null && domain === null) throw refusal('improperly_configured_sso');
  const asked = openIdProvider(deps, pending.kind, domain);
  const outcome = await deps.oidc.finish(asked, {
    callbackUrl: `${publicUrl}${request.path}?${request.query}`,
    redirectUri: returnAddress(publicUrl, pending),
    state,
    question: pending.question as OidcQuestion,
  });
  if (!outcome.ok) throw await refuse(deps, pending, { reason: outcome.reason, detail: outcome.detail });
  const { subject, email, isEmailVerified, firstName, lastName, attributes } = outcome.identity;
  const answer = {
    kind: pending.kind,
    domainId,
    issuer: asked.issuer,
    subject,
    email: reportedAddress(email),
    isEmailVerified,
    firstName,
    lastName,
  };
  return settle(deps, { ...pending, request, attributes, answer });
}

/** The address a provider reports, as accounts have it; null for none, and for a text that is not a valid address. */
export function reportedAddress(written: string | null): string | null {
  const email = addressOf(written ?? '');
  return email !== null && isEmail(email) ? email : null;
}

/** Otherwise somebody's own answer would sign another person's browser in as them. */
export function requireSameBrowser({ browser }: Pending, request: ApiRequest): void {
  const secret = stepOf(request);
  if (secret === null || hashSecret(secret) !== browser) throw refusal('other_browser');
}

interface Answered extends Pick<Pending, 'kind' | 'domainId' | 'purpose' | 'next'> {
  answer: ProviderAnswer;
  attributes: Record<string, string[]>;
  request: ApiRequest;
}

/** Acts on a response of a provider that was checked. */
export async function settle(deps: SingleSignOnDeps, answered: Answered): Promise<Leads> {
  const { purpose } = answered;
  switch (purpose.for) {
    case 'test':
      return showTest(deps, answered);
    case 'reauthentication':
      return reauthenticate(deps, purpose, answered);
    case 'sign_in':
      return signIn(deps, answered);
  }
}

async function reauthenticate(
  deps: SingleSignOnDeps,
  { sessionId, userId }: { sessionId: string; userId: number },
  answered: Answered,
): Promise<Leads> {
  const { answer, next } = answered;
  const { installed } = deps;
  const reason = await deps.transaction((tx) => refusalToConfirm(tx, answer, { userId, installed }));
  if (reason === 'another_account') throw refusal('reauth_user_mismatch');
  if (reason !== null) throw await refuseArrival(deps, answered, reason);
  const session = await renewSessionSecret(deps.sql, sessionId);
  return { path: next, signedIn: { session, device: null } };
}

async function signIn(deps: SingleSignOnDeps, answered: Answered): Promise<Leads> {
  const { answer, next, request } = answered;
  const { transaction, installed, accountMailing } = deps;
  const { kind, domainId } = answer;
  const done = await transaction(async (tx) => {
    const arrival = await arrive(tx, answer, { now: new Date(), installed });
    if (arrival.outcome === 'refused') return arrival;
    const { user } = arrival;
    // The account may be in other organizations too, whose data this provider has no say about.
    const device = await knownDeviceOf(tx, request, user.email);
    const factor = await secondFactorOf(tx, user, { device, method: kind });
    if ('step' in factor) return { ...arrival, step: factor.step };
    const signedIn = await begin(deps, tx, request, { user, method: kind, secondFactor: factor.shown });
    return { ...arrival, signedIn };
  });
  if (done.outcome === 'refused') throw await refuseArrival(deps, answered, done.reason);
  const { user, changed, emailBefore, domain, isEnforcedNow } = done;
  if (changed.includes('claimed')) accountMailing.tell(user, 'account_claimed');
  else if (changed.includes('linked')) accountMailing.tell(user, 'provider_linked');
  if (emailBefore !== null) {
    accountMailing.tell(user, 'email_changed');
    accountMailing.tell({ ...user, email: emailBefore }, 'email_changed');
  }
  if (domain && isEnforcedNow) accountMailing.tellAdministrators(domain, 'sso_active');
  if (domainId !== null) {
    const tried = { domain_id: domainId, provider: kind, is_test: false, email: user.email, attributes: null };
    const detail =
      'step' in done ? 'The response is valid. The account requires a second factor.' : 'The user was signed in.';
    await noteTry(deps.sql, { ...tried, reason: null, detail });
  }
  if ('step' in done) {
    const path = `/console/sign-in?second_factor=1&next=${encodeURIComponent(next)}`;
    return { path, step: done.step, outcome: 'second_factor_wanted' };
  }
  return { path: next, signedIn: done.signedIn, outcome: 'signed_in' };
}

/** Shows an administrator what the provider says of them, and what would come of it. Nothing is changed. */
async function showTest(
  { sql }: SingleSignOnDeps,
  { kind, domainId, answer, attributes, next }: Answered,
): Promise<Leads> {
  const domain = domainId === null ? undefined : await findVerifiedDomain(sql, { id: domainId });
  if (!domain) throw refusal('improperly_configured_sso');
  const outcome = testOutcome(answer, domain.domain);
  const { email } = answer;
  await noteTry(sql, { domain_id: domain.id, provider: kind, is_test: true, email, attributes, ...outcome });
  return { path: next };
}

/** What a first sign-in with a response would come to. */
function testOutcome(
  { email, isEmailVerified, firstName, lastName, subject }: ProviderAnswer,
  domain: string,
): { reason: string | null; detail: string } {
  if (email === null || domainOfAddress(email) !== domain) {
    const detail =
      email === null ? arrivalSentences.no_email : `The email address ${email} is not in the domain ${domain}.`;
    return { reason: 'other_domain', detail };
  }
  if (!isEmailVerified) {
    return { reason: 'email_not_verified', detail: `${arrivalSentences.email_not_verified} Address: ${email}.` };
  }
  const names = [firstName, lastName, subject].filter(Boolean).join(', ');
  return { reason: null, detail: `The response is valid. It identifies the user ${email} (${names}).` };
}

/** Writes down, for those who administrate the domain, why somebody did not get in. @returns what the person is told. */
export async function refuse(
  { sql }: SingleSignOnDeps,
  { kind, domainId, purpose, next }: Pick<Pending, 'kind' | 'domainId' | 'purpose' | 'next'>,
  { reason, detail, code }: { reason: string; detail: string; code?: string },
): Promise<AppError> {
  if (domainId !== null) {
    const tried = {
      domain_id: domainId,
      provider: kind,
      is_test: purpose.for === 'test',
      email: null,
      attributes: null,
    };
    await noteTry(sql, { ...tried, reason, detail });
    if (purpose.for === 'test') {
      return new AppError('invalid', detail, { code: 'sso_test_failed', details: { reason, next } });
    }
  }
  return new AppError('invalid', detail, {
    code: code ?? (reason === 'denied' ? 'sso_denied' : 'social_login_failure'),
    details: { reason },
  });
}

async function refuseArrival(deps: SingleSignOnDeps, answered: Answered, reason: ArrivalRefusal): Promise<AppError> {
  const { email } = answered.answer;
  const isEnforced = typeof reason === 'object';
  const code = isEnforced ? `${reason.enforced}_sso_enforced` : reason;
  const sentence = isEnforced
    ? `The domain of the account, or of the reported email address, enforces a different provider (${reason.enforced}).`
    : arrivalSentences[reason];
  return refuse(deps, answered, { reason: code, detail: `${sentence} Reported address: ${email ?? 'none'}.`, code });
}

const arrivalSentences: Record<Extract<ArrivalRefusal, string>, string> = {
  account_disabled: 'The account is deactivated.',
  no_email: 'The provider did not report a valid email address.',
  email_not_verified: 'The provider did not report the email address as verified.',
  other_domain: 'The email address is not in this domain.',
  kept_out: 'An administrator removed this user from the organization and blocked the email address.',
  jit_not_enabled:
    'There is no account with this email address, and the domain does not create accounts automatically.',
  no_new_organizations: 'There is no account with this email address. Ask for an invite.',
};

const sentences = {
  invalid_sso_provider: 'This sign-in provider does not exist.',
  improperly_configured_sso: 'This sign-in provider is not set up.',
  session_ended: 'Your session has ended. Sign in again.',
  state_unknown: 'This sign-in has expired or was already completed. Start again.',
  other_browser: 'This sign-in was started in another browser. Start again in this one.',
  reauth_user_mismatch: 'You signed in at the provider with a different account. Your session has not changed.',
};

export function refusal(code: keyof typeof sentences): AppError {
  return new AppError('invalid', sentences[code], { code });
}
