// Handles the redirect from an OpenID provider back to Millrace (docs/api/single-sign-on.md).

import type { ApiRequest } from '@millrace/http';
import { requirePublicUrl } from '../../access/public-url.ts';
import { findVerifiedDomain } from '../domains/store.ts';
import { completeSignIn, readReportedEmail } from './complete-sign-in.ts';
import {
  createRedirectUrl,
  createSignInError,
  findOidcProvider,
  type NextPage,
  recordRefusal,
  requireSameBrowser,
  type SingleSignOnDeps,
  takePendingSignIn,
} from './pending.ts';

/**
 * Checks the OpenID provider's response in the URL, and completes the sign-in.
 * @throws AppError with one of the codes in docs/api/single-sign-on.md
 */
export async function finishOpenId(
  deps: SingleSignOnDeps,
  { provider, domainId, request }: { provider: string; domainId: string | null; request: ApiRequest },
): Promise<NextPage> {
  const publicUrl = requirePublicUrl(request);
  await deps.signInLimits.countProviderStep(request.address);
  const state = request.query.get('state') ?? '';
  const pending = await takePendingSignIn(deps.sql, state);
  if (!pending || pending.kind === 'saml' || pending.kind !== provider || pending.domainId !== domainId) {
    throw createSignInError('state_unknown');
  }
  requireSameBrowser(pending, request);
  const domain = domainId === null ? null : ((await findVerifiedDomain(deps.sql, { id: domainId })) ?? null);
  if (domainId !== null && domain === null) throw createSignInError('improperly_configured_sso');
  const oidcProvider = findOidcProvider(deps, pending.kind, domain);
  const outcome = await deps.oidc.finish(oidcProvider, {
    callbackUrl: `${publicUrl}${request.path}?${request.query}`,
    redirectUri: createRedirectUrl(publicUrl, pending),
    state,
    secrets: pending.secrets,
  });
  if (!outcome.ok) throw await recordRefusal(deps, pending, { reason: outcome.reason, detail: outcome.detail });
  const { subject, email, isEmailVerified, firstName, lastName, attributes } = outcome.identity;
  const profile = {
    kind: pending.kind,
    domainId,
    issuer: oidcProvider.issuer,
    subject,
    email: readReportedEmail(email),
    isEmailVerified,
    firstName,
    lastName,
  };
  return completeSignIn(deps, { ...pending, request, attributes, profile });
}
