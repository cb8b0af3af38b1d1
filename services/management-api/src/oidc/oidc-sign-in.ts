// Asking an OpenID provider, or GitHub, who somebody is (docs/api-rules.md#single-sign-on). Nothing is stored here: what an
// answer is checked against is given back to the caller.

import type { ProviderKind } from '@millrace/accounts';
import { createGuardedFetch } from '@millrace/runtime/outbound';
import { LRUCache } from 'lru-cache';
import * as openid from 'openid-client';
import { askGitHub, gitHubUrl } from './github.ts';

export interface OidcProvider {
  kind: Exclude<ProviderKind, 'saml'>;
  /** What tells its configuration from another's, e.g. `google-oauth2` or `oidc:<id of a domain>`. */
  key: string;
  /** As its button says it. */
  name: string;
  /** Of GitHub: where its pages and its API are. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Whether the operator wrote the address: it may lead into a private network. Otherwise an organization did. */
  isOfOperator: boolean;
}

/** What an answer is checked against; no browser sees it. */
export interface OidcQuestion {
  nonce: string;
  codeVerifier: string;
  /** Whether the person had to prove again who they are. */
  reauthenticate: boolean;
}

export interface OidcIdentity {
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  firstName: string;
  lastName: string;
  /** All that was said, as texts. */
  attributes: Record<string, string[]>;
}

export type OidcRefusal =
  | 'denied'
  | 'wrong_state'
  | 'wrong_nonce'
  | 'wrong_issuer'
  | 'wrong_audience'
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

export interface OidcSignIn {
  /**
   * @param reauthenticate whether the person must prove again who they are, however long the provider's own session goes on.
   * @returns `state`: what the answer carries, and by which `question` is found again.
   */
  begin(
    provider: OidcProvider,
    wish: { redirectUri: string; loginHint?: string; reauthenticate?: boolean },
  ): Promise<
    | { ok: true; url: string; state: string; question: OidcQuestion }
    | { ok: false; reason: OidcRefusal; detail: string }
  >;
  /** Never throws for what a provider or a browser sends. */
  finish(
    provider: OidcProvider,
    answer: { callbackUrl: string; redirectUri: string; state: string; question: OidcQuestion },
  ): Promise<OidcOutcome>;
}

const timeoutSeconds = 10;
const mostBytes = 1024 * 1024;
const rememberMs = 60 * 60 * 1000;
const mostRemembered = 500;
const skewSeconds = 60;
/** What signs with a secret that the provider and we share is no signature, and `none` still less. */
const algorithms = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/;

/** @param mayBePrivate whether providers of organizations may be in private networks too, and reached without TLS. */
export function createOidcSignIn({ mayBePrivate }: { mayBePrivate: boolean }): OidcSignIn {
  const fetchFor = (isPrivate: boolean) =>
    createGuardedFetch({ mayBePrivate: isPrivate, timeoutMs: timeoutSeconds * 1000, mostBytes });
  const [publicFetch, anyFetch] = [fetchFor(mayBePrivate), fetchFor(true)];
  const fetchOf = ({ isOfOperator }: OidcProvider) => (isOfOperator ? anyFetch : publicFetch);
  /** What a provider says of itself, with its keys, for an hour. */
  const known = new LRUCache<string, openid.Configuration>({ max: mostRemembered, ttl: rememberMs });

  async function configurationOf(provider: OidcProvider): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = provider;
    const name = JSON.stringify([provider.key, issuer, clientId, clientSecret]);
    const remembered = known.get(name);
    if (remembered) return remembered;
    const isPlain = new URL(issuer).protocol === 'http:' && (mayBePrivate || provider.isOfOperator);
    const metadata = { client_secret: clientSecret, [openid.clockTolerance]: skewSeconds };
    const found = await openid.discovery(new URL(issuer), clientId, metadata, undefined, {
      [openid.customFetch]: fetchOf(provider) as openid.CustomFetch,
      timeout: timeoutSeconds,
      // What came over TLS need not be signed, by the standard. It is checked all the same.
      execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
    });
    known.set(name, found);
    return found;
  }

  return {
    async begin(provider, { redirectUri, loginHint, reauthenticate = false }) {
      if (provider.kind === 'github' && reauthenticate) {
        return refused('not_recent', 'GitHub cannot ask somebody to prove again who they are. Sign out, and in again.');
      }
      const question = {
        nonce: openid.randomNonce(),
        codeVerifier: openid.randomPKCECodeVerifier(),
        reauthenticate,
      };
      const state = openid.randomState();
      const parameters: Record<string, string> = {
        redirect_uri: redirectUri,
        scope: provider.kind === 'github' ? 'read:user user:email' : 'openid email profile',
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(question.codeVerifier),
        code_challenge_method: 'S256',
        ...(loginHint !== undefined && { [provider.kind === 'github' ? 'login' : 'login_hint']: loginHint }),
      };
      if (provider.kind === 'github') {
        return { ok: true, url: gitHubUrl(provider, parameters), state, question };
      }
      try {
        const configuration = await configurationOf(provider);
        const url = openid.buildAuthorizationUrl(configuration, {
          ...parameters,
          nonce: question.nonce,
          ...(reauthenticate && { prompt: 'login', max_age: '0' }),
        });
        return { ok: true, url: url.href, state, question };
      } catch (error) {
        return refusalOf(error);
      }
    },
    async finish(provider, { callbackUrl, redirectUri, state, question }) {
      if (provider.kind === 'github') {
        return askGitHub(provider, { callbackUrl, redirectUri, state, question }, fetchOf(provider));
      }
      try {
        const configuration = await configurationOf(provider);
        // The address as the provider was told it: behind a proxy we are asked at another.
        const url = new URL(redirectUri);
        url.search = new URL(callbackUrl).search;
        const tokens = await openid.authorizationCodeGrant(configuration, url, {
          pkceCodeVerifier: question.codeVerifier,
          expectedNonce: question.nonce,
          expectedState: state,
          idTokenExpected: true,
          // As a provider counts it, some time has passed at the other's clock.
          ...(question.reauthenticate && { maxAge: 300 }),
        });
        const { alg } = JSON.parse(Buffer.from(tokens.id_token?.split('.')[0] ?? '', 'base64url').toString());
        if (!algorithms.test(String(alg))) return refused('weak_algorithm', `The ID token is signed by ${alg}.`);
        const claims = tokens.claims() as openid.IDToken;
        // Some providers tell the address only when they are asked once more.
        const asked = claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
        const more = asked ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
        return { ok: true, identity: identityOf({ ...more, ...claims }) };
      } catch (error) {
        return refusalOf(error);
      }
    },
  };
}

function identityOf(claims: Record<string, unknown> & { sub: string }): OidcIdentity {
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '');
  const [first = '', ...rest] = text('name').split(' ');
  // Microsoft says it in another claim, of an address whose domain somebody has proved.
  const verified = [claims.email_verified, claims.xms_edov].some((value) => value === true || value === 'true');
  return {
    subject: claims.sub,
    email: text('email') || null,
    isEmailVerified: verified,
    firstName: text('given_name') || first,
    lastName: text('family_name') || rest.join(' '),
    attributes: attributesOf(claims),
  };
}

/** What an administrator is shown in a test: nothing that proves anything. */
export function attributesOf(claims: Record<string, unknown>): Record<string, string[]> {
  const hidden = new Set(['nonce', 'at_hash', 'c_hash', 's_hash', 'sid']);
  const shown = Object.entries(claims).filter(([name]) => !hidden.has(name));
  return Object.fromEntries(
    shown
      .slice(0, 50)
      .map(([name, value]) => [
        name.slice(0, 200),
        (Array.isArray(value) ? value : [value])
          .slice(0, 20)
          .map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)).slice(0, 500)),
      ]),
  );
}

export function refused(reason: OidcRefusal, detail: string): OidcOutcome & { ok: false } {
  return { ok: false, reason, detail: detail.slice(0, 200) };
}

/** What the library or the network says, in words. */
export function refusalOf(error: unknown): OidcOutcome & { ok: false } {
  const {
    code,
    message,
    cause,
    error: word,
  } = error as {
    code?: string;
    message?: string;
    cause?: { claim?: string; attribute?: string; code?: string; parameter?: string } & Error;
    error?: string;
  };
  const claim = cause?.claim ?? cause?.attribute;
  switch (code) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
      return word === 'access_denied'
        ? refused('denied', 'The provider says that the person has not agreed, or may not sign in (access_denied).')
        : refused('provider_refused', `The provider answers with an error (${plain(word)}).`);
    case 'OAUTH_RESPONSE_BODY_ERROR':
      return refused(
        'provider_refused',
        `The provider does not take the code (${plain(word)}). Check client id and secret.`,
      );
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return claim === 'auth_time'
        ? refused('not_recent', 'The provider has not asked the person to prove again who they are.')
        : refused('expired', `The time in the ID token is not now (${plain(claim)}). Check the clocks.`);
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      if (claim === 'nonce') return refused('wrong_nonce', 'The ID token is for another sign-in (nonce).');
      if (claim === 'aud' || claim === 'azp')
        return refused('wrong_audience', `The ID token is for another client (${claim}).`);
      return refused('wrong_issuer', `The provider calls itself otherwise than its address says (${plain(claim)}).`);
    case 'OAUTH_KEY_SELECTION_FAILED':
      return refused(
        'bad_signature',
        'The ID token is signed by a key that the provider does not show, or shows twice.',
      );
    case 'OAUTH_UNSUPPORTED_OPERATION':
      return refused('weak_algorithm', 'The ID token is not signed, or in a way that is not accepted.');
    case 'OAUTH_INVALID_RESPONSE':
      return invalidResponse(String(message ?? ''), String(cause?.message ?? ''));
    case 'OAUTH_PARSE_ERROR':
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return refused('provider_refused', 'The provider answers something that is not OpenID Connect.');
    case 'OAUTH_HTTP_REQUEST_FORBIDDEN':
    case 'OAUTH_REQUEST_PROTOCOL_FORBIDDEN':
      return refused('provider_unreachable', 'The provider names an address without https.');
    default:
      return refused('provider_unreachable', `The provider cannot be reached (${plain(reasonOf(error))}).`);
  }
}

function invalidResponse(message: string, cause: string): OidcOutcome & { ok: false } {
  const said = `${message} ${cause}`;
  if (/"?state"?/.test(said)) return refused('wrong_state', 'The answer is for another sign-in (state).');
  if (/signature/i.test(said)) return refused('bad_signature', 'The signature of the ID token is wrong.');
  if (/"iss"|issuer/i.test(said)) return refused('wrong_issuer', 'The answer is of another provider (iss).');
  if (/nonce/.test(said)) return refused('wrong_nonce', 'The ID token is for another sign-in (nonce).');
  if (/auth_time|max_age/i.test(said)) {
    return refused('not_recent', 'The provider does not say when the person proved who they are.');
  }
  if (/alg/i.test(said))
    return refused('weak_algorithm', 'The ID token is not signed, or in a way that is not accepted.');
  return refused('provider_refused', 'The provider answers something that is not OpenID Connect.');
}

/** The innermost code there is: libraries wrap what the network says. */
function reasonOf(error: unknown): string {
  for (let inner: unknown = error, depth = 0; inner instanceof Error && depth < 5; depth += 1) {
    const { code } = inner as { code?: unknown };
    if (typeof code === 'string' && !code.startsWith('OAUTH_')) return code;
    if (inner.name === 'TimeoutError') return 'TIMEOUT';
    inner = inner.cause;
  }
  return 'UNKNOWN';
}

/** What comes from outside stands in logs and on pages: words only. */
function plain(word: string | undefined): string {
  return (word ?? 'unknown').replaceAll(/[^\w.:-]/g, '_').slice(0, 80);
}
