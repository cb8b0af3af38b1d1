import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createTestKey } from './provider-key.ts';

// Node.js does not detect all exports of this CommonJS package, so they cannot be imported by name.
const samlify = createRequire(import.meta.url)('samlify') as typeof import('samlify');

/** A real SAML provider on this machine (samlify). It signs users in without user interaction. */
export interface SamlProvider {
  entityId: string;
  /**
   * Sign-in URL. Its site differs from `127.0.0.1`, so that browsers do not send cookies with the provider's form
   * posts.
   */
  signOnUrl: string;
  certificate: string;
  person: { nameId: string; email: string; firstName: string };
  stop(): Promise<void>;
}

const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const attribute = (name: string, tag: string) => ({
  name,
  valueTag: tag,
  nameFormat: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
  valueXsiType: 'xs:string',
});

/** Starts a SAML provider. @param metadata a function that returns the URL of the service provider's metadata */
export async function startSamlProvider(metadata: () => string): Promise<SamlProvider> {
  // samlify requires a schema validator. This validator accepts all documents.
  samlify.setSchemaValidator({ validate: async () => 'not checked' });
  const { privateKey, certificate } = createTestKey();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const base = `http://localhost:${(server.address() as AddressInfo).port}`;
  const running: SamlProvider = {
    entityId: `${base}/metadata`,
    signOnUrl: `${base}/sign-on`,
    certificate,
    person: { nameId: 'unknown', email: '', firstName: '' },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const binding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
  const provider = samlify.IdentityProvider({
    entityID: running.entityId,
    privateKey: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    signingCert: certificate,
    isAssertionEncrypted: false,
    nameIDFormat: [persistent],
    singleSignOnService: [{ Binding: binding, Location: running.signOnUrl }],
    singleLogoutService: [{ Binding: binding, Location: running.signOnUrl }],
    loginResponseTemplate: {
      // Add a statement to the response, which would not otherwise confirm that the user has signed in.
      context: samlify.SamlLib.defaultLoginResponseTemplate.context.replace(
        '{AuthnStatement}',
        '<saml:AuthnStatement AuthnInstant="{IssueInstant}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>',
      ),
      attributes: [attribute('email', 'email'), attribute('first_name', 'firstName')],
    },
  });
  /** Returns the page that posts the provider's response. */
  async function buildResponsePage(url: URL): Promise<string> {
    const client = samlify.ServiceProvider({ metadata: await (await fetch(metadata())).text() });
    const query = Object.fromEntries(url.searchParams);
    const { extract } = await provider.parseLoginRequest(client, 'redirect', { query });
    const { nameId, email, firstName } = running.person;
    const now = Date.now();
    const soon = new Date(now + 300_000).toISOString();
    const id = `_${crypto.randomUUID()}`;
    const target = String(client.entityMeta.getAssertionConsumerService('post'));
    const tags = {
      ...{ ID: id, AssertionID: `_${crypto.randomUUID()}`, NameID: nameId, NameIDFormat: persistent },
      ...{ attrEmail: email, attrFirstName: firstName, Issuer: running.entityId },
      ...{ StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success', InResponseTo: String(extract.request?.id) },
      ...{ IssueInstant: new Date(now).toISOString(), ConditionsNotBefore: new Date(now).toISOString() },
      ...{ ConditionsNotOnOrAfter: soon, SubjectConfirmationDataNotOnOrAfter: soon },
      ...{ Audience: String(client.entityMeta.getEntityID()), Destination: target, SubjectRecipient: target },
    };
    const { context } = await provider.createLoginResponse(
      client,
      { extract },
      'post',
      {},
      {
        customTagReplacement: (template) => ({ id, context: samlify.SamlLib.replaceTagsByValue(template, tags) }),
      },
    );
    const field = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`;
    const fields = [field('SAMLResponse', context), field('RelayState', url.searchParams.get('RelayState') ?? '')];
    return `<!doctype html><form method="post" action="${target}">${fields.join('')}</form><script>document.forms[0].submit()</script>`;
  }
  server.on('request', (request, response) => {
    buildResponsePage(new URL(request.url ?? '/', base)).then(
      (page) => response.setHeader('content-type', 'text/html').end(page),
      (error) => response.writeHead(500).end(String(error?.stack ?? error)),
    );
  });
  return running;
}
