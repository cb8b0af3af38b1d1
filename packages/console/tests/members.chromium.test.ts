import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { eventually, type MailServer, startMailServer } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { addMember, checkPage, type Level, openAsMember, openWithSession } from './people.ts';
import { type RunningConsole, startConsole } from './start-console.ts';

let console: RunningConsole;
let mailServer: MailServer;
beforeAll(async () => {
  mailServer = await startMailServer();
  console = await startConsole({
    settings: { SMTP_URL: mailServer.url, PUBLIC_API_URL: 'http://127.0.0.1:1', API_SIGN_UPS_PER_MINUTE: '0' },
  });
});
afterAll(async () => {
  await console?.stop();
  await mailServer?.stop();
});

const password = 'correct horse battery staple';
const levelsOffered = (page: Page) =>
  page.getByRole('region', { name: 'Invite people' }).getByRole('combobox').getByRole('option').allTextContents();
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const dialogOf = (page: Page) => page.getByRole('dialog');
const contentOf = (page: Page) =>
  page.evaluate<string>(
    'location.href + document.title + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })',
  );

it('console-035: lets an owner change levels and remove members, except their own level and other owners', async () => {
  await addMember(console, 1, 'grace');
  await addMember(console, 15, 'other-owner');
  const page = await openAsMember(console, 15, 'members', 'boss@example.com');
  const own = row(page, 'boss@example.com');
  await own.getByText('You cannot change your own level.').waitFor();
  await own.getByText('An owner cannot leave').waitFor();
  expect(await own.getByRole('combobox').count()).toBe(0);
  expect(await own.getByRole('button').count()).toBe(0);
  const owner = row(page, 'other-owner@example.com');
  await owner.getByText('lower their level first').waitFor();
  await checkPage(page);

  const grace = row(page, 'grace@example.com');
  await grace.getByRole('combobox').selectOption('administrator');
  await dialogOf(page).getByText('Make Ada an administrator?').waitFor();
  await checkPage(page);
  await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
  expect(await grace.getByRole('combobox').inputValue()).toBe('1');
  await grace.getByRole('combobox').selectOption('administrator');
  await dialogOf(page).getByRole('button', { name: 'Change level' }).click();
  await eventually(async () => expect(await grace.getByRole('combobox').inputValue()).toBe('8'));

  await page.getByRole('searchbox').fill('GRACE@');
  await eventually(async () => expect(await owner.count()).toBe(0));
  expect(new URL(page.url()).searchParams.get('search')).toBe('GRACE@');
  await grace.getByRole('button', { name: 'Remove Ada' }).click();
  await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No members match your search').waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'Show all' }).click();
  await owner.waitFor();
  await page.context().close();
});

const callers: [Level, string, (page: Page) => Promise<void>][] = [
  [
    1,
    'shows a member who can change levels, and lets the member leave',
    async (page) => {
      await page.getByText('Only administrators and owners can change levels').waitFor();
      expect(await page.getByRole('table').last().getByRole('combobox').count()).toBe(0);
      expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0);
      await page.getByRole('button', { name: 'More options' }).click();
      expect(await levelsOffered(page)).toEqual(['member']);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Leave' }).click();
      await dialogOf(page).getByRole('button', { name: 'Leave' }).click();
      await page.getByText('You do not have access to any project yet').waitFor();
    },
  ],
  [
    8,
    'lets an administrator change members up to that level, but no owner',
    async (page) => {
      const owner = row(page, 'other-owner@example.com');
      await owner.getByText('Only an owner can change this.').waitFor();
      expect(await owner.getByRole('combobox').count()).toBe(0);
      expect(await owner.getByRole('button').count()).toBe(0);
      const member = row(page, 'plain@example.com');
      const offered = await member.getByRole('combobox').getByRole('option').allTextContents();
      expect(offered).toEqual(['member', 'administrator']);
      await page.getByRole('button', { name: 'More options' }).click();
      expect(await levelsOffered(page)).toEqual(['member', 'administrator']);
    },
  ],
];
it.each(callers)('console-035: for membership level %i, %s', async (level, _, look) => {
  if (level === 8) await addMember(console, 1, 'plain');
  const page = await openAsMember(console, level, 'members');
  await row(page, 'other-owner@example.com').waitFor();
  await look(page);
  await page.context().close();
});

it('console-033: invites several people at a time, shows the links once, and accepts an invite by link', async () => {
  const page = await openAsMember(console, 15, 'members');
  await page.getByRole('button', { name: 'More options' }).click();
  expect(new URL(page.url()).searchParams.get('open')).toBe('invite');
  const addresses = page.getByLabel('Email addresses');
  await addresses.fill('Alan <alan@example.com>, unknown\nalan@EXAMPLE.com');
  await page.getByRole('button', { name: 'Invite 2 people' }).click();
  await page.getByText('unknown: Enter a valid email address.').waitFor();
  await checkPage(page);
  await addresses.fill(Array.from({ length: 21 }, (_, at) => `many${at}@example.com`).join('\n'));
  await page.getByText('You entered 21 addresses. You can invite at most 20').waitFor();
  mailServer.refuse('gone@example.com');
  await addresses.fill('alan@example.com; gone@example.com');
  await page.getByLabel('Message in the email').fill('See you on Monday');
  await page.getByRole('button', { name: 'Invite 2 people' }).click();

  const made = page.getByRole('region', { name: '2 invites created' });
  await made.getByText('The mail server rejected the address (550).').waitFor();
  const link = await made.getByLabel('Link for alan@example.com').inputValue();
  expect(link).toMatch(/\/console\/invite\/[\w-]{36}#[\w-]{43}$/);
  const secret = new URL(link).hash.slice(1);
  expect(await contentOf(page)).not.toContain(secret);
  const mail = mailServer.mails.find(({ to }) => to.includes('alan@example.com'));
  expect(mail?.body).toContain('See you on Monday');
  expect(mail?.body).not.toContain(secret);
  await row(page, 'alan@example.com').getByText('Emailed').waitFor();
  await row(page, 'gone@example.com').getByText('Email failed').waitFor();
  await checkPage(page);
  await made.getByRole('button', { name: 'Done' }).click();
  await page.reload();
  await row(page, 'alan@example.com').waitFor();
  expect(await page.content()).not.toContain(secret);

  const guest = await openWithSession(console, null, link);
  await guest.getByText('You were invited as alan@example.com.').waitFor();
  expect(guest.url()).not.toContain(secret);
  await guest.getByLabel('Your name').fill('Alan');
  await guest.getByLabel('Password').fill(password);
  await guest.getByRole('button', { name: 'Join', exact: true }).click();
  await guest.getByRole('button', { name: 'Account: Alan' }).waitFor();
  await guest.goto(console.address('settings/members'));
  await row(guest, 'alan@example.com').getByText('you', { exact: true }).waitFor();
  await guest.context().close();
  await page.reload();
  await row(page, 'alan@example.com').getByRole('combobox').waitFor();
  await page.context().close();
});

it('invites a user from the field on the page, and keeps the email address when more options are opened', async () => {
  const page = await openAsMember(console, 15, 'members');
  const addresses = page.getByLabel('Email addresses');
  await page.getByText('They join as members.').waitFor();
  await checkPage(page);
  // Pressing Enter submits the form, and the invite link then takes the focus.
  await addresses.fill('quick@example.com');
  await addresses.press('Enter');
  const made = page.getByRole('region', { name: 'Invite created' });
  await made.getByLabel('Link for quick@example.com').waitFor();
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Invite created');
  await row(page, 'quick@example.com').getByText('member', { exact: true }).waitFor();
  expect(await addresses.inputValue()).toBe('');
  await addresses.fill('later@example.com');
  await page.getByRole('button', { name: 'More options' }).click();
  expect(await addresses.inputValue()).toBe('later@example.com');
  expect(await page.evaluate('document.activeElement.value')).toBe('later@example.com');
  await page.getByRole('region', { name: 'Invite people' }).getByRole('combobox').selectOption('administrator');
  await page.goBack();
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await row(page, 'later@example.com').getByText('member', { exact: true }).waitFor();
  for (const name of ['quick', 'later'])
    await console.query(`DELETE FROM organization_invite WHERE target_email = '${name}@example.com'`, []);
  await page.context().close();
});

it('resends a failed or expired invite with a new link, and cancels invites', async () => {
  const page = await openAsMember(console, 8, 'members');
  const gone = row(page, 'gone@example.com');
  await console.query(
    `UPDATE organization_invite SET created_at = now() - interval '4 days' WHERE target_email = 'gone@example.com'`,
    [],
  );
  await page.reload();
  await gone.getByText('Expired').waitFor();
  await gone.getByRole('button', { name: 'Resend to gone@example.com' }).click();
  const made = page.getByRole('region', { name: 'Invite created' });
  const link = await made.getByLabel('Link for gone@example.com').inputValue();
  expect(new URL(link).hash).toHaveLength(44);
  await gone.getByText('Email failed').waitFor();
  await gone.getByRole('button', { name: 'Revoke' }).click();
  await dialogOf(page).getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No pending invites').waitFor();
  await checkPage(page);
  const guest = await openWithSession(console, null, link);
  await guest.getByText('This link is not valid').waitFor();
  await guest.context().close();

  await console.query(
    `INSERT INTO organization_invite (id, organization_id, target_email, email_key, level, token_hash)
     SELECT gen_random_uuid(), organization_id, 'high@example.com', 'high@example.com', 15, '' FROM project LIMIT 1`,
    [],
  );
  await page.reload();
  await row(page, 'high@example.com').getByText('This invite grants a higher level than your own.').waitFor();
  await page.context().close();
});

it('without email, shows before and after the invite that the user must share the link', async () => {
  const page = await openAsMember(console, 15, 'members');
  await page.route('**/console/**', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(
      'name="millrace-mail" content="on"',
      'name="millrace-mail" content=""',
    );
    await route.fulfill({ response, body });
  });
  await page.goto(console.address('settings/members?open=invite'));
  await page.getByText('Email is not set up here. You get a link').waitFor();
  expect(await page.getByLabel('Send an email to each person').isDisabled()).toBe(true);
  await page.getByLabel('Email addresses').fill('link-only@example.com');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByText('No email was sent.').waitFor();
  expect(await page.getByLabel('Link for link-only@example.com').inputValue()).toContain('#');
  await row(page, 'link-only@example.com').getByText('Link only').waitFor();
  expect(mailServer.mails.filter(({ to }) => to.includes('link-only@example.com'))).toEqual([]);
  await page.context().close();
});

it('lets a user with an account sign in from the invite link, and then accepts the invite', async () => {
  const person = { email: 'linus@example.com', id: randomUUID() };
  const secret = randomBytes(32).toString('base64url');
  const shown = createHash('sha256').update(secret).digest();
  const hash = createHash('sha256').update(shown.toString('base64url')).digest('hex');
  const session = randomBytes(32).toString('base64url');
  await console.query(
    `WITH person AS (INSERT INTO "user" (uuid, distinct_id, email, first_name) VALUES ($1::text::uuid, $1::text, $2::text, 'Linus') RETURNING id),
          begun AS (INSERT INTO session (id, token_hash, user_id, method, address, browser, expires_at)
                    SELECT gen_random_uuid(), $4, id, 'password', '192.0.2.7', 'Firefox', now() + interval '1 day' FROM person)
     INSERT INTO organization_invite (id, organization_id, target_email, email_key, token_hash)
     SELECT $1::text::uuid, organization_id, $2::text, $2::text, $3 FROM project LIMIT 1`,
    [person.id, person.email, hash, createHash('sha256').update(session).digest('hex')],
  );
  const origin = new URL(console.address('')).origin;
  const page = await openWithSession(console, session, `${origin}/console/invite/${person.id}`);
  await page.getByRole('button', { name: 'Join with your current account' }).click();
  await page.getByText('To accept the invite, open the invite link').waitFor();
  await page.goto('about:blank');
  await page.goto(`${origin}/console/invite/${person.id}#${shown.toString('base64url')}`);
  await page.getByRole('button', { name: 'I already have an account' }).click();
  await page.getByText('Sign in with the account that uses the invited email address').waitFor();
  await page.goto(`${origin}/console/invite/${person.id}#${secret}`);
  await page.reload();
  await page.goto('about:blank');
  await page.goto(`${origin}/console/invite/${person.id}#${secret}`);
  await page.getByRole('button', { name: 'Join with your current account' }).click();
  await page.getByRole('button', { name: 'Account: Linus' }).waitFor();
  await page.context().close();
});

it('console-006, console-007: names unknown URL parameters, and shows different states for refused, missing and failed', async () => {
  const page = await openAsMember(console, 1, 'members?open=purple&nonsense=1');
  await page.getByText(/invalid parameters?: nonsense, open/).waitFor();
  for (const [status, state] of [
    [403, 'refused'],
    [404, 'gone'],
    [400, 'failed'],
  ] as const) {
    await page.route('**/api/organizations/*/members?*', (route) =>
      route.fulfill({ status, json: { detail: 'Because of a test.' } }),
    );
    await page.reload();
    await page.locator(`[data-state=${state}]`).waitFor();
    await page.unroute('**/api/organizations/*/members?*');
  }
  await page.context().close();
});
