// The state that Millrace stores while a user signs in through a provider, and the errors of single sign-on.
//
// 1. The browser is at the provider: sign-in step `provider_sign_in` (`Pending`). `begin.ts` creates this state, and
// `openid-return.ts` and `saml-return.ts` use it.
// 2. A SAML response was accepted, and the browser follows a redirect: sign-in step `provider_answer` (`SamlTicket`).
// `saml-return.ts` creates and uses this state.
// 3. The response is valid and from the same browser: `openid-return.ts` and `saml-return.ts` pass it to
// `complete-sign-in.ts` without storing it.

import { clientSecretEncryptionContext, consumeSignInStep, type ProviderKind } from '@millrace/accounts';
import { hashSecret } from '@millrace/accounts/access';
import { hasPlanFeature } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { readStepCookie, type SignedIn } from '../../access/session-cookie.ts';
import { checkSamlProvider } from '../domains/own-provider.ts';
import type { DomainRow } from '../domains/store.ts';
import type { OidcSignIn } from '../oidc/oidc-sign-in.ts';
import type { OidcProvider } from '../oidc/outcome.ts';
import type { SignInDeps } from '../sign-in/rules.ts';
import type { SignInOutcome } from '../sign-in/sign-in-count.ts';
import { recordAttempt } from './store.ts';

export interface SingleSignOnDeps extends SignInDeps {
  /** The installation's sign-in providers. */
  installedProviders: ReadonlyMap<ProviderKind, OidcProvider>;
  oidc: OidcSignIn;
}

const nullableText = Type.Union([Type.String(), Type.Null()]);

const shared = {
  /** The domain whose own provider is used. Null for one of the installation's providers. */
  domainId: nullableText,
  purpose: Type.Union([
    Type.Object({ for: Type.Literal('sign_in') }),
    Type.Object({ for: Type.Literal('reauthentication'), sessionId: Type.String(), userId: Type.Integer() }),
    Type.Object({ for: Type.Literal('test') }),
  ]),
  /** The path to redirect the browser to after sign-in. It is always within this installation. */
  next: Type.String(),
  /**
   * SHA-256 hash of the secret in the browser's cookie. Null if the provider started the sign-in with an unsolicited
   * SAML response.
   */
  browser: nullableText,
};

const samlPending = Type.Object({
  ...shared,
  kind: Type.Literal('saml'),
  /** The SAML request's ID. Null for an unsolicited response. */
  requestId: nullableText,
});
const openIdPending = Type.Object({
  ...shared,
  kind: Type.Enum(['google-oauth2', 'github', 'gitlab', 'oidc']),
  /** Secrets that the response must match. The browser never receives them. */
  secrets: Type.Object({ nonce: Type.String(), codeVerifier: Type.String(), reauthenticate: Type.Boolean() }),
});
const samlTicket = Type.Object({
  ...samlPending.properties,
  profile: Type.Object({
    kind: Type.Literal('saml'),
    domainId: Type.String(),
    issuer: Type.String(),
    subject: Type.String(),
    email: nullableText,
    isEmailVerified: Type.Boolean(),
    firstName: Type.String(),
    lastName: Type.String(),
  }),
  attributes: Type.Record(Type.String(), Type.Array(Type.String())),
});

export type SamlPending = Static<typeof samlPending>;
export type Pending = SamlPending | Static<typeof openIdPending>;
export type SamlTicket = Static<typeof samlTicket>;
export type Purpose = Pending['purpose'];

/** @throws AppError `internal` if the stored state is not valid */
export function parsePendingSignIn(data: unknown): Pending {
  return Check(samlPending, data) ? data : parse(openIdPending, data);
}

/** @throws AppError `internal` if the stored ticket is not valid */
export const parseTicket = (data: unknown): SamlTicket => parse(samlTicket, data);

function parse<Schema extends TSchema>(schema: Schema, data: unknown): Static<Schema> {
  if (Check(schema, data)) return data;
  throw new AppError('internal', 'A stored sign-in step does not have the expected fields.');
}

/**
 * Deletes and returns the stored state of a sign-in, when the browser returns from the provider.
 * @returns undefined if the state is unknown, expired or already used
 */
export async function takePendingSignIn(sql: Sql, state: string): Promise<Pending | undefined> {
  const step = await consumeSignInStep(sql, 'provider_sign_in', state);
  return step && parsePendingSignIn(step.data);
}

export interface NextPage {
  /** A path relative to the installation's URL. */
  path: string;
  signedIn?: SignedIn;
  step?: string;
  outcome?: SignInOutcome;
}

/**
 * Returns the URL that a provider redirects the browser to after a sign-in. Each provider has its own URL, so that one
 * provider's URL does not accept another provider's response.
 */
export function createRedirectUrl(publicUrl: string, { kind, domainId }: Pick<Pending, 'kind' | 'domainId'>): string {
  return `${publicUrl}/complete/${kind}/${domainId === null || kind === 'saml' ? '' : `${domainId}/`}`;
}

export const hasSaml = (domain: DomainRow): boolean =>
  checkSamlProvider(domain)?.problem === null && hasPlanFeature(domain.features, 'saml');

/**
 * Returns the settings of an OpenID Connect or GitHub provider: the domain's settings, or the installation's settings
 * if the domain has no provider.
 * @throws AppError `improperly_configured_sso`
 */
export function findOidcProvider(
  { installedProviders, secretEncryption }: SingleSignOnDeps,
  kind: Exclude<ProviderKind, 'saml'>,
  domain: DomainRow | null,
): OidcProvider {
  if (domain === null) {
    const provider = installedProviders.get(kind);
    if (provider === undefined) throw createSignInError('improperly_configured_sso');
    return provider;
  }
  return {
    kind: 'oidc',
    name: domain.domain,
    issuer: String(domain.oidc_issuer),
    clientId: String(domain.oidc_client_id),
    clientSecret: secretEncryption.open(String(domain.oidc_client_secret), clientSecretEncryptionContext(domain.id)),
    isConfiguredByOperator: false,
  };
}

/**
 * Checks that the response comes from the browser that started the sign-in. Without this check, an attacker's response
 * could sign the victim's browser in to the attacker's account.
 */
export function requireSameBrowser({ browser }: Pending, request: ApiRequest): void {
  const secret = readStepCookie(request);
  if (secret === null || hashSecret(secret) !== browser) throw createSignInError('other_browser');
}

/** Records the reason why a sign-in failed, for the domain's administrators. @returns the error for the user */
export async function recordRefusal(
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
    await recordAttempt(sql, { ...tried, reason, detail });
    if (purpose.for === 'test') {
      return new AppError('invalid', detail, { code: 'sso_test_failed', details: { reason, next } });
    }
  }
  return new AppError('invalid', detail, {
    code: code ?? (reason === 'denied' ? 'sso_denied' : 'social_login_failure'),
    details: { reason },
  });
}

const sentences = {
  invalid_sso_provider: 'This sign-in provider does not exist.',
  improperly_configured_sso: 'This sign-in provider is not set up.',
  session_ended: 'Your session has ended. Sign in again.',
  state_unknown: 'This sign-in has expired or was already completed. Start again.',
  other_browser: 'This sign-in was started in another browser. Start again in this one.',
  reauth_user_mismatch: 'You signed in at the provider with a different account. Your session has not changed.',
};

export function createSignInError(code: keyof typeof sentences): AppError {
  return new AppError('invalid', sentences[code], { code });
}
