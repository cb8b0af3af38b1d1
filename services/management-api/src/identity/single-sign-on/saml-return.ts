// Completes a sign-in through a SAML provider in two steps. First, the provider's page posts the response. The browser
// sends this request without Millrace's cookies. Then, the browser follows a redirect and sends the cookies
// (docs/api/single-sign-on.md).

import {
  beginSignInStep,
  consumeSignInStep,
  findSignInStep,
  isProviderSubject,
  markAssertionUsed,
} from '@millrace/accounts';
import { hashSecret } from '@millrace/accounts/access';
import type { ApiRequest } from '@millrace/http';
import { requirePublicUrl } from '../../access/public-url.ts';
import { type DomainRow, findVerifiedDomain } from '../domains/store.ts';
import { checkSamlResponse } from '../saml/check-response.ts';
import { parseLocalPath } from './begin.ts';
import { completeSignIn, readReportedEmail } from './complete-sign-in.ts';
import {
  createRedirectUrl,
  createSignInError,
  hasSaml,
  type NextPage,
  parseTicket,
  recordRefusal,
  requireSameBrowser,
  type SamlPending,
  type SamlTicket,
  type SingleSignOnDeps,
  takePendingSignIn,
} from './pending.ts';

/**
 * Checks the response that a SAML provider's page posts. The browser sends this request without Millrace's cookies. The
 * result is therefore stored as a ticket, and the browser is redirected to a URL with the ticket. That request contains
 * the cookies (`finishSaml`).
 */
export async function receiveSaml(
  deps: SingleSignOnDeps,
  { samlResponse, relayState, request }: { samlResponse: string; relayState: string; request: ApiRequest },
): Promise<NextPage> {
  const publicUrl = requirePublicUrl(request);
  await deps.signInLimits.countProviderStep(request.address);
  const { pending, domain } = await samlSignInState(deps, relayState);
  const outcome = checkSamlResponse(samlResponse, {
    issuer: String(domain.saml_entity_id),
    certificates: [String(domain.saml_x509_cert)],
    acsUrl: createRedirectUrl(publicUrl, pending),
    audience: publicUrl,
    inResponseTo: pending.requestId,
    now: new Date(),
  });
  if (!outcome.ok) throw await recordRefusal(deps, pending, { reason: outcome.reason, detail: outcome.detail });
  const { identity, assertionId, rememberUntil, authenticatedAt } = outcome;
  if (!(await markAssertionUsed(deps.sql, hashSecret(`${domain.id}:${assertionId}`), rememberUntil))) {
    throw await recordRefusal(deps, pending, { reason: 'replayed', detail: 'This SAML response was already used.' });
  }
  if (pending.purpose.for === 'reauthentication' && Date.now() - authenticatedAt.getTime() > recentlyMs) {
    const detail = 'The provider did not ask the user to sign in again, although the request required it (ForceAuthn).';
    throw await recordRefusal(deps, pending, { reason: 'not_recent', detail });
  }
  const { subject, email: written, firstName, lastName, attributes } = identity;
  const email = readReportedEmail(written);
  if (subject === null) {
    const detail =
      'The name ID has the format transient, which changes at every sign-in, and the response has no attribute ' +
      'with an ID.';
    throw await recordRefusal(deps, pending, { reason: 'no_subject', detail });
  }
  if (!isProviderSubject(subject)) {
    const detail = 'The user ID must have 1 to 256 characters and no control characters.';
    throw await recordRefusal(deps, pending, { reason: 'no_subject', detail });
  }
  const profile = {
    kind: 'saml' as const,
    domainId: domain.id,
    issuer: String(domain.saml_entity_id),
    subject,
    email,
    isEmailVerified: true,
    firstName,
    lastName,
  };
  const data: SamlTicket = { ...pending, profile, attributes };
  const ticket = await beginSignInStep(deps.sql, { kind: 'provider_answer', userId: null, data });
  return { path: `/complete/saml/?ticket=${ticket}` };
}

/** Maximum age in milliseconds of an authentication that confirms a session. */
const recentlyMs = 5 * 60_000;

/**
 * Returns the pending sign-in for a response. Unsolicited responses have no pending sign-in, and only some domains
 * allow them.
 */
async function samlSignInState(
  deps: SingleSignOnDeps,
  relayState: string,
): Promise<{ pending: SamlPending; domain: DomainRow }> {
  const isOurs = /^[\w-]{43}$/.test(relayState);
  const stored = isOurs ? await takePendingSignIn(deps.sql, relayState) : undefined;
  const domainId = stored?.domainId ?? (/^[0-9a-f-]{36}$/i.test(relayState) ? relayState.toLowerCase() : null);
  const domain = domainId === null ? undefined : await findVerifiedDomain(deps.sql, { id: domainId });
  if (!domain || !hasSaml(domain)) throw createSignInError(stored ? 'improperly_configured_sso' : 'state_unknown');
  if (stored) {
    if (stored.kind !== 'saml') throw createSignInError('state_unknown');
    return { pending: stored, domain };
  }
  const pending: SamlPending = {
    kind: 'saml',
    domainId: domain.id,
    purpose: { for: 'sign_in' },
    next: parseLocalPath(null),
    browser: null,
    requestId: null,
  };
  if (domain.saml_allow_unsolicited) return { pending, domain };
  const detail = 'The sign-in was started on the provider’s own page, which this domain does not allow.';
  throw await recordRefusal(deps, pending, { reason: 'unsolicited', detail });
}

/**
 * Completes the ticket's sign-in in the user's browser. If the sign-in is unsolicited, the user must confirm it first.
 */
export async function finishSaml(
  deps: SingleSignOnDeps,
  { ticket, request }: { ticket: string; request: ApiRequest },
): Promise<NextPage> {
  const seen = await findTicket(deps, ticket);
  if (seen?.browser === null) return { path: `/console/sign-in#confirm=${ticket}` };
  const taken = await takeTicket(deps, ticket);
  requireSameBrowser(taken, request);
  return completeSignIn(deps, { ...taken, request });
}

export async function describeTicket(deps: SingleSignOnDeps, ticket: string): Promise<{ email: string | null }> {
  const seen = await findTicket(deps, ticket);
  if (seen?.browser !== null) throw createSignInError('state_unknown');
  return { email: seen.profile.email };
}

/**
 * Completes an unsolicited sign-in after the user has confirmed it.
 * @throws AppError with one of the codes in docs/api/single-sign-on.md
 */
export async function confirmTicket(
  deps: SingleSignOnDeps,
  { ticket, request }: { ticket: string; request: ApiRequest },
): Promise<NextPage> {
  const taken = await takeTicket(deps, ticket);
  if (taken.browser !== null) throw createSignInError('state_unknown');
  return completeSignIn(deps, { ...taken, request });
}

async function findTicket({ sql }: SingleSignOnDeps, ticket: string): Promise<SamlTicket | undefined> {
  const step = await findSignInStep(sql, 'provider_answer', ticket);
  return step && parseTicket(step.data);
}

async function takeTicket({ sql }: SingleSignOnDeps, ticket: string): Promise<SamlTicket> {
  const step = await consumeSignInStep(sql, 'provider_answer', ticket);
  if (!step) throw createSignInError('state_unknown');
  return parseTicket(step.data);
}
