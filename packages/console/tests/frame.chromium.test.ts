import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { pages } from '../src/pages.ts';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

/** Tests the frame around the pages: expired sessions, new versions, and the theme before the first paint. */
let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const password = 'a mill turns while the river runs';

it('console-003: keeps the input in an open form when the session ends and the user signs in again', async () => {
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
  expect(await runAxe(page)).toEqual([]);
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

it('shows the navigation before the server has responded', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const page = await console.open('events', {
    prepare: async (visitor) => {
      await visitor.route('**/api/users/@me', async (route) => {
        await held;
        await route.continue();
      });
    },
  });
  await page.getByRole('link', { name: 'Dashboards' }).waitFor();
  await page.getByText('Loading').first().waitFor();
  release();
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  expect(await page.title()).toMatch(/^Events · /);
  await page.context().close();
});

it("console-045: asks the user to reload after a new version has replaced a page's code", async () => {
  const page = await console.open('events');
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  const parts = /\/console\/assets\/.*\.(js|css)$/;
  await page.route(parts, (route) => route.fulfill({ status: 404, json: { code: 'not_found' } }));
  await page.getByRole('link', { name: 'Feature flags' }).click();
  await page.getByRole('heading', { name: 'The console was updated' }).waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('link', { name: 'Events' }).waitFor();
  await page.unroute(parts);
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Feature flags', level: 1 }).waitFor();
  await page.context().close();
});

it('shows the navigation and a link back on an unknown page', async () => {
  const page = await console.newPage();
  for (const path of ['nope?x=1', 'events/nope', 'settings/nope']) {
    await page.goto(console.address(path));
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Feature flags' }).waitFor();
  }
  expect(await runAxe(page)).toEqual([]);
  const [first] = pages;
  const title = page.getByRole('heading', { name: 'Live', exact: true, level: 1 });
  await page.getByRole('link', { name: `Back to ${first?.title}` }).click();
  await title.waitFor();
  await page.goto(new URL('/console/nope', page.url()).href);
  await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Back to Millrace' }).click();
  await title.waitFor();
  await page.context().close();
});

it('console-041: applies the chosen theme before the first paint', async () => {
  const page = await console.open('flags');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Theme: Dark' }).click();
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const dark = await ground();
  // The console's script never loads, so only the bare HTML page is visible.
  await page.route(/assets\/index-.*\.js$/, () => {});
  await page.goto(console.address('flags'), { waitUntil: 'commit' });
  await eventually(async () => expect(await ground()).toBe(dark));
  expect(await page.locator('#console').innerHTML()).toBe('');
  await page.context().close();
});

describe('the command palette', () => {
  const input = (page: Page) => page.getByRole('dialog', { name: 'Search and go to' }).locator('input');
  const option = (page: Page, name: string | RegExp) => page.getByRole('menuitem', { name });
  beforeAll(async () => {
    await console.api('POST', 'feature_flags', { key: 'new-checkout', name: 'The second checkout' });
    await console.api('POST', 'dashboards', { name: 'Checkout figures' });
    const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order' }] };
    await console.api('POST', 'insights', { name: 'Checkouts per day', query });
    await console.storePerson('checkout-tester', { name: 'Tess Checkout', email: 'tess@example.com' });
  });

  it('finds records with Ctrl+K, opens them by keyboard, and lists them first the next time it opens', async () => {
    const page = await console.open('health');
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await input(page).fill('checkout');
    for (const name of [/new-checkout/, /Checkout figures/, /Checkouts per day/, /Tess Checkout/])
      await option(page, name).waitFor();
    expect(await runAxeInBothThemes(page)).toEqual([]);
    await input(page).fill('new-check');
    await option(page, /Tess Checkout/).waitFor({ state: 'detached' });
    await option(page, /new-checkout/).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Feature flags', level: 1 }).waitFor();
    await page.getByRole('complementary').getByRole('heading', { name: 'new-checkout' }).waitFor();

    await page.getByRole('button', { name: 'Search', exact: true }).click();
    const first = page.getByRole('menuitem').first();
    await first.filter({ hasText: 'new-checkout' }).waitFor();
    await input(page).fill('domains');
    await option(page, /Domains/).waitFor();
    await input(page).fill('new coh');
    await option(page, 'New cohort').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'New cohort' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('shows why records cannot be searched, and fits on a phone screen', async () => {
    const page = await console.open('health', { width: 360, height: 640 });
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor();
    await page.route(/\/persons\?/, (route) => route.fulfill({ status: 403, json: { detail: 'Because of a test.' } }));
    await page.keyboard.press('Control+k');
    await option(page, /^Live/).waitFor();
    const box = await page.getByRole('dialog').boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
    await input(page).fill('zz');
    await page.getByText('No matches.').waitFor();
    await page.getByRole('alert').getByText('Some results could not be loaded. Because of a test.').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(await runAxe(page)).toEqual([]);
    await page.context().close();
  });

  it('opens the same page when the user chooses another project', async () => {
    const organization = await console.api<{ organization: { id: string } }>('GET', '/api/users/@me');
    for (const name of ['Alpha', 'Beta', 'Gamma', 'Delta', 'Łódź shop'])
      await console.api('POST', `/api/organizations/${organization.organization.id}/projects`, { name });
    const page = await console.openSignedIn('events?event=order');
    await page.getByRole('button', { name: 'Switch project' }).click();
    await page.getByRole('searchbox', { name: 'Find a project' }).fill('dz shop');
    await page.getByRole('menuitem', { name: 'Alpha' }).waitFor({ state: 'detached' });
    expect(await runAxe(page)).toEqual([]);
    await page.getByRole('menuitem', { name: /dź shop/ }).click();
    await page.getByRole('button', { name: 'Switch project' }).getByText('Łódź shop').waitFor();
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/events$/);
    expect(new URL(page.url()).search).toBe('');
    await page.keyboard.press('Control+k');
    await input(page).fill('alpha');
    await option(page, /^Alpha/).click();
    await page.getByRole('button', { name: 'Switch project' }).getByText('Alpha').waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/events$/);
    await page.context().close();
  });

  it('loads a font subset only for a page that shows its characters', async () => {
    const requested: string[] = [];
    const note = (address: string) => requested.push(address.replace(/^.*\//, '').replace(/-wght-.*/, ''));
    const page = await console.open('cohorts', {
      prepare: async (visitor) =>
        void visitor.on('request', (request) => /woff2/.test(request.url()) && note(request.url())),
    });
    await page.getByRole('heading', { name: 'Cohorts', level: 1 }).waitFor();
    await page.evaluate('document.fonts.ready.then(() => true)');
    expect(requested.filter((name) => !/-latin$/.test(name))).toEqual([]);
    await console.storePerson('cyrillic', { name: 'Мария' });
    await page.goto(console.address('persons?search=cyrillic'));
    await page.getByText('Мария').waitFor();
    await eventually(() => expect(requested).toContain('inter-cyrillic'));
    expect(requested).not.toContain('inter-greek');
    await page.context().close();
  });
});

it("names the open record in the browser tab's title, and the project in the top bar on a phone", async () => {
  await console.storePerson('titled', { name: 'Ada of the title' });
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Titled figures' });
  const page = await console.openSignedIn('persons', { width: 390, height: 844 });
  await eventually(async () => expect(await page.title()).toMatch(/^Persons · .+ · Millrace$/));
  await page.getByRole('button', { name: 'Ada of the title' }).click();
  await eventually(async () => expect(await page.title()).toMatch(/^Ada of the title · Persons · /));
  await page.getByRole('button', { name: 'Close person' }).click();
  await eventually(async () => expect(await page.title()).toMatch(/^Persons · /));
  await page.goto(console.address(`dashboards?dashboard=${id}`));
  await eventually(async () => expect(await page.title()).toMatch(/^Titled figures · Dashboards · /));
  await page.locator('.rail-where').waitFor();
  expect(await page.locator('.rail-where').textContent()).not.toBe('');
  expect(await runAxe(page, { isWhole: true })).toEqual([]);
  await page.context().close();
});
