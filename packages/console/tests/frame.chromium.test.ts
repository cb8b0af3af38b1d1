import { eventually } from '@millrace/testing';
import { type RunningConsole, startConsole, violationsOf } from './start-console.ts';

/** What happens around the pages: a session that ends, a version that is replaced, a theme that is there from the first moment. */
let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const password = 'a mill turns while the river runs';

test('C-003: when the session ends while a form is open, signing in again goes on with what was typed', async () => {
  const page = await console.openSignedIn('settings/account');
  const { email } = await console.api<{ email: string }>('GET', '/api/users/@me');
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Your password has been set').waitFor();
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lovelace');
  await console.query('DELETE FROM session', []);
  const save = page.getByRole('region', { name: 'Name', exact: true }).getByRole('button', { name: 'Save' });
  await save.click();
  const dialog = page.getByRole('dialog', { name: 'You are no longer signed in' });
  await dialog.waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByLabel('Email').fill(email);
  await dialog.getByLabel('Password').fill('not this one');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').first().waitFor();
  await dialog.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByLabel('First name').inputValue()).toBe('Ada');
  expect(await page.getByLabel('Last name').inputValue()).toBe('Lovelace');
  await save.click();
  await page.getByText('Saved.').waitFor();
  await page.context().close();
});

test('C-045: a page whose part is gone with the former version asks to be reloaded, and is never white', async () => {
  const page = await console.open('events');
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  const parts = /\/console\/assets\/.*\.(js|css)$/;
  await page.route(parts, (route) => route.fulfill({ status: 404, json: { code: 'not_found' } }));
  await page.getByRole('link', { name: 'Feature flags' }).click();
  await page.getByRole('heading', { name: 'The console was updated' }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  // The rest of the console is still there.
  await page.getByRole('link', { name: 'Events' }).waitFor();
  await page.unroute(parts);
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Feature flags', level: 1 }).waitFor();
  await page.context().close();
});

test('an unknown address keeps the navigation and offers a way back', async () => {
  const page = await console.open('nope?x=1');
  for (const path of ['nope?x=1', 'events/nope', 'settings/nope']) {
    await page.goto(console.address(path));
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Feature flags' }).waitFor();
  }
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('link', { name: 'Back to Live' }).click();
  await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
  await page.goto(new URL('/console/nope', page.url()).href);
  await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Back to Millrace' }).click();
  await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
  await page.context().close();
});

test('C-041: the chosen theme is there before anything is drawn', async () => {
  const page = await console.open('flags');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Theme: Dark' }).click();
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const dark = await ground();
  // The program never comes: what is seen is the bare page.
  await page.route(/assets\/index-.*\.js$/, () => {});
  await page.goto(console.address('flags'), { waitUntil: 'commit' });
  await eventually(async () => expect(await ground()).toBe(dark));
  expect(await page.locator('#console').innerHTML()).toBe('');
  await page.context().close();
});
