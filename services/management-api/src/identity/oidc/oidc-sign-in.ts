// Obtains a user's identity from an OpenID provider or GitHub (docs/api/single-sign-on.md). Stores nothing, so the
// caller must store the sign-in's state.

import { isProviderSubject } from '@millrace/accounts';
import { createGuardedFetch } from '@millrace/runtime/outbound';
import { LRUCache } from 'lru-cache';
import * as openid from 'openid-client';
import { buildGitHubSignInUrl, fetchGitHubIdentity } from './github.ts';
import {
  createRefusal,
  type OidcIdentity,
  type OidcOutcome,
  type OidcProvider,
  type OidcRefusal,
  type OidcSecrets,
  readAttributes,
  toRefusal,
} from './outcome.ts';

export interface OidcSignIn {
  /**
   * Starts a sign-in.
   * @param reauthenticate whether the user must authenticate again, even if the provider still has a session
   * @returns the provider URL to redirect to, and `state`, which identifies the sign-in when the user returns
   */
  begin(
    provider: OidcProvider,
    wish: { redirectUri: string; loginHint?: string; reauthenticate?: boolean },
  ): Promise<
    { ok: true; url: string; state: string; secrets: OidcSecrets } | { ok: false; reason: OidcRefusal; detail: string }
  >;
  /** Validates the provider's response. Never throws, no matter what the provider or a browser sends. */
  finish(
    provider: OidcProvider,
    callback: { callbackUrl: string; redirectUri: string; state: string; secrets: OidcSecrets },
  ): Promise<OidcOutcome>;
}

const usualTimeoutMs = 10_000;
const maxBytes = 1024 * 1024;
const rememberMs = 60 * 60 * 1000;
const maxRemembered = 500;
const skewSeconds = 60;
/** Accepted signature algorithms. Shared-secret signatures (HS256) and `none` are not accepted. */
const algorithms = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/;

interface OidcSettings {
  /** Whether identity providers of organizations may be on private networks or use HTTP without TLS. */
  mayBePrivate: boolean;
  /** Timeout for one request to a provider, in milliseconds. */
  timeoutMs?: number;
}

export function createOidcSignIn({ mayBePrivate, timeoutMs = usualTimeoutMs }: OidcSettings): OidcSignIn {
  const fetchFor = (isPrivate: boolean) => createGuardedFetch({ mayBePrivate: isPrivate, timeoutMs, maxBytes });
  const [publicFetch, anyFetch] = [fetchFor(mayBePrivate), fetchFor(true)];
  const fetchOf = ({ isConfiguredByOperator }: OidcProvider) => (isConfiguredByOperator ? anyFetch : publicFetch);
  const known = new LRUCache<string, openid.Configuration>({ max: maxRemembered, ttl: rememberMs });

  async function configurationOf(provider: OidcProvider): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret, isConfiguredByOperator } = provider;
    // Cache an organization's provider separately from the operator's, because its requests are restricted to public IP
    // addresses.
    const name = JSON.stringify([isConfiguredByOperator, issuer, clientId, clientSecret]);
    const remembered = known.get(name);
    if (remembered) return remembered;
    const isPlain = new URL(issuer).protocol === 'http:' && (mayBePrivate || isConfiguredByOperator);
    const metadata = { client_secret: clientSecret, [openid.clockTolerance]: skewSeconds };
    const found = await openid.discovery(new URL(issuer), clientId, metadata, undefined, {
      [openid.customFetch]: fetchOf(provider) as openid.CustomFetch,
      timeout: timeoutMs / 1000,
      // The standard allows unsigned ID tokens over TLS, but Millrace requires a valid signature.
      execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
    });
    known.set(name, found);
    return found;
  }

  return {
    async begin(provider, { redirectUri, loginHint, reauthenticate = false }) {
      if (provider.kind === 'github' && reauthenticate) {
        return createRefusal('not_recent', 'GitHub cannot ask users to sign in again. Sign out, then sign in again.');
      }
      const secrets = {
        nonce: openid.randomNonce(),
        codeVerifier: openid.randomPKCECodeVerifier(),
        reauthenticate,
      };
      const state = openid.randomState();
      const parameters: Record<string, string> = {
        redirect_uri: redirectUri,
        scope: provider.kind === 'github' ? 'read:user user:email' : 'openid email profile',
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(secrets.codeVerifier),
        code_challenge_method: 'S256',
        ...(loginHint !== undefined && { [provider.kind === 'github' ? 'login' : 'login_hint']: loginHint }),
      };
      if (provider.kind === 'github') {
        return { ok: true, url: buildGitHubSignInUrl(provider, parameters), state, secrets };
      }
      try {
        const configuration = await configurationOf(provider);
        const url = openid.buildAuthorizationUrl(configuration, {
          ...parameters,
          nonce: secrets.nonce,
          ...(reauthenticate && { prompt: 'login', max_age: '0' }),
        });
        return { ok: true, url: url.href, state, secrets };
      } catch (error) {
        return toRefusal(error);
      }
    },
    async finish(provider, { callbackUrl, redirectUri, state, secrets }) {
      if (provider.kind === 'github') {
        return fetchGitHubIdentity(provider, { callbackUrl, redirectUri, state, secrets }, fetchOf(provider));
      }
      try {
        const configuration = await configurationOf(provider);
        // Use the redirect URL that is registered at the provider. Behind a proxy, the request's URL can be different.
        const url = new URL(redirectUri);
        url.search = new URL(callbackUrl).search;
        const tokens = await openid.authorizationCodeGrant(configuration, url, {
          pkceCodeVerifier: secrets.codeVerifier,
          expectedNonce: secrets.nonce,
          expectedState: state,
          idTokenExpected: true,
          // Allow five minutes, because the provider's clock may differ from this server's clock.
          ...(secrets.reauthenticate && { maxAge: 300 }),
        });
        const { alg } = JSON.parse(Buffer.from(tokens.id_token?.split('.')[0] ?? '', 'base64url').toString());
        if (!algorithms.test(String(alg)))
          return createRefusal('weak_algorithm', `The signature algorithm ${alg} is not accepted.`);
        const claims = tokens.claims() as openid.IDToken;
        // The library compares `azp` only if the token has several audiences.
        if (claims.azp !== undefined && claims.azp !== provider.clientId) {
          return createRefusal('wrong_audience', 'The ID token was issued for a different client (azp).');
        }
        if (!isProviderSubject(claims.sub)) {
          const rule = 'sub must be 1 to 256 characters, must not be blank, and must not contain control characters';
          return createRefusal('no_subject', `The ID token does not identify the user: ${rule}.`);
        }
        // Some providers return the email address only from the userinfo endpoint.
        const hasMore = claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
        const userInfo = hasMore ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
        return { ok: true, identity: identityOf({ ...userInfo, ...claims }) };
      } catch (error) {
        return toRefusal(error);
      }
    },
  };
}

function identityOf(claims: Record<string, unknown> & { sub: string }): OidcIdentity {
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '');
  const [first = '', ...rest] = text('name').split(' ');
  // Microsoft uses the claim `xms_edov` for an email address whose domain has a verified owner.
  const verified = [claims.email_verified, claims.xms_edov].some((value) => value === true || value === 'true');
  return {
    subject: claims.sub,
    email: text('email') || null,
    isEmailVerified: verified,
    firstName: text('given_name') || first,
    lastName: text('family_name') || rest.join(' '),
    attributes: readAttributes(claims),
  };
}
