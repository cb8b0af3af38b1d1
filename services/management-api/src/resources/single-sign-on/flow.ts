import { addressOf } from '../sign-in/enforcement.ts';
// Signing in by a provider, from the click to the session: the browser is sent away with a state that works once and only in
// this browser, and comes back with an answer (docs/api-rules.md#single-sign-on).

import { randomBytes, randomUUID } from 'node:crypto';
import {
  type ArrivalRefusal,
  arrive,
  beginSignInStep,
  clientSecretContext,
  domainOfAddress,
  findMembership,
  findSignInStep,
  type ProviderAnswer,
  type ProviderKind,
  providerKey,
  providerKinds,
  renewSessionSecret,
  takeSignInStep,
  useAssertion,
  useIdentity,
} from '@millrace/accounts';
import { findLiveSession, hashSecret } from '@millrace/accounts/access';
import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { requireSessionPlace, type SignedIn, sessionOf, stepOf } from '../../access/session-cookie.ts';
import type { OidcSignIn } from '../../oidc/oidc-sign-in.ts';
import type { OidcProvider, OidcQuestion } from '../../oidc/outcome.ts';
import { checkSamlAnswer } from '../../saml/check-answer.ts';
import { samlRequestUrl } from '../../saml/messages.ts';
import { begin, knownDeviceOf, type SignInDeps } from '../sign-in/rules.ts';
import { secondFactorOf } from '../sign-in/second-factor.ts';
import { findProviderDomain, noteTry, type ProviderDomain } from './store.ts';

export interface SingleSignOnDeps extends SignInDeps {
  /** The providers of the installation. */
  installed: ReadonlyMap<ProviderKind, OidcProvider>;
  oidc: OidcSignIn;
}

/** What a sign-in by a provider is for. */
type Purpose = { for: 'sign_in' } | { for: 'reauthentication'; sessionId: string; userId: number } | { for: 'test' };

/** What is kept from the click to the answer. */
interface Pending {
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
}

/** The addresses a provider is told; each provider has its own, so that none can be given another's answer. */
function returnAddress(baseUrl: string, { kind, domainId }: Pick<Pending, 'kind' | 'domainId'>): string {
  return `${baseUrl}/complete/${kind}/${domainId === null || kind === 'saml' ? '' : `${domainId}/`}`;
}

/** A path of our own, or the start: whatever else is written there leads nowhere. */
function ownPath(next: string | null): string {
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
 * @throws AppError with one of the codes of docs/api-rules.md#single-sign-on.
 */
export async function beginAtProvider(
  deps: SingleSignOnDeps,
  { provider, request }: { provider: string; request: ApiRequest },
): Promise<{ url: string; browserSecret: string }> {
  const { sql, signInLimits } = deps;
  requireSessionPlace(request);
  await signInLimits.countProviderStep(request.address);
  const kind = providerKinds.find((known) => known === provider);
  if (kind === undefined) throw refusal('invalid_sso_provider');
  const email = addressOf(request.query.get('email') ?? '');
  const testedId = request.query.get('test');
  const domain = await chosenDomain(deps, { kind, email, testedId });
  const purpose = await purposeOf(deps, request, domain);
  const where = { kind, domainId: domain?.id ?? null };
  const browserSecret = newBrowserSecret(request);
  const pending = { ...where, purpose, next: ownPath(request.query.get('next')), browser: hashSecret(browserSecret) };
  const again = purpose.for === 'reauthentication';

  if (kind === 'saml') {
    const requestId = `_${randomUUID()}`;
    const state = await keep(deps, { ...pending, question: requestId });
    const { saml_acs_url: signOnUrl } = domain as ProviderDomain;
    const own = { entityId: request.baseUrl, acsUrl: returnAddress(request.baseUrl, where) };
    const times = { requestId, relayState: state, now: new Date(), forceAuthn: again };
    return { url: samlRequestUrl({ signOnUrl: String(signOnUrl), ...own, ...times }), browserSecret };
  }
  const begun = await deps.oidc.begin(openIdProvider(deps, kind, domain), {
    redirectUri: returnAddress(request.baseUrl, where),
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
): Promise<ProviderDomain | null> {
  if (kind !== 'saml' && kind !== 'oidc') {
    if (installed.has(kind)) return null;
    throw refusal('improperly_configured_sso');
  }
  const by = testedId !== null ? { id: testedId.toLowerCase() } : email !== null && { name: domainOfAddress(email) };
  const domain = by ? await findProviderDomain(sql, by) : undefined;
  if (kind === 'saml' && domain && hasSaml(domain)) return domain;
  if (kind === 'oidc' && domain?.oidc_issuer && domain.oidc_client_id && domain.oidc_client_secret) return domain;
  if (kind === 'oidc' && testedId === null && installed.has('oidc')) return null;
  throw refusal('improperly_configured_sso');
}

const hasSaml = (domain: ProviderDomain): boolean =>
  Boolean(domain.saml_entity_id && domain.saml_acs_url && domain.saml_x509_cert) &&
  hasPlanFeature(domain.features, 'saml');

function openIdProvider(
  { installed, sealedTexts }: SingleSignOnDeps,
  kind: Exclude<ProviderKind, 'saml'>,
  domain: ProviderDomain | null,
): OidcProvider {
  if (domain === null) {
    const provider = installed.get(kind);
    if (provider === undefined) throw refusal('improperly_configured_sso');
    return provider;
  }
  return {
    kind: 'oidc',
    key: `oidc:${domain.id}`,
    name: domain.domain,
    issuer: String(domain.oidc_issuer),
    clientId: String(domain.oidc_client_id),
    clientSecret: sealedTexts.open(String(domain.oidc_client_secret), clientSecretContext(domain.id)),
    isOfOperator: false,
  };
}

async function purposeOf(
  { sql }: SingleSignOnDeps,
  request: ApiRequest,
  domain: ProviderDomain | null,
): Promise<Purpose> {
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

async function keep({ sql }: SingleSignOnDeps, pending: Pending): Promise<string> {
  return beginSignInStep(sql, { kind: 'provider_sign_in', userId: null, data: { ...pending } });
}

/** An earlier click of the same browser stays good, so that two windows do not take each other's way. */
function newBrowserSecret(request: ApiRequest): string {
  return stepOf(request) ?? randomBytes(32).toString('base64url');
}

/**
 * Takes the answer of an OpenID provider, which the browser brings.
 * @throws AppError with one of the codes of docs/api-rules.md#single-sign-on.
 */
export async function finishOpenId(
  deps: SingleSignOnDeps,
  { provider, domainId, request }: { provider: string; domainId: string | null; request: ApiRequest },
): Promise<Leads> {
  await deps.signInLimits.countProviderStep(request.address);
  const state = request.query.get('state') ?? '';
  const pending = await takePending(deps, state);
  if (pending.kind !== provider || pending.kind === 'saml' || pending.domainId !== domainId) {
    throw refusal('state_unknown');
  }
  requireSameBrowser(pending, request);
  const domain = domainId === null ? null : ((await findProviderDomain(deps.sql, { id: domainId })) ?? null);
  if (domainId !== null && domain === null) throw refusal('improperly_configured_sso');
  const outcome = await deps.oidc.finish(openIdProvider(deps, pending.kind, domain), {
    callbackUrl: `${request.baseUrl}${request.path}?${request.query}`,
    redirectUri: returnAddress(request.baseUrl, pending),
    state,
    question: pending.question as OidcQuestion,
  });
  if (!outcome.ok) throw await refuse(deps, pending, { reason: outcome.reason, detail: outcome.detail });
  const { subject, email, isEmailVerified, firstName, lastName, attributes } = outcome.identity;
  const answer = { kind: pending.kind, domainId, subject, isEmailVerified, firstName, lastName };
  return settle(deps, {
    ...pending,
    request,
    attributes,
    answer: { ...answer, email: addressOf(email ?? '') || null },
  });
}

/**
 * Takes the answer of a SAML provider, which a page of that provider posts: the browser sends none of our cookies with it.
 * So what was found is kept for a moment, and the browser comes back by itself, with its cookies (`finishSaml`).
 */
export async function receiveSaml(
  deps: SingleSignOnDeps,
  { samlResponse, relayState, request }: { samlResponse: string; relayState: string; request: ApiRequest },
): Promise<Leads> {
  await deps.signInLimits.countProviderStep(request.address);
  const { pending, domain } = await samlQuestion(deps, relayState);
  const outcome = checkSamlAnswer(samlResponse, {
    issuer: String(domain.saml_entity_id),
    certificates: [String(domain.saml_x509_cert)],
    acsUrl: returnAddress(request.baseUrl, pending),
    audience: request.baseUrl,
    inResponseTo: typeof pending.question === 'string' ? pending.question : null,
    now: new Date(),
  });
  if (!outcome.ok) throw await refuse(deps, pending, { reason: outcome.reason, detail: outcome.detail });
  const { identity, assertionId, rememberUntil, authenticatedAt } = outcome;
  if (!(await useAssertion(deps.sql, hashSecret(`${domain.id}:${assertionId}`), rememberUntil))) {
    throw await refuse(deps, pending, { reason: 'replayed', detail: 'This answer of the provider was used before.' });
  }
  if (pending.purpose.for === 'reauthentication' && Date.now() - authenticatedAt.getTime() > recentlyMs) {
    const detail = 'The provider has not asked the person to prove again who they are (ForceAuthn).';
    throw await refuse(deps, pending, { reason: 'not_recent', detail });
  }
  const { subject, email: written, firstName, lastName, attributes } = identity;
  const email = addressOf(written ?? '') || null;
  if (subject === null) {
    const detail =
      'The name id is of the format transient, which changes at every sign-in, and there is no attribute with an id.';
    throw await refuse(deps, pending, { reason: 'no_subject', detail });
  }
  const answer = { kind: 'saml', domainId: domain.id, subject, email, isEmailVerified: true, firstName, lastName };
  const data = { ...pending, answer, attributes };
  const ticket = await beginSignInStep(deps.sql, { kind: 'provider_answer', userId: null, data });
  return { path: `/complete/saml/?ticket=${ticket}` };
}

/** Within this time somebody has to have proved who they are who was asked to. */
const recentlyMs = 5 * 60_000;

/** The question an answer belongs to: one of ours, or none, where a domain takes answers that its provider begins by itself. */
async function samlQuestion(
  deps: SingleSignOnDeps,
  relayState: string,
): Promise<{ pending: Pending; domain: ProviderDomain }> {
  const isOurs = /^[\w-]{43}$/.test(relayState);
  const step = isOurs ? await takeSignInStep(deps.sql, 'provider_sign_in', relayState) : undefined;
  const asked = step?.data as unknown as Pending | undefined;
  const domainId = asked?.domainId ?? (/^[0-9a-f-]{36}$/i.test(relayState) ? relayState.toLowerCase() : null);
  const domain = domainId === null ? undefined : await findProviderDomain(deps.sql, { id: domainId });
  if (!domain || !hasSaml(domain)) throw refusal(asked ? 'improperly_configured_sso' : 'state_unknown');
  if (asked) {
    if (asked.kind !== 'saml') throw refusal('state_unknown');
    return { pending: asked, domain };
  }
  const pending: Pending = {
    ...{ kind: 'saml', domainId: domain.id, purpose: { for: 'sign_in' }, next: ownPath(null), browser: null },
    question: null,
  };
  if (domain.saml_allow_unsolicited) return { pending, domain };
  const detail = 'The provider began this sign-in by itself, which this domain does not allow.';
  throw await refuse(deps, pending, { reason: 'unsolicited', detail });
}

type SamlTicket = Pending & { answer: ProviderAnswer; attributes: Record<string, string[]> };

/** Goes on with an answer that was found good, in the browser that asked. Where none did, its person is asked first. */
export async function finishSaml(
  deps: SingleSignOnDeps,
  { ticket, request }: { ticket: string; request: ApiRequest },
): Promise<Leads> {
  const seen = (await findSignInStep(deps.sql, 'provider_answer', ticket))?.data as unknown as SamlTicket | undefined;
  if (seen?.browser === null) return { path: `/console/sign-in#confirm=${ticket}` };
  const taken = await takeTicket(deps, ticket);
  requireSameBrowser(taken, request);
  return settle(deps, { ...taken, request });
}

/** Whom an answer that nobody asked for is about: its person confirms that before anything happens. */
export async function lookAtTicket(deps: SingleSignOnDeps, ticket: string): Promise<{ email: string | null }> {
  const step = await findSignInStep(deps.sql, 'provider_answer', ticket);
  const seen = step?.data as unknown as SamlTicket | undefined;
  if (seen?.browser !== null) throw refusal('state_unknown');
  return { email: seen.answer.email };
}

/** @throws AppError with one of the codes of docs/api-rules.md#single-sign-on. */
export async function confirmTicket(
  deps: SingleSignOnDeps,
  { ticket, request }: { ticket: string; request: ApiRequest },
): Promise<Leads> {
  const taken = await takeTicket(deps, ticket);
  if (taken.browser !== null) throw refusal('state_unknown');
  return settle(deps, { ...taken, request });
}

async function takeTicket({ sql }: SingleSignOnDeps, ticket: string): Promise<SamlTicket> {
  const step = await takeSignInStep(sql, 'provider_answer', ticket);
  if (!step) throw refusal('state_unknown');
  return step.data as unknown as SamlTicket;
}

async function takePending({ sql }: SingleSignOnDeps, state: string): Promise<Pending> {
  const step = await takeSignInStep(sql, 'provider_sign_in', state);
  if (!step) throw refusal('state_unknown');
  return step.data as unknown as Pending;
}

/** Otherwise somebody's own answer would sign another person's browser in as them. */
function requireSameBrowser({ browser }: Pending, request: ApiRequest): void {
  const secret = stepOf(request);
  if (secret === null || hashSecret(secret) !== browser) throw refusal('other_browser');
}

interface Answered extends Pick<Pending, 'kind' | 'domainId' | 'purpose' | 'next'> {
  answer: ProviderAnswer;
  attributes: Record<string, string[]>;
  request: ApiRequest;
}

/** What an answer that was found good is worth. */
async function settle(deps: SingleSignOnDeps, answered: Answered): Promise<Leads> {
  const { purpose, answer, next, request } = answered;
  if (purpose.for === 'test') return showTest(deps, answered);
  if (purpose.for === 'reauthentication') {
    const { subject } = answer;
    const userId = await useIdentity(deps.sql, { provider: providerKey(answer), subject });
    if (userId !== purpose.userId) throw refusal('reauth_user_mismatch');
    const session = await renewSessionSecret(deps.sql, purpose.sessionId);
    return { path: next, signedIn: { session, device: null } };
  }
  return deps.countSignIn('provider', () => signIn(deps, { answer, next, request }));
}

async function signIn(
  deps: SingleSignOnDeps,
  { answer, next, request }: Pick<Answered, 'answer' | 'next' | 'request'>,
): Promise<Leads> {
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
  if (done.outcome === 'refused') {
    const { code, detail } = refusalOf(done.reason, answer);
    throw await refuse(deps, { kind, domainId, purpose: { for: 'sign_in' }, next }, { reason: code, detail, code });
  }
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
    await noteTry(deps.sql, { ...tried, reason: null, detail: 'Signed in.' });
  }
  if ('step' in done) {
    return { path: `/console/sign-in?second_factor=1&next=${encodeURIComponent(next)}`, step: done.step };
  }
  return { path: next, signedIn: done.signedIn };
}

/** Shows an administrator what the provider says of them, and what would come of it. Nothing is changed. */
async function showTest(
  { sql }: SingleSignOnDeps,
  { kind, domainId, answer, attributes, next }: Answered,
): Promise<Leads> {
  const domain = domainId === null ? undefined : await findProviderDomain(sql, { id: domainId });
  if (!domain) throw refusal('improperly_configured_sso');
  const { email, firstName, lastName, subject } = answer;
  const isOwn = email !== null && domainOfAddress(email) === domain.domain;
  const outcome = isOwn
    ? {
        reason: null,
        detail: `The answer is good. It means ${email} (${[firstName, lastName, subject].filter(Boolean).join(', ')}).`,
      }
    : {
        reason: 'other_domain',
        detail: `The address ${email ?? 'is missing, and'} is not of the domain ${domain.domain}.`,
      };
  await noteTry(sql, { domain_id: domain.id, provider: kind, is_test: true, email, attributes, ...outcome });
  return { path: next };
}

/** Writes down, for those who administrate the domain, why somebody did not get in. @returns what the person is told. */
async function refuse(
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

function refusalOf(reason: ArrivalRefusal, { email }: ProviderAnswer): { code: string; detail: string } {
  if (typeof reason === 'object') {
    const { enforced } = reason;
    return { code: `${enforced}_sso_enforced`, detail: `The address ${email} is for another provider (${enforced}).` };
  }
  return { code: reason, detail: `${arrivalSentences[reason]} (${email ?? 'no address'})` };
}

const arrivalSentences: Record<Extract<ArrivalRefusal, string>, string> = {
  account_disabled: 'The account is deactivated.',
  no_email: 'The provider tells no e-mail address.',
  email_not_verified: 'The provider does not say that the address is verified.',
  other_domain: 'The address is not of this domain.',
  kept_out: 'Somebody has removed this person from the organization and keeps them out.',
  jit_not_enabled: 'There is no account with this address, and the domain does not make any.',
  no_new_organizations: 'There is no account with this address. Ask for an invite.',
};

const sentences = {
  invalid_sso_provider: 'There is no such sign-in provider.',
  improperly_configured_sso: 'This sign-in provider is not set up.',
  session_ended: 'Your session has ended. Please sign in again.',
  state_unknown: 'This sign-in took too long, or was finished already. Please begin again.',
  other_browser: 'This sign-in was begun in another browser. Please begin again.',
  reauth_user_mismatch: 'That was another account. You are still signed in as before.',
};

function refusal(code: keyof typeof sentences): AppError {
  return new AppError('invalid', sentences[code], { code });
}
