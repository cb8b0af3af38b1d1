import { randomUUID } from 'node:crypto';
import { createChallengeLookup } from '@millrace/accounts';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import { type DnsServer, eventually, type MailServer, startDnsServer, startMailServer } from '@millrace/testing';
import { createTestKey } from '@millrace/testing/provider-key';
import { validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests a verified domain whose TXT record is missing (docs/api/single-sign-on.md). */
let mailServer: MailServer;
let mailer: Mailer;
let dns: DnsServer;
let api: TestApi;
let acme: OrganizationActors;
let next: OrganizationActors;
let name: string;
let id: string;
const { certificate } = createTestKey();
beforeAll(async () => {
  mailServer = await startMailServer();
  mailer = createMailer(
    { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 60_000 },
    { logger: createLogger('test', 'error'), metrics: createMetrics({ withProcessMetrics: false }) },
  );
  dns = await startDnsServer();
  const lookUpChallenge = createChallengeLookup({ servers: [dns.address], timeoutMs: 2000 });
  api = await startTestApi({ lookUpChallenge }, { mailer });
});
afterAll(async () => {
  await api.stop();
  await dns.stop();
  await mailer.stop();
  await mailServer.stop();
});
beforeEach(async () => {
  acme = await createActors(api.database);
  next = await createActors(api.database);
  name = `${randomUUID()}.example`;
  const saml = { saml_entity_id: 'urn:idp', saml_acs_url: 'https://idp.example/sso', saml_x509_cert: certificate };
  id = (await send(acme, 'POST', '', { domain: name, ...saml })).body.id;
  await sql(
    `UPDATE organization_domain SET verified_at = now() - interval '90 days', sso_enforcement = 'saml', sso_proved = '{saml}'
      WHERE id = $1`,
    [id],
  );
  await sql(
    `INSERT INTO provider_identity (provider, issuer, subject, user_id, domain_id) VALUES ('saml', 'urn:idp', $1::uuid::text, $2, $1::uuid)`,
    [id, acme.M.userId],
  );
});

const sql = (text: string, values: unknown[]) => api.database.sql.query(text, values);
const send = (of: OrganizationActors, method: 'GET' | 'POST', rest: string, body?: object) =>
  api.send(method, `/api/organizations/${of.organizationId}/domains/${rest}`, { key: of.A.key, ...(body && { body }) });
const missFor = (days: number) =>
  sql('UPDATE organization_domain SET proof_missing_since = now() - make_interval(days => $2) WHERE id = $1', [
    id,
    days,
  ]);
const prove = (...challenges: string[]) =>
  dns.setTxt(
    `_millrace-challenge.${name}`,
    challenges.map((challenge) => [challenge]),
  );
/**
 * Begins and completes a sign-in through the provider. Returns the results, and whether the sign-in page requires the
 * provider.
 */
async function signIn() {
  const begun = await fetch(`${api.url}/login/saml/?email=ada@${name}`, { redirect: 'manual' });
  const target = new URL(begun.headers.get('location') ?? '', api.url);
  const form = new URLSearchParams({ SAMLResponse: 'eA==', RelayState: id });
  const posted = await fetch(`${api.url}/complete/saml/`, { method: 'POST', body: form, redirect: 'manual' });
  const offered = await api.send('POST', '/api/login/precheck/', { body: { email: `ada@${name}` } });
  return {
    goesTo: target.searchParams.get('error_code') ?? target.host,
    response: new URL(posted.headers.get('location') ?? '', api.url).searchParams.get('error_code'),
    enforced: offered.body.sso_enforcement,
    state: (await send(acme, 'GET', `${id}/sign_on/`)).body,
  };
}
const inForce = {
  goesTo: 'idp.example',
  response: 'social_login_failure',
  enforced: 'saml',
  state: { sso_enforcement_state: 'active', sso_enforcement_reason: null },
};
const lapsed = {
  goesTo: 'improperly_configured_sso',
  response: 'state_unknown',
  enforced: null,
  state: { sso_enforcement_state: 'no effect', sso_enforcement_reason: 'proof_missing' },
};

test('users can sign in for seven days after the DNS record went missing, and again once it is found', async () => {
  await missFor(6);
  expect(await signIn()).toMatchObject(inForce);
  await missFor(8);
  expect(await signIn()).toMatchObject(lapsed);
  const { body } = await send(acme, 'GET', `${id}/`);
  prove(body.verification_challenge);
  expect((await send(acme, 'POST', `${id}/verify/`)).status).toBe(200);
  expect(await signIn()).toMatchObject(inForce);
  expect(await send(acme, 'POST', `${id}/verify/`)).toMatchObject(
    validationError('already_verified', null, expect.any(String)),
  );
});

test('returns 400 to another organization that verifies the domain within seven days', async () => {
  await missFor(6);
  const taken = validationError('unique', 'domain', 'domain with this domain already exists.');
  expect(await send(next, 'POST', '', { domain: name })).toMatchObject(taken);
  await missFor(8);
  const { body } = await send(next, 'POST', '', { domain: name });
  prove(body.verification_challenge);
  await missFor(6);
  expect(await send(next, 'POST', `${body.id}/verify/`)).toMatchObject(taken);
});

test('an organization that verifies the domain after seven days gets it without its sign-in settings', async () => {
  await send(acme, 'POST', `${id}/scim/`);
  await missFor(8);
  const added = await send(next, 'POST', '', { domain: name });
  expect(added.status).toBe(201);
  prove(added.body.verification_challenge);
  expect((await send(next, 'POST', `${added.body.id}/verify/`)).status).toBe(200);
  expect((await send(next, 'GET', `${added.body.id}/`)).body).toMatchObject({ domain: name, is_verified: true });
  const before = (await send(acme, 'GET', `${id}/`)).body;
  expect(before).toMatchObject({ domain: name, is_verified: false, verified_at: null, sso_enforcement: '' });
  expect((await send(acme, 'GET', `${id}/scim/`)).body.scim_enabled).toBe(false);
  expect(await sql('SELECT FROM provider_identity WHERE domain_id = $1', [id])).toEqual([]);
  expect(await signIn()).toMatchObject({ ...lapsed, state: { sso_enforcement_state: 'off' } });
  await eventually(async () => mailServer.mails.some(({ to }) => to.includes(acme.W.email)), { what: 'a mail' });
  const path = `/api/organizations/${acme.organizationId}/activity/?scope=OrganizationDomain`;
  expect((await api.get(path, acme.A.key)).body.results[0]).toMatchObject({ activity: 'updated', item_id: id });
  // The first organization would need a new TXT record, but it cannot verify the domain while the other organization's
  // record is valid.
  prove(before.verification_challenge, added.body.verification_challenge);
  expect((await send(acme, 'POST', `${id}/verify/`)).status).toBe(400);
});
