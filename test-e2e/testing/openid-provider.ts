import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface Person {
  email?: string;
  email_verified?: boolean;
  given_name?: string;
  family_name?: string;
}

/** A real OpenID provider on this machine. It signs users in without user interaction. */
export interface OpenIdProvider {
  issuer: string;
  client: { id: string; secret: string };
  /** The user who signs in next. If null, sign-ins are rejected. */
  person: { subject: string; claims: Person } | null;
  stop(): Promise<void>;
}

export async function startOpenIdProvider(redirectUris: () => string[]): Promise<OpenIdProvider> {
  const people = new Map<string, Person>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running: OpenIdProvider = {
    issuer,
    client: { id: 'millrace', secret: 'a secret of forty characters or still more' },
    person: null,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  let provider: Provider | undefined;
  const open = () =>
    new Provider(issuer, {
      clients: [{ client_id: running.client.id, client_secret: running.client.secret, redirect_uris: redirectUris() }],
      pkce: { required: () => true },
      scopes: ['openid', 'email', 'profile'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
      conformIdTokenClaims: false,
      cookies: { keys: ['key of a test'] },
      ttl: { Interaction: 60, Session: 60, Grant: 60, AccessToken: 60, IdToken: 60 },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
      findAccount: async (_context, accountId) => ({
        accountId,
        claims: async () => ({ sub: accountId, ...people.get(accountId) }),
      }),
      async loadExistingGrant(context) {
        const { client, session } = context.oidc;
        const grant = new context.oidc.provider.Grant({
          clientId: client?.clientId ?? '',
          accountId: session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
  server.on('request', (request, response) => {
    provider ??= open();
    const { person } = running;
    if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response);
    if (person) people.set(person.subject, person.claims);
    const result = person
      ? { login: { accountId: person.subject, remember: false } }
      : { error: 'access_denied', error_description: '<script>alert(1)</script>' };
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false }).catch((error) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  return running;
}
