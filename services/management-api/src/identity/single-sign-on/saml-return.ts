// The way back from a SAML provider, in two steps: its page posts the answer, without our cookies; then the browser comes by
// itself, with them (docs/api/single-sign-on.md).

import {
  beginSignInStep,
  findSignInStep,
  isSubject,
  type ProviderAnswer,
  takeSignInStep,
  useAssertion,
} from '@millrace/accounts';
import { hashSecret } from '@millrace/accounts/access';
import type { ApiRequest } from '@millrace/http';
import { requirePublicUrl } from '../../access/public-url.ts';
import { type DomainRow, findVerifiedDomain } from '../domains/store.ts';
import { checkSamlAnswer } from '../saml/check-answer.ts';
import {
  hasSaml,
  type Leads,
  ownPath,
  type Pending,
  refusal,
  refuse,
  reportedAddress,
  requireSameBrowser,
  returnAddress,
  type SingleSignOnDeps,
  settle,
} from './flow.ts';

/**
 * Takes the answer of a SAML provider, which a page of that provider posts: the browser sends none of our cookies with it.
 * So what was found is kept for a moment, and the browser comes back by itself, with its cookies (`finishSaml`).
 */
export async function receiveSaml(
  deps: SingleSignOnDeps,
  { samlResponse, relayState, request }: { samlResponse: string; relayState: string; request: ApiRequest },
): Promise<Leads> {
  const publicUrl = requirePublicUrl(request);
  await deps.signInLimits.countProviderStep(request.address);
  const { pending, domain } = await samlQuestion(deps, relayState);
  const outcome = checkSamlAnswer(samlResponse, {
    issuer: String(domain.saml_entity_id),
    certificates: [String(domain.saml_x509_cert)],
    acsUrl: returnAddress(publicUrl, pending),
    audience: publicUrl,
    inResponseTo: typeof pending.question === 'string' ? pending.question : null,
    now: new Date(),
  });
  if (!outcome.ok) throw await refuse(deps, pending, { reason: outcome.reason, detail: outcome.detail });
  const { identity, assertionId, rememberUntil, authenticatedAt } = outcome;
  if (!(await useAssertion(deps.sql, hashSecret(`${domain.id}:${assertionId}`), rememberUntil))) {
    throw await refuse(deps, pending, { reason: 'replayed', detail: 'This SAML response was already used.' });
  }
  if (pending.purpose.for === 'reauthentication' && Date.now() - authenticatedAt.getTime() > recentlyMs) {
    const detail = 'The provider did not ask the user to sign in again, although the request required it (ForceAuthn).';
    throw await refuse(deps, pending, { reason: 'not_recent', detail });
  }
  const { subject, email: written, firstName, lastName, attributes } = identity;
  const email = reportedAddress(written);
  if (subject === null) {
    const detail =
      'The name ID has the format transient, which changes at every sign-in, and the response has no attribute ' +
      'with an ID.';
    throw await refuse(deps, pending, { reason: 'no_subject', detail });
  }
  if (!isSubject(subject)) {
    const detail = 'The user ID must have 1 to 256 characters and no control characters.';
    throw await refuse(deps, pending, { reason: 'no_subject', detail });
  }
  const answer = {
    kind: 'saml',
    domainId: domain.id,
    issuer: String(domain.saml_entity_id),
    subject,
    email,
    isEmailVerified: true,
    firstName,
    lastName,
  };
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
): Promise<{ pending: Pending; domain: DomainRow }> {
  const isOurs = /^[\w-]{43}$/.test(relayState);
  const step = isOurs ? await takeSignInStep(deps.sql, 'provider_sign_in', relayState) : undefined;
  const asked = step?.data as unknown as Pending | undefined;
  const domainId = asked?.domainId ?? (/^[0-9a-f-]{36}$/i.test(relayState) ? relayState.toLowerCase() : null);
  const domain = domainId === null ? undefined : await findVerifiedDomain(deps.sql, { id: domainId });
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
  const detail = 'The sign-in was started on the provider’s own page, which this domain does not allow.';
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

/** @throws AppError with one of the codes of docs/api/single-sign-on.md. */
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
