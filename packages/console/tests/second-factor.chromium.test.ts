import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { openAsMember } from './people.ts';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';

/** Tests sign-in with a second factor or a passkey, for which Chromium has a virtual authenticator. */
let console: RunningConsole;
let browser: Browser;
const password = 'correct horse battery staple';
const email = 'owner-with-factors@example.com';
beforeAll(async () => {
  // Turn off the rate limit for account changes, which these tests would exceed.
  console = await startConsole({ publicHost: 'localhost', settings: { API_USER_CHANGES_PER_MINUTE: '0' } });
  browser = await launchChromium();
  await console.query('UPDATE "user" SET email = $1', [email]);
});
beforeEach(async () => {
  for (const table of ['user_totp', 'user_backup_code', 'passkey', 'session', 'known_device']) {
    await console.query(`DELETE FROM ${table}`, []);
  }
  await console.query('UPDATE organization SET enforce_2fa = false', []);
  await console.query('UPDATE "user" SET passkeys_enabled_for_2fa = false', []);
  const page = await console.openSignedIn('settings/account');
  await console.query('DELETE FROM user_password', []);
  await page.reload();
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Your password has been set').waitFor();
  await page.context().close();
});
afterAll(async () => {
  await browser?.close();
  await console?.stop();
});

/** Passkeys require a host name and do not work with an IP address. */
const address = (path: string) => console.address(path).replace('127.0.0.1', 'localhost');

/**
 * Opens a page in a browser without a session.
 * @param hasKey whether the browser has a virtual authenticator that verifies its user
 */
async function open(path: string, { hasKey = false } = {}): Promise<Page> {
  const visitor = await browser.newContext({ reducedMotion: 'reduce' });
  const page = await visitor.newPage();
  if (hasKey) {
    const devtools = await visitor.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
  }
  await page.goto(address(path));
  return page;
}

async function enterPassword(page: Page): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Returns the current code, which is valid for at least 30 more seconds. */
const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate();

/** Connects an authenticator app. @returns the app's secret, and the backup codes from the page */
async function connectApp(page: Page): Promise<{ secret: string; codes: string[] }> {
  await page.getByRole('button', { name: 'Connect app' }).click();
  const dialog = page.getByRole('dialog', { name: 'Connect app' });
  await dialog.getByRole('img', { name: 'QR code' }).waitFor();
  const secret = (await dialog.locator('code').textContent()) ?? '';
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByLabel('Code', { exact: true }).fill('000000');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await dialog.getByText('This code is wrong').waitFor();
  await dialog.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await dialog.getByRole('button', { name: 'Connect' }).click();
  const shown = page.getByRole('region', { name: 'Backup codes' });
  await shown.waitFor();
  // Allow the same code to be used again.
  await console.query('UPDATE user_totp SET last_step = 0', []);
  const codes = ((await shown.locator('pre').textContent()) ?? '').trim().split('\n');
  await shown.getByRole('button', { name: 'Done' }).click();
  await shown.waitFor({ state: 'detached' });
  return { secret, codes };
}

it('connects an authenticator app with a QR code, and then requires a code from the app', async () => {
  const page = await open('settings/account');
  await enterPassword(page);
  const { secret, codes } = await connectApp(page);
  expect(codes).toHaveLength(10);
  await page.getByText('An authenticator app is connected').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.context().clearCookies();
  await page.goto(address('live'));
  await enterPassword(page);
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This code is wrong').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await page.getByLabel('Do not ask again').check();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/live');
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await page.context().addCookies(cookies.filter(({ name }) => name === 'millrace_device'));
  await page.goto(address('live'));
  await enterPassword(page);
  await page.waitForURL('**/live');
  await page.context().close();
});

it('lets an invited user join with a passkey after cancelling once, and then sign in with the passkey', async () => {
  const invite = { id: randomUUID(), secret: randomBytes(32).toString('base64url') };
  const shown = createHash('sha256').update(invite.secret).digest().toString('base64url');
  await console.query(
    `INSERT INTO organization_invite (id, organization_id, target_email, email_key, token_hash)
     SELECT $1::text::uuid, id, 'linus@example.com', 'linus@example.com', $2 FROM organization LIMIT 1`,
    [invite.id, createHash('sha256').update(shown).digest('hex')],
  );
  const page = await open('live', { hasKey: true });
  const link = new URL(`/console/invite/${invite.id}#${invite.secret}`, address('')).href;
  await page.goto(link);
  await page.getByLabel('Your name').fill('Linus');
  await page.route('**/api/webauthn/register/begin', (route) => route.abort());
  await page.getByRole('button', { name: 'Join with a passkey' }).click();
  await page.getByText('You have joined, but the passkey was not created.').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.unroute('**/api/webauthn/register/begin');
  await page.getByRole('button', { name: 'Join with a passkey' }).click();
  await page.getByRole('button', { name: 'Account: Linus' }).waitFor();
  const { rows } = await console.query(
    `SELECT u.first_name, p.hash IS NULL AS is_without, k.label FROM "user" u
       LEFT JOIN user_password p ON p.user_id = u.id JOIN passkey k ON k.user_id = u.id WHERE u.email = 'linus@example.com'`,
    [],
  );
  expect(rows).toEqual([{ first_name: 'Linus', is_without: true, label: 'Passkey' }]);
  await page.context().clearCookies();
  await page.goto(address('live'));
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('button', { name: 'Account: Linus' }).waitFor();
  await page.context().close();
  await console.query(`DELETE FROM "user" WHERE email = 'linus@example.com'`, []);
});

it('adds a passkey, signs in with it instead of a password, and removes it', async () => {
  const page = await open('settings/account', { hasKey: true });
  await enterPassword(page);
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add passkey' });
  await dialog.getByLabel('Name').fill('Desk');
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('row').filter({ hasText: 'Desk' }).waitFor();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await dialog.getByRole('button', { name: 'Add passkey' }).click();
  await dialog.getByText('already has a passkey for your account').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Also require a passkey after my password').click();
  await eventually(async () =>
    expect((await console.query('SELECT passkeys_enabled_for_2fa AS on FROM "user"', [])).rows[0]).toEqual({
      on: true,
    }),
  );
  await page.context().clearCookies();
  await page.goto(address('live'));
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL('**/live');
  await page.context().clearCookies();
  await page.goto(address('settings/account'));
  await enterPassword(page);
  await page.getByLabel('Code', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL('**/account');
  await console.query("UPDATE session SET signed_in_at = now() - interval '3 hours'", []);
  await page.getByRole('button', { name: 'Remove the passkey Desk' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  const confirm = page.getByRole('dialog', { name: 'Confirm your identity' });
  await confirm.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('No passkeys yet.').waitFor();
  await page.context().close();
});

it('shows only the setup page until the user has set up the required second factor', async () => {
  await console.query('UPDATE organization SET enforce_2fa = true', []);
  const page = await open('live');
  await enterPassword(page);
  await page.waitForURL(/\/second-factor/);
  await page.getByText('Your organization requires two-factor authentication.').waitFor();
  expect(await runAxe(page, { isWhole: true })).toEqual([]);
  await connectApp(page);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/live');
  await page.goto(address('settings/account'));
  await page.getByRole('button', { name: 'Disconnect app' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect app' }).click();
  await page.getByRole('dialog').getByText('this is your last one').waitFor();
  await page.context().close();
});

it("lists sign-ins, and explains why an organization's owner cannot delete their account", async () => {
  const page = await open('settings/account');
  await enterPassword(page);
  await page.getByText('Signed in from').first().waitFor();
  await page.getByLabel('New email address').fill('other@example.com');
  await page.getByRole('button', { name: 'Change email address' }).click();
  await page.getByText('does not send email').waitFor();
  await page.getByRole('button', { name: 'Delete account' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
  await dialog.getByLabel('Email').fill(email);
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await dialog.getByText('as its owner').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.context().close();
});

it("deletes a member's account after the member has entered its email address", async () => {
  const page = await openAsMember(console, 1, 'account', 'leaves@example.com');
  await page.getByRole('button', { name: 'Delete account' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
  const remove = dialog.getByRole('button', { name: 'Delete account' });
  await dialog.getByLabel('Email').fill(email);
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByLabel('Email').fill('leaves@example.com');
  await remove.click();
  await page.waitForURL('**/sign-in*');
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect((await console.query('SELECT email FROM "user"', [])).rows).toEqual([{ email }]);
  await page.goto(console.address('live'));
  await page.waitForURL('**/sign-in*');
  await page.context().close();
});
