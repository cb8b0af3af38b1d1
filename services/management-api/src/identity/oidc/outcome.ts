// Types for providers and for the results of a provider sign-in, with messages for administrators.

import type { ProviderKind } from '@millrace/accounts';
import { type createGuardedFetch, describeOutboundFailure } from '@millrace/runtime/outbound';

export interface OidcProvider {
  kind: Exclude<ProviderKind, 'saml'>;
  name: string;
  /** The issuer's URL. For GitHub, the base URL of its pages and API. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /**
   * True if the operator configured the URL. It may then be on a private network. False if an organization configured
   * it.
   */
  isConfiguredByOperator: boolean;
}

/** Secrets that the response must match. The browser never receives them. */
export interface OidcSecrets {
  nonce: string;
  codeVerifier: string;
  reauthenticate: boolean;
}

export interface OidcIdentity {
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  firstName: string;
  lastName: string;
  attributes: Record<string, string[]>;
}

export type OidcRefusal =
  | 'denied'
  | 'wrong_state'
  | 'wrong_nonce'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'no_subject'
  | 'expired'
  | 'bad_signature'
  | 'weak_algorithm'
  | 'not_recent'
  | 'provider_refused'
  | 'provider_unreachable';

export type OidcOutcome = { ok: true; identity: OidcIdentity } | { ok: false; reason: OidcRefusal; detail: string };

export type Fetch = (
  address: string | URL,
  init?: Parameters<ReturnType<typeof createGuardedFetch>>[1],
) => Promise<Response>;

/** Returns the claims that an administrator sees after testing a provider. They are never used to sign in. */
export function readAttributes(claims: Record<string, unknown>): Record<string, string[]> {
  // Remove null characters, because PostgreSQL cannot store them.
  const clean = (text: string, length: number) => text.replaceAll('\0', '').slice(0, length);
  const hidden = new Set(['nonce', 'at_hash', 'c_hash', 's_hash', 'sid']);
  const shown = Object.entries(claims).filter(([name]) => !hidden.has(name));
  return Object.fromEntries(
    shown
      .slice(0, 50)
      .map(([name, value]) => [
        clean(name, 200),
        (Array.isArray(value) ? value : [value])
          .slice(0, 20)
          .map((one) => clean(typeof one === 'object' ? JSON.stringify(one) : String(one), 500)),
      ]),
  );
}

export function createRefusal(reason: OidcRefusal, detail: string): OidcOutcome & { ok: false } {
  return { ok: false, reason, detail: detail.slice(0, 200) };
}

/** Converts a library or network error to a refusal with the error's message. */
export function toRefusal(error: unknown): OidcOutcome & { ok: false } {
  const {
    code,
    message,
    cause,
    error: word,
  } = error as {
    code?: string;
    message?: string;
    cause?: Error;
    error?: string;
  };
  const claim = claimOf(error);
  switch (code) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
      return word === 'access_denied'
        ? createRefusal('denied', 'The user declined the sign-in, or the provider does not allow it (access_denied).')
        : createRefusal('provider_refused', `The provider returned an error (${plain(word)}).`);
    case 'OAUTH_RESPONSE_BODY_ERROR':
      return createRefusal(
        'provider_refused',
        `The provider rejected the authorization code (${plain(word)}). Check the client ID and the client secret.`,
      );
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return claim === 'auth_time'
        ? createRefusal('not_recent', 'The provider did not ask the user to confirm their identity again.')
        : createRefusal(
            'expired',
            `The ID token is not valid at this time (${plain(claim)}). Check the clocks of this server and the provider.`,
          );
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      if (claim === 'nonce')
        return createRefusal('wrong_nonce', 'The ID token belongs to a different sign-in (nonce).');
      if (claim === 'aud' || claim === 'azp')
        return createRefusal('wrong_audience', `The ID token was issued for a different client (${claim}).`);
      return createRefusal(
        'wrong_issuer',
        `The provider identifies itself with a different issuer than configured (${plain(claim)}).`,
      );
    case 'OAUTH_KEY_SELECTION_FAILED':
      return createRefusal(
        'bad_signature',
        'The ID token is signed with a key that the provider does not publish, or publishes more than once.',
      );
    case 'OAUTH_UNSUPPORTED_OPERATION':
      return createRefusal('weak_algorithm', 'The ID token is not signed, or the signature algorithm is not accepted.');
    case 'OAUTH_INVALID_RESPONSE':
      return invalidResponse(String(message ?? ''), String(cause?.message ?? ''));
    case 'OAUTH_PARSE_ERROR':
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return createRefusal('provider_refused', "The provider's response does not conform to OpenID Connect.");
    case 'OAUTH_HTTP_REQUEST_FORBIDDEN':
    case 'OAUTH_REQUEST_PROTOCOL_FORBIDDEN':
      return createRefusal('provider_unreachable', 'The provider uses a URL without https.');
    default: {
      const code = reasonOf(error);
      // Network errors have a code. If an error has no code, the response arrived but could not be parsed.
      if (code === null) return createRefusal('provider_refused', "The provider's response could not be read.");
      const reason = plain(code);
      return createRefusal('provider_unreachable', `The provider ${describeOutboundFailure(reason)} (${reason}).`);
    }
  }
}

function invalidResponse(message: string, cause: string): OidcOutcome & { ok: false } {
  const text = `${message} ${cause}`;
  if (/"?state"?/.test(text))
    return createRefusal('wrong_state', 'The response belongs to a different sign-in (state).');
  if (/signature/i.test(text)) return createRefusal('bad_signature', "The ID token's signature is invalid.");
  if (/"iss"|issuer/i.test(text))
    return createRefusal('wrong_issuer', 'The response comes from a different provider (iss).');
  if (/nonce/.test(text)) return createRefusal('wrong_nonce', 'The ID token belongs to a different sign-in (nonce).');
  if (/auth_time|max_age/i.test(text)) {
    return createRefusal('not_recent', 'The provider did not say when the user last confirmed their identity.');
  }
  if (/alg/i.test(text))
    return createRefusal('weak_algorithm', 'The ID token is not signed, or the signature algorithm is not accepted.');
  return createRefusal('provider_refused', "The provider's response does not conform to OpenID Connect.");
}

/** Returns the name of the invalid claim or field. The library includes it in one of the error's causes. */
function claimOf(error: unknown): string | undefined {
  for (let inner: unknown = error, depth = 0; inner !== null && typeof inner === 'object' && depth < 5; depth += 1) {
    const { claim, attribute, cause } = inner as { claim?: unknown; attribute?: unknown; cause?: unknown };
    const name = claim ?? attribute;
    if (typeof name === 'string') return name;
    inner = cause;
  }
  return undefined;
}

/** Returns the innermost error code, because libraries wrap network errors. */
function reasonOf(error: unknown): string | null {
  for (let inner: unknown = error, depth = 0; inner !== null && typeof inner === 'object' && depth < 5; depth += 1) {
    const { code, name, cause } = inner as { code?: unknown; name?: unknown; cause?: unknown };
    if (typeof code === 'string' && !code.startsWith('OAUTH_')) return code;
    if (name === 'TimeoutError') return 'ETIMEDOUT';
    inner = cause;
  }
  return null;
}

/** Removes everything except plain words from a provider's response, because logs and pages include the result. */
function plain(word: string | undefined): string {
  return (word ?? 'unknown').replaceAll(/[^\w.:-]/g, '_').slice(0, 80);
}
