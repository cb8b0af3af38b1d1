import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { eventually } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { bundleLibrary } from '../../bundle/bundle-library.ts';
import { type DemoShop, serveDemo } from '../../demo/serve-demo.ts';
import { openPage } from '../support/open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';

let browser: Browser;
let ingest: ScriptedIngest;
let demo: DemoShop;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  let code: string;
  [browser, ingest, { code }] = await Promise.all([launchChromium(), startScriptedIngest(), bundleLibrary('array.js')]);
  ingest.respondWith(({ path }) => (path === '/array/phc_demo/array.js' ? { body: code } : undefined));
  demo = await serveDemo({ ingestUrl: ingest.url, projectApiKey: 'phc_demo', port: 0 });
});
beforeEach(async () => {
  ingest.clear();
  ingest.flags = { 'new-home-page': true, 'button-color': 'orange', 'staff-tools': false };
  ingest.payloads = { 'button-color': '{"color":"#ef6c00"}' };
  // Use a normal browser's user agent, because the library drops events from bots.
  const visitor = await browser.newContext({
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0.0.0 Safari/537.36',
  });
  await visitor.addInitScript(() => {
    Object.defineProperty(navigator, 'webdriver', { value: false });
    // Prevent the library from aborting requests after a timeout, because a busy browser is slow.
    AbortController.prototype.abort = () => {};
  });
  ({ page, complaints } = await openPage(visitor, demo.url));
  await page.getByRole('row', { name: 'button-color' }).waitFor();
});
afterEach(() => page.context().close());
afterAll(async () => {
  await Promise.all([browser.close(), demo.stop(), ingest.stop()]);
});

const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const arrived = (name: string) =>
  eventually(() => {
    const [event] = ingest.events(name);
    expect(event).toBeDefined();
    return event as NonNullable<typeof event>;
  });

test("the demo shop sends and lists the visitor's actions", async () => {
  await page.getByRole('button', { name: 'Add to basket' }).first().click();
  await press('Order');
  const order = await arrived('order placed');
  expect(order.properties).toMatchObject({ total: 240, currency: 'EUR' });
  const entry = page.getByRole('listitem').filter({ hasText: 'order placed' });
  await entry.getByText('order placed').first().click();
  for (const name of ['total', 'distinct_id', '$current_url']) {
    const row = entry.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
    expect(await row.getByRole('cell').textContent()).toBe(JSON.stringify(order.properties[name]));
  }
  expect(complaints).toEqual([]);
});

test("the demo shop shows the visitor's identity and flags", async () => {
  expect(await page.getByRole('row', { name: 'button-color' }).textContent()).toBe(
    ['button-color', 'orange', '{"color":"#ef6c00"}'].join(''),
  );
  expect(await page.getByText('so you see this line').isVisible()).toBe(true);
  expect(await page.getByText('for example.com email addresses').isVisible()).toBe(false);
  ingest.flags['staff-tools'] = true;
  await press('Sign in as Ada');
  await press('Join the company Acme');
  await page.getByText('for example.com email addresses').waitFor();
  expect(await page.locator('#identity').textContent()).toMatch(/Distinct IDada.*\{"company":"acme"\}/);
  await press('Sign out');
  expect(await page.locator('#identity').textContent()).not.toMatch(/Distinct IDada/);
});

test('the demo shop captures nothing after the visitor refuses consent, until the visitor consents', async () => {
  await press('Decline');
  await page.getByText('You have declined').waitFor();
  await page.getByRole('button', { name: 'Add to basket' }).first().click();
  await press('Allow capturing');
  await page.getByText('You have given consent').waitFor();
  await arrived('$opt_in');
  expect(ingest.events('product added')).toEqual([]);
});

test('the demo shop neither shows nor sends typed text', async () => {
  await page.getByLabel('Search products').fill('my secret wish');
  await press('Search');
  await arrived('shelf searched');
  await page.getByText('shelf searched').first().click();
  expect(JSON.stringify(ingest.requests)).not.toContain('secret');
  expect(await page.locator('body').textContent()).not.toContain('secret');
});

test("the demo shop's content security policy blocks all scripts except its own", async () => {
  const response = await fetch(demo.url);
  const policy = response.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  expect((await fetch(`${demo.url}serve-demo.ts`)).status).toBe(404);
});

test('the demo shop has no serious accessibility problems', async () => {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await press('Sign in as Ada');
  await page.locator('summary').first().click();
  await page.evaluate(axe);
  for (const color of ['control', 'green', 'orange']) {
    const results = await page.evaluate((value) => {
      document.body.dataset.buttonColor = value;
      return (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run();
    }, color);
    const serious = results.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(results.passes.map(({ id }) => id)).toContain('color-contrast');
  }
});
