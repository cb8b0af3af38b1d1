import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConsoleSizes, firstLoadLimit, fontLimit, pageLimit, writeConsole } from '@millrace/console/bundle';
import { createConsoleLink, eventually } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { post } from '../support/post.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-console-'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let sizes: ConsoleSizes;
let services: RunningServices;
let browser: Browser;
let visitor: BrowserContext;
let page: Page;
const complaints: string[] = [];
const requested: { method: string; path: string }[] = [];
const elsewhere: string[] = [];

beforeAll(async () => {
  ({ sizes } = await writeConsole(directory, { isQuick: true }));
  services = await startServices({
    eventLog: 'postgres',
    settings: { CONSOLE_DIRECTORY: directory, PUBLISH_PROCESSED: 'on' },
  });
  browser = await launchChromium();
  visitor = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  page = await visitor.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url());
    if (origin !== services.apiUrl) elsewhere.push(request.url());
    if (pathname.startsWith('/api/')) requested.push({ method: request.method(), path: pathname });
  });
});
afterAll(async () => {
  await browser?.close();
  await services?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const live = () => `${services.apiUrl}/console/projects/${services.tenant.projectId}/live`;

async function violations(): Promise<string[]> {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Expects no axe violations in either theme. */
async function expectAccessible(): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await violations()]).toEqual([colorScheme, []]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

test('console-001 keeps the first load, each page and the fonts within their size limits', () => {
  expect(sizes.firstLoad).toBeLessThanOrEqual(firstLoadLimit);
  expect(sizes.fonts).toBeLessThanOrEqual(fontLimit);
  for (const [name, bytes] of Object.entries(sizes.pages)) expect([name, bytes <= pageLimit]).toEqual([name, true]);
});

test('console-002 console-038 redirects a user without a session to sign-in, and then to the original URL', async () => {
  await page.goto(`${live()}?person=ada`);
  await page.getByRole('heading', { name: 'Sign in to Millrace' }).waitFor();
  expect(new URL(page.url()).searchParams.get('next')).toMatch(/\/live\?person=ada$/);
  await expectAccessible();
  await page.getByLabel('Email').fill('unknown@example.com');
  await page.getByLabel('Password').fill('not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor();
});

test('creates an account with a password from an invite link, and signs the user in', async () => {
  const token = 'x'.repeat(43);
  const { rows } = await services.database.query<{ id: string }>(
    `INSERT INTO organization_invite (id, organization_id, target_email, email_key, key_scopes, token_hash)
     VALUES (gen_random_uuid(), $1, 'grace@example.com', 'grace@example.com', '{*}', encode(sha256($2::bytea), 'hex'))
     RETURNING id`,
    [services.tenant.organizationId, token],
  );
  const guest = await (await browser.newContext()).newPage();
  await guest.goto(`${services.apiUrl}/console/invite/${rows[0]?.id}#${token}`);
  await guest.getByText('You were invited as grace@example.com.').waitFor();
  expect(guest.url()).not.toContain(token);
  await guest.getByLabel('Your name').fill('Grace');
  await guest.getByLabel('Password').fill('a mill turns while the river runs');
  await guest.getByRole('button', { name: 'Join', exact: true }).click();
  await guest.getByText('Waiting for the first event').waitFor();
  await guest.getByRole('button', { name: /Grace/ }).waitFor();
  await guest.context().close();
});

test('console-033 console-038 signs in with a one-time link, and explains how to send the first event', async () => {
  const secret = await createConsoleLink(services.databaseUrl, services.tenant.userId);
  await page.goto(`${services.apiUrl}/console/enter#${secret}`);
  await page.getByText('Waiting for the first event').waitFor();
  expect(page.url()).toBe(live());
  expect(await page.locator('pre').first().textContent()).toContain(services.tenant.projectApiKey);
  await expectAccessible();
});

test('console-042 does not scroll horizontally at 360 px', async () => {
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Live' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('console-039 console-041 skips to the content at the first Tab, and applies the theme before the styles load', async () => {
  await page.reload();
  await page.getByRole('heading', { name: 'Live', exact: true }).waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Theme: Dark' }).click();
  await page.reload();
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Theme: System' }).click();
});

test('console-009 console-020 shows the name of an event sent by curl as text, and opens the event by keyboard', async () => {
  await page.goto(live());
  await page.getByText('Waiting for the first event').waitFor();
  // The stream shows only events that are sent after the page has connected. Send events until one appears.
  const name = '<img src=x onerror=alert(1)>';
  const event = { api_key: services.tenant.projectApiKey, event: name, distinct_id: 'ada', properties: { total: 42 } };
  await eventually(
    async () => {
      await post(`${services.ingestUrl}/capture/`, event);
      expect(await page.getByRole('option').count()).toBeGreaterThan(0);
    },
    { what: 'the event on Live' },
  );
  await page.getByRole('listbox').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name }).waitFor();
  await page.getByText('total', { exact: true }).waitFor();
  await expectAccessible();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name }).waitFor({ state: 'detached' });
});

test('console-004 console-006 console-010 keeps the pause and filters in the URL, and reports unknown parameters', async () => {
  await page.getByRole('button', { name: /^Pause/ }).click();
  await page.waitForURL(/paused=true/);
  await post(`${services.ingestUrl}/capture/`, {
    ...{ api_key: services.tenant.projectApiKey, event: 'later', distinct_id: 'ada' },
  });
  await page.getByRole('button', { name: /^Continue · \d+ new/ }).waitFor();
  await page.getByRole('button', { name: /^Continue/ }).click();
  await page.getByRole('option').filter({ hasText: 'later' }).waitFor();
  await page.goto(`${live()}?person=ada&nothing=1`);
  await page.getByText('nothing. All other parameters were applied.', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Remove Person ada' }).click();
  await page.waitForURL((url) => !url.search.includes('person'));
});

test("console-007 console-008 shows the stream's status messages, and an error if the stream is rejected", async () => {
  const stream = /\/live\/events/;
  const frames = [
    'event: hello\ndata: {"stored":true,"why":null,"lag_seconds":null}',
    'event: trouble\ndata: {"detail":"The event log does not respond."}',
    '',
  ];
  await page.route(stream, (route) => route.fulfill({ contentType: 'text/event-stream', body: frames.join('\n\n') }));
  await page.goto(live());
  await page.getByText('The event log does not respond.').waitFor();
  await page.unroute(stream);
  await page.route(stream, (route) => route.fulfill({ status: 403, json: { code: 'permission_denied' } }));
  await page.goto(live());
  await page.locator('[data-state=refused]').waitFor();
  await page.unroute(stream);
});

test('console-007 shows a missing project as not found instead of an error', async () => {
  await page.goto(`${services.apiUrl}/console/projects/999999/live`);
  await page.getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
});

test('console-048 requests only its own host and documented routes, and follows its content security policy', async () => {
  expect(elsewhere).toEqual([]);
  expect(complaints).toEqual([]);
  const document = (await (await fetch(`${services.apiUrl}/api/schema`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replace(/\/$/, '').replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`);
    return Object.keys(methods).map((method) => ({ method: method.toUpperCase(), pattern }));
  });
  const unknown = requested.filter(
    ({ method, path }) => !routes.some((route) => route.method === method && route.pattern.test(path)),
  );
  expect(unknown).toEqual([]);
  expect(requested.length).toBeGreaterThan(3);
});
