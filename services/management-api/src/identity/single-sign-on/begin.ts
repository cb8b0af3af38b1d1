import { randomUUID } from 'node:crypto';
import {
  beginSignInStep,
  findMembership,
  type ProviderKind,
  parseEmailAddress,
  parseEmailDomain,
  providerKinds,
} from '@millrace/accounts';
import { findLiveSession, hashSecret, newSecret } from '@millrace/accounts/access';
import { membershipLevels } from '@millrace/contracts';
import type { ApiRequest } from '@millrace/http';
import { requirePublicUrl } from '../../access/public-url.ts';
import { readSessionCookie, readStepCookie, requireSecureOrigin } from '../../access/session-cookie.ts';
import { hasOidc } from '../domains/own-provider.ts';
import { type DomainRow, findVerifiedDomain } from '../domains/store.ts';
import { samlRequestUrl } from '../saml/messages.ts';
import {
  createRedirectUrl,
  createSignInError,
  findOidcProvider,
  hasSaml,
  type Pending,
  type Purpose,
  recordRefusal,
  type SingleSignOnDeps,
} from './pending.ts';

/**
 * Starts a sign-in through a provider. The query parameter `email` selects the domain. In a test sign-in, `test`
 * selects it instead. `next` is the page to open afterwards, and `reauth=true` confirms a session.
 * @returns the provider URL to redirect to, and the secret for the cookie that binds the response to this browser
 * @throws AppError with one of the codes in docs/api/single-sign-on.md
 */
export async function startProviderSignIn(
  deps: SingleSignOnDeps,
  { provider, request }: { provider: string; request: ApiRequest },
): Promise<{ url: string; browserSecret: string }> {
  const { sql, signInLimits } = deps;
  const publicUrl = requirePublicUrl(request);
  requireSecureOrigin(request);
  await signInLimits.countProviderStep(request.address);
  const kind = providerKinds.find((known) => known === provider);
  if (kind === undefined) throw createSignInError('invalid_sso_provider');
  const email = parseEmailAddress(request.query.get('email') ?? '');
  const testedId = request.query.get('test');
  const domain = await chosenDomain(deps, { kind, email, testedId });
  const purpose = await purposeOf(deps, request, domain);
  const domainId = domain?.id ?? null;
  // Keep the browser's existing secret, so that sign-ins in two windows do not invalidate each other.
  const browserSecret = readStepCookie(request) ?? newSecret();
  const started = {
    domainId,
    purpose,
    next: parseLocalPath(request.query.get('next')),
    browser: hashSecret(browserSecret),
  };
  const again = purpose.for === 'reauthentication';

  if (kind === 'saml') {
    const requestId = `_${randomUUID()}`;
    const data: Pending = { ...started, kind, requestId };
    const state = await beginSignInStep(sql, { kind: 'provider_sign_in', userId: null, data });
    const { saml_acs_url: signOnUrl } = domain as DomainRow;
    const own = { entityId: publicUrl, acsUrl: createRedirectUrl(publicUrl, { kind, domainId }) };
    const times = { requestId, relayState: state, now: new Date(), forceAuthn: again };
    return { url: samlRequestUrl({ signOnUrl: String(signOnUrl), ...own, ...times }), browserSecret };
  }
  const begun = await deps.oidc.begin(findOidcProvider(deps, kind, domain), {
    redirectUri: createRedirectUrl(publicUrl, { kind, domainId }),
    reauthenticate: again,
    ...(email !== null && { loginHint: email }),
  });
  if (!begun.ok) throw await recordRefusal(deps, { ...started, kind }, begun);
  const data: Pending = { ...started, kind, secrets: begun.secrets };
  await beginSignInStep(sql, { kind: 'provider_sign_in', userId: null, secret: begun.state, data });
  return { url: begun.url, browserSecret };
}

/**
 * Returns the path if it is within this installation, and otherwise the path of the start page. Prevents open
 * redirects.
 */
export function parseLocalPath(next: string | null): string {
  const start = '/console/';
  if (next === null || next.length > 2000 || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next)) return start;
  const own = 'http://own.invalid';
  const url = URL.canParse(next, own) ? new URL(next, own) : null;
  return url?.origin === own ? url.pathname + url.search + url.hash : start;
}

/** Returns the domain whose own provider is used. Returns null for one of the installation's providers. */
async function chosenDomain(
  { sql, installedProviders }: SingleSignOnDeps,
  { kind, email, testedId }: { kind: ProviderKind; email: string | null; testedId: string | null },
): Promise<DomainRow | null> {
  if (kind !== 'saml' && kind !== 'oidc') {
    if (installedProviders.has(kind)) return null;
    throw createSignInError('improperly_configured_sso');
  }
  const by = testedId !== null ? { id: testedId.toLowerCase() } : email !== null && { name: parseEmailDomain(email) };
  const domain = by ? await findVerifiedDomain(sql, by) : undefined;
  if (kind === 'saml' && domain && hasSaml(domain)) return domain;
  if (kind === 'oidc' && domain && hasOidc(domain)) return domain;
  if (kind === 'oidc' && testedId === null && installedProviders.has('oidc')) return null;
  throw createSignInError('improperly_configured_sso');
}

async function purposeOf({ sql }: SingleSignOnDeps, request: ApiRequest, domain: DomainRow | null): Promise<Purpose> {
  const isTest = request.query.has('test');
  if (!isTest && request.query.get('reauth') !== 'true') return { for: 'sign_in' };
  const secret = readSessionCookie(request);
  const session = secret === null ? undefined : await findLiveSession(sql, hashSecret(secret));
  if (!session) throw createSignInError('session_ended');
  if (!isTest) return { for: 'reauthentication', sessionId: session.id, userId: session.user_id };
  const organizationId = domain?.organization_id ?? '';
  const member = domain && (await findMembership(sql, { organizationId, userId: session.user_id }));
  if (!member || member.level < membershipLevels.administrator) throw createSignInError('improperly_configured_sso');
  return { for: 'test' };
}
