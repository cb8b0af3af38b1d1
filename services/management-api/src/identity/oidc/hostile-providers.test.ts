import { createSign, generateKeyPairSync } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  afterHeaders,
  eventually,
  type HostileServer,
  httpMisbehaviors,
  patienceMs,
  type SocketScript,
  startHostileServer,
} from '@millrace/testing';
import { createOidcSignIn, type OidcSignIn } from './oidc-sign-in.ts';
import type { OidcOutcome, OidcProvider, OidcSecrets } from './outcome.ts';

/**
 * Expected end of the error message for each type of misbehaving server. In these tests, the client reads the response
 * body, so it notices problems in the body too.
 */
const details: Record<string, RegExp> = {
  invalid: /did not send a valid HTTP response \((EBADSTATUS|HPE_\w+)\)\.$/,
  late: /did not respond in time \(ETIMEDOUT\)\.$/,
  cut: /closed the connection before the end of its response \(ECONNRESET\)\.$/,
  large: /sent a response that is too large \(ETOOLARGE\)\.$/,
  refused: /^(The provider's response|The response comes from a different provider|GitHub (did not|rejected))/,
  // Node.js may read the surplus bytes before or after it returns the response, so several messages are possible.
  surplus: /^(The provider's response|GitHub (did not|rejected)|The provider did not send a valid HTTP response)/,
};
const redirectUri = 'https://millrace.example/complete/oidc/';
const client = { clientId: 'millrace', clientSecret: 'a secret of more than thirty-two characters' };
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const patient = createOidcSignIn({ mayBePrivate: false, timeoutMs: patienceMs });
const impatient = createOidcSignIn({ mayBePrivate: false, timeoutMs: 1000 });

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
function idToken(issuer: string, nonce: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    sub: 'ada',
    aud: client.clientId,
    exp: seconds + 300,
    iat: seconds,
    nonce,
    email: 'a@b.c',
  };
  const text = `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}`;
  return `${text}.${createSign('sha256').update(text).sign(privateKey, 'base64url')}`;
}

class Provider {
  nonce = '';
  server!: HostileServer;
  badPath: string | null = null;

  async start(misbehavior: SocketScript): Promise<this> {
    this.server = await startHostileServer((socket) => {
      socket.once('data', (chunk) => {
        const path = /^\w+ ([^ ?]+)/.exec(chunk.toString('latin1'))?.[1] ?? '';
        const script = path === this.badPath ? misbehavior : afterHeaders((to) => this.answer(to, path));
        script(socket);
        socket.emit('data', chunk);
      });
    });
    return this;
  }

  private answer(socket: Socket, path: string): void {
    const { url } = this.server;
    const documents: Record<string, unknown> = {
      '/.well-known/openid-configuration': {
        ...{ issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
        ...{ jwks_uri: `${url}/jwks`, response_types_supported: ['code'], subject_types_supported: ['public'] },
        id_token_signing_alg_values_supported: ['RS256'],
      },
      '/jwks': { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] },
      '/token': { access_token: 'a', token_type: 'bearer', id_token: idToken(url, this.nonce) },
      '/login/oauth/access_token': { access_token: 'a', token_type: 'bearer' },
      '/api/v3/user': { id: 1, login: 'ada', name: 'Ada' },
      '/api/v3/user/emails': [{ email: 'a@b.c', primary: true, verified: true }],
    };
    const body = JSON.stringify(documents[path]);
    const fields = `content-type: application/json\r\ncontent-length: ${body.length}`;
    socket.end(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`);
  }

  async signIn(oidc: OidcSignIn, kind: OidcProvider['kind']): Promise<OidcOutcome> {
    const provider = { kind, name: 'Test', issuer: this.server.url, ...client, isConfiguredByOperator: true };
    const begun = await oidc.begin(provider, { redirectUri });
    if (!begun.ok) return begun;
    const { state, secrets }: { state: string; secrets: OidcSecrets } = begun;
    this.nonce = secrets.nonce;
    return oidc.finish(provider, { callbackUrl: `${redirectUri}?code=c&state=${state}`, redirectUri, state, secrets });
  }
}

describe.each([
  ['discovery', 'oidc', '/.well-known/openid-configuration'],
  ['token endpoint', 'oidc', '/token'],
  ['keys', 'oidc', '/jwks'],
  ['GitHub token endpoint', 'github', '/login/oauth/access_token'],
  ['GitHub user', 'github', '/api/v3/user'],
] as const)('a provider whose %s returns', (_, kind, badPath) => {
  const results = new Map<string, { provider: Provider; first: OidcOutcome; second: OidcOutcome }>();
  beforeAll(async () => {
    const attempts = httpMisbehaviors.map(async ({ id, body, script }) => {
      const provider = await new Provider().start(script);
      provider.badPath = badPath;
      const first = await provider.signIn(body === 'late' ? impatient : patient, kind);
      provider.badPath = null;
      results.set(id, { provider, first, second: await provider.signIn(patient, kind) });
    });
    await Promise.all(attempts);
  });
  afterAll(async () => {
    for (const { provider } of results.values()) await provider.server.stop();
  });

  it.each(httpMisbehaviors)('$id: $title', async ({ id, body }) => {
    const { provider, first, second } = results.get(id) ?? fail();
    expect(first).toMatchObject({ ok: false, detail: expect.stringMatching(details[body] ?? /^$/) });
    expect(second).toMatchObject({ ok: true });
    await eventually(() => expect(provider.server.openConnections()).toBe(0));
    expect(provider.server.bytesSent()).toBeLessThan(8 * 1024 * 1024);
  });
});

function fail(): never {
  throw new Error('The attempt has no outcome.');
}
