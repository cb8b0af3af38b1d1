import { allScopes } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { scopes } from '../src/pages/settings/keys/scopes.ts';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const password = 'correct horse battery staple';
const owner = 'SELECT user_id FROM personal_api_key ORDER BY created_at LIMIT 1';

const openSignedIn = (section: string) => console.openSignedIn(`settings/${section}`);

/** Returns everything that a page shows and stores, to check that it does not contain secrets. */
const contentOf = (page: Page) =>
  page.evaluate<string>(
    'location.href + document.title + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })',
  );
const isWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth');
const block = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function checkPage(page: Page): Promise<void> {
  expect(await runAxeInBothThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await isWide(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
}

it("changes the user's name, password and theme, and ends sessions", async () => {
  await console.beginSession('curl/8.5.0');
  await console.beginSession('Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0 Safari/537.36');
  const page = await openSignedIn('account');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lovelace');
  await block(page, 'Name').getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('button', { name: 'Account: Ada' }).waitFor();

  await page.getByLabel('New password').fill('password1');
  await page.getByRole('button', { name: 'Set password' }).click();
  await eventually(async () => expect(await page.getByLabel('New password').getAttribute('aria-invalid')).toBe('true'));
  expect(await page.getByLabel('New password').inputValue()).toBe('password1');
  const rows = page.getByRole('row');
  await page.getByRole('button', { name: 'End the curl session' }).click();
  await eventually(async () => expect(await rows.filter({ hasText: 'curl' }).count()).toBe(0));
  await checkPage(page);
  await page.getByRole('button', { name: 'End all other sessions' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End all other sessions' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await eventually(async () => expect(await rows.count()).toBe(2));
  await rows.filter({ hasText: 'this browser' }).waitFor();

  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Your password has been set').waitFor();
  await page.getByLabel('Current password').fill('another one than before');
  await page.getByLabel('New password').fill('incorrect horse battery staple');
  await page.getByRole('button', { name: 'Set password' }).click();
  await eventually(async () =>
    expect(await page.getByLabel('Current password').getAttribute('aria-invalid')).toBe('true'),
  );

  await page.getByLabel('Dark').check();
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  await page.reload();
  await eventually(async () => expect(await page.getByLabel('Dark').isChecked()).toBe(true));
  expect(await page.getByLabel('First name').inputValue()).toBe('Ada');
  await page.context().close();
});

it('offers every scope that an API route requires in the API key form', () => {
  const asked = new Set(allScopes.map((scope) => scope.split(':')[0]));
  expect(new Set(scopes.map(({ object }) => object as string))).toEqual(asked);
});

it('console-033, console-034: creates an API key after a recent sign-in, keeps the input, and shows the key once', async () => {
  const page = await openSignedIn('keys');
  await page.getByRole('button', { name: 'New key' }).click();
  expect(new URL(page.url()).searchParams.get('open')).toBe('new');
  await page.getByLabel('Name', { exact: true }).fill('Shop deployment');
  await page.getByLabel('Terraform').check();
  expect(await page.getByLabel('Access to feature_flag').inputValue()).toBe('write');
  await page.getByLabel('Access to person').selectOption('read');
  expect(await page.getByLabel('Custom scopes').isChecked()).toBe(true);
  await page.getByLabel('Read only').check();
  await page.getByLabel('Access to event', { exact: true }).selectOption('write');
  await page.getByRole('group', { name: 'Only in these projects' }).getByRole('checkbox').first().check();
  await checkPage(page);
  await console.query(`UPDATE session SET signed_in_at = now() - interval '3 hours' WHERE user_id = (${owner})`, []);
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Confirm your identity' });
  await dialog.getByLabel('Password').fill('not this one');
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await dialog.getByText('Your password is wrong.').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alert').getByText('Confirm your identity to continue').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Shop deployment');
  await page.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Confirm' }).click();

  const secret = page.locator('[data-secret]');
  await secret.waitFor();
  const value = (await secret.textContent()) ?? '';
  expect(value).toMatch(/^phx_\w{48}$/);
  expect(await contentOf(page)).not.toContain(value);
  await checkPage(page);
  const asked = await fetch(new URL('/api/personal_api_keys/@current', page.url()), {
    headers: { authorization: `Bearer ${value}` },
  });
  expect(await asked.json()).toMatchObject({
    label: 'Shop deployment',
    scopes: expect.arrayContaining(['event:write', 'person:read']),
    scoped_teams: [expect.any(Number)],
    expires_at: expect.any(String),
  });
  await page.getByRole('button', { name: 'Done' }).click();
  await secret.waitFor({ state: 'detached' });
  await page.reload();
  const row = page.getByRole('row').filter({ hasText: 'Shop deployment' });
  await row.waitFor();
  expect(await page.content()).not.toContain(value);

  await page.getByRole('button', { name: 'Edit Shop deployment' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Shop');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Roll Shop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll' }).click();
  await secret.waitFor();
  expect(await secret.textContent()).not.toBe(value);
  await page.getByRole('button', { name: 'Delete Shop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('row').filter({ hasText: 'Shop' }).waitFor({ state: 'detached' });
  await page.context().close();
});

it('shows the limit of ten API keys before the form opens, and reports an unknown key in the URL', async () => {
  await console.query(
    `INSERT INTO personal_api_key (id, user_id, label, secure_value, mask_value, scopes)
     SELECT 'limit-' || n, (${owner}), 'Key ' || n, 'limit-' || n, 'phx_...' || n, '{event:read}'
     FROM generate_series(1, 10 - (SELECT count(*)::int FROM personal_api_key WHERE user_id = (${owner}))) AS n`,
    [],
  );
  const page = await openSignedIn('keys');
  await page.getByText('You have reached the maximum of 10 keys.').waitFor();
  expect(await page.getByRole('button', { name: 'New key' }).isDisabled()).toBe(true);
  await checkPage(page);
  await page.goto(console.address('settings?nonsense=1'));
  await page.getByLabel('First name').waitFor();
  await page.getByRole('link', { name: 'Personal API keys' }).click();
  await page.getByText('maximum of 10 keys').waitFor();
  await page.goBack();
  await page.getByLabel('First name').waitFor();
  await page.goto(console.address('settings/keys?open=unknown&nonsense=1'));
  await page.locator('[data-state=gone]').waitFor();
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  await page.goto(console.address('settings/purple'));
  await page.locator('[data-state=gone]').waitFor();
  await page.goto(console.address('settings/keys'));
  await page.route('**/api/personal_api_keys', (route) =>
    route.fulfill({ status: 403, json: { detail: 'Because of a test.' } }),
  );
  await page.reload();
  await page.locator('[data-state=refused]').getByText('Because of a test.').waitFor();
  await page.context().close();
});

it('collapses the settings menu on a phone, and opens another section from it', async () => {
  const page = await console.openSignedIn('settings/keys', { width: 390, height: 844 });
  const list = page.getByRole('navigation', { name: 'Settings sections' });
  await block(page, 'Personal API keys').waitFor();
  expect(await list.getByRole('link').count()).toBe(0);
  await list.locator('summary').click();
  expect(await runAxe(page)).toEqual([]);
  await list.getByRole('link', { name: 'Exports' }).click();
  await page.getByRole('heading', { name: 'Exports' }).first().waitFor();
  await list.locator('summary').getByText('Exports').waitFor();
  expect(await list.getByRole('link').count()).toBe(0);
  expect(await isWide(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await list.getByRole('link', { name: 'Exports', exact: true }).waitFor();
  await page.context().close();
});
