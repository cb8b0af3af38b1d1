// Reads a user's account from GitHub's API after an OAuth 2 sign-in, because GitHub does not support OpenID Connect for
// users.

import {
  createRefusal,
  type Fetch,
  type OidcOutcome,
  type OidcProvider,
  type OidcSecrets,
  readAttributes,
  toRefusal,
} from './outcome.ts';

export function buildGitHubSignInUrl({ issuer, clientId }: OidcProvider, parameters: Record<string, string>): string {
  const url = new URL(`${issuer.replace(/\/+$/, '')}/login/oauth/authorize`);
  url.search = String(new URLSearchParams({ client_id: clientId, ...parameters }));
  return url.href;
}

/**
 * Returns the API's base URL for a GitHub installation. The API of github.com is on a separate host. The API of GitHub
 * Enterprise is under a path.
 */
function apiOf(issuer: string): string {
  const url = issuer.replace(/\/+$/, '');
  return url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`;
}

interface Callback {
  callbackUrl: string;
  redirectUri: string;
  state: string;
  secrets: OidcSecrets;
}

/**
 * Reads a user's identity. The account ID identifies the user. The email address is the primary one, and is included
 * only if GitHub has verified it.
 */
export async function fetchGitHubIdentity(
  provider: OidcProvider,
  callback: Callback,
  fetch: Fetch,
): Promise<OidcOutcome> {
  const query = new URL(callback.callbackUrl).searchParams;
  const failed = query.get('error');
  if (query.get('state') !== callback.state)
    return createRefusal('wrong_state', 'The response belongs to a different sign-in (state).');
  if (failed === 'access_denied') return createRefusal('denied', 'The user declined the sign-in (access_denied).');
  const code = query.get('code');
  if (failed !== null || code === null)
    return createRefusal('provider_refused', 'GitHub did not return an authorization code.');
  try {
    const token = await tokenFor(provider, { ...callback, code }, fetch);
    if (token === null)
      return createRefusal(
        'provider_refused',
        'GitHub rejected the authorization code. Check the client ID and the client secret.',
      );
    const api = apiOf(provider.issuer);
    const read = async (path: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' };
      const response = await fetch(`${api}${path}`, { headers });
      return response.status === 200 ? response.json() : null;
    };
    const user = (await read('/user')) as { id?: unknown; login?: unknown; name?: unknown } | null;
    const emails = (await read('/user/emails')) as { email?: unknown; primary?: unknown; verified?: unknown }[] | null;
    if (typeof user?.id !== 'number' || !Array.isArray(emails)) {
      return createRefusal('provider_refused', 'GitHub did not return the user and their email addresses.');
    }
    const primary = emails.find((one) => one.primary === true);
    const [firstName = '', ...rest] = typeof user.name === 'string' ? user.name.split(' ') : [];
    return {
      ok: true,
      identity: {
        subject: String(user.id),
        email: typeof primary?.email === 'string' ? primary.email : null,
        isEmailVerified: primary?.verified === true,
        firstName,
        lastName: rest.join(' '),
        attributes: readAttributes({ id: user.id, login: user.login, name: user.name, email: primary?.email }),
      },
    };
  } catch (error) {
    return toRefusal(error);
  }
}

async function tokenFor(
  { issuer, clientId, clientSecret }: OidcProvider,
  { code, redirectUri, secrets }: Callback & { code: string },
  fetch: Fetch,
): Promise<string | null> {
  const response = await fetch(`${issuer.replace(/\/+$/, '')}/login/oauth/access_token`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      code,
      redirect_uri: redirectUri,
      code_verifier: secrets.codeVerifier,
    }),
  });
  const body = (await response.json()) as { access_token?: unknown };
  return typeof body.access_token === 'string' ? body.access_token : null;
}
