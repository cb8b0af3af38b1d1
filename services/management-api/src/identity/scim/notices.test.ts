import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import { eventually, type MailServer, startMailServer } from '@millrace/testing';
import { createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { patchOp, type ScimTestDomain, sendScim, setUpScim } from '../../testing/scim-provider.ts';
import { signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests the emails that users receive when SCIM changes how they sign in (docs/api/scim.md). */
let mailServer: MailServer;
let mailer: Mailer;
let api: TestApi;
let acme: OrganizationActors;
let domain: ScimTestDomain;
beforeAll(async () => {
  mailServer = await startMailServer();
  mailer = createMailer(
    { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 60_000 },
    { logger: createLogger('test', 'error'), metrics: createMetrics({ withProcessMetrics: false }) },
  );
  api = await startTestApi({}, { mailer });
  acme = await createActors(api.database);
  domain = await setUpScim(api, acme, 'W');
});
afterAll(async () => {
  await api.stop();
  await mailer.stop();
  await mailServer.stop();
});

const address = (name: string) => `${name}@${domain.name}`;
const subjectsTo = (email: string) =>
  mailServer.mails.filter(({ to }) => to.includes(email)).map(({ headers }) => headers.subject);
const isMailed = (email: string, subject: string) =>
  eventually(async () => subjectsTo(email).some((one) => one?.includes(subject)), { what: `${subject} to ${email}` });
const me = async (session: string) => (await api.get('/api/users/@me/', session)).status;
const change = (uuid: string, path: string, value: unknown) =>
  sendScim(api, domain, { method: 'PATCH', path: `/Users/${uuid}`, body: patchOp({ op: 'replace', path, value }) });

test('a SCIM change of email address notifies both addresses and ends all sessions, unlike other changes', async () => {
  const ada = await createActor(api.database, acme.organizationId, 1, address('ada'));
  const session = await signInAs(api, ada.userId);
  expect((await change(ada.uuid, 'name.givenName', 'Augusta')).status).toBe(200);
  expect((await change(ada.uuid, 'userName', address('ADA'))).status).toBe(200);
  expect(await me(session)).toBe(200);
  expect((await change(ada.uuid, 'userName', address('augusta'))).status).toBe(200);
  expect(await me(session)).toBe(401);
  for (const email of [ada.email, address('augusta')])
    await isMailed(email, "Your account's email address was changed");
  expect([subjectsTo(ada.email).length, subjectsTo(address('augusta')).length]).toEqual([1, 1]);
});

test('SCIM emails a user whose account it takes over, but only if the email address is unverified', async () => {
  const { sql } = api.database;
  const prepared = await createActor(api.database, acme.off.organizationId, 1, address('grace'));
  const verified = await createActor(api.database, acme.off.organizationId, 1, address('mary'));
  await sql.query('UPDATE "user" SET is_email_verified = true WHERE id = $1', [verified.userId]);
  const sessions = [await signInAs(api, prepared.userId), await signInAs(api, verified.userId)];
  for (const { email } of [prepared, verified]) {
    const made = await sendScim(api, domain, { method: 'POST', path: '/Users', body: { userName: email } });
    expect(made.status).toBe(201);
  }
  await isMailed(prepared.email, 'Your account was secured');
  expect(await Promise.all(sessions.map(me))).toEqual([401, 200]);
  expect(subjectsTo(verified.email)).toEqual([]);
});
