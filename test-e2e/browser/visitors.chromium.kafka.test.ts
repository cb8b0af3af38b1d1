import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLibrary } from '@millrace/browser/bundle';
import { bundleLibrary } from '@millrace/browser/bundle-library';
import { serveDemo } from '@millrace/browser/demo';
import { eventually, patienceMs, type TestServer } from '@millrace/testing';
import { startShopSite } from '@millrace/testing/browser-visits/shop-site';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createManagementClient, type ManagementClient } from '../support/management-client.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';

/** Tests the browser library in a real browser, and the events that the database then contains. */
let services: RunningServices;
let api: ManagementClient;
let site: TestServer;
let browser: Browser;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-library-'));
  await writeLibrary(directory, { isQuick: true });
  const reference = createRequire(import.meta.url).resolve('posthog-js/dist/module.js');
  [services, browser] = await Promise.all([
    startServices({ eventLog: 'kafka', settings: { BROWSER_LIBRARY_DIRECTORY: directory } }),
    launchChromium(),
  ]);
  api = createManagementClient(services);
  const scripts = {
    '/millrace.js': (await bundleLibrary('index.js')).code,
    '/reference.js': await readFile(reference, 'utf8'),
  };
  site = await startShopSite(scripts, services.tenant.projectApiKey, {
    ...{ api_host: services.ingestUrl, opt_out_useragent_filter: true, capture_pageview: false },
  });
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([site?.stop(), services?.stop()]);
  await rm(directory, { recursive: true });
});

interface Visit {
  library?: string;
  options?: object;
}

async function enter(visitor: BrowserContext, { library, options }: Visit = {}): Promise<Page> {
  const page = await visitor.newPage();
  const query = new URLSearchParams({
    ...(library && { library }),
    ...(options && { options: JSON.stringify(options) }),
  });
  await page.goto(`${site.url}/?${query}`);
  await page.waitForFunction('window.posthog?.__loaded');
  return page;
}
const run = <Result = void>(page: Page, script: string) => page.evaluate<Result>(`(() => { ${script} })()`);
const idOf = (page: Page) => run<string>(page, 'return posthog.get_distinct_id()');

/**
 * Waits until exactly the events with these names are stored, and returns them in the order of the names. Does not sort
 * by timestamp, because the timestamps of each request are corrected by its clock skew, which includes the duration of
 * the request.
 */
async function stored(...names: string[]) {
  const distinct = [...new Set(names)];
  return eventually(async () => {
    const all = (await Promise.all(distinct.map((event) => api.events({ event })))).flat();
    expect(all.map(({ event }) => event).sort()).toEqual([...names].sort());
    return all;
  });
}

test("keeps a visitor's ID across tabs and days, with separate sessions", async () => {
  const first = await browser.newContext();
  const one = await enter(first);
  await run(one, `posthog.capture('first tab')`);
  // Open a new tab, because a tab that is already open would not detect the new session immediately.
  const other = await enter(first);
  await run(other, `posthog.capture('second tab')`);
  const storageState = await first.storageState();
  await first.close();
  const later = await browser.newContext({ storageState });
  await later.clock.install({ time: Date.now() + 3 * 86_400_000 });
  const page = await enter(later);
  await run(page, `posthog.capture('days later', {}, { send_instantly: true })`);
  const events = await stored('first tab', 'second tab', 'days later');
  expect(new Set(events.map(({ distinct_id }) => distinct_id)).size).toBe(1);
  const sessionOf = (name: string) => events.find(({ event }) => event === name)?.properties.$session_id;
  expect(sessionOf('first tab')).toBe(sessionOf('second tab'));
  expect(sessionOf('days later')).not.toBe(sessionOf('first tab'));
  await later.close();
});

test('identify merges two persons, alias adds an ID, and reset starts a new person', async () => {
  const visitor = await browser.newContext();
  const page = await enter(visitor);
  const anonymous = await idOf(page);
  await run(
    page,
    `posthog.capture('looked');
     posthog.identify('ada', { email: 'ada@example.com' }, { first_seen: 'shop' });
     posthog.alias('ada-on-the-phone');
     posthog.setPersonProperties({ plan: 'pro' });
     posthog.capture('bought');`,
  );
  await run(page, `posthog.reset(); posthog.capture('somebody else')`);
  const other = await idOf(page);
  const [looked, bought, afterReset] = await stored('looked', 'bought', 'somebody else');
  expect([looked?.distinct_id, bought?.distinct_id, afterReset?.distinct_id]).toEqual([anonymous, 'ada', other]);
  await eventually(async () => {
    const [person] = await api.persons({ distinct_id: 'ada' });
    expect(person?.distinct_ids.sort()).toEqual([anonymous, 'ada', 'ada-on-the-phone'].sort());
    expect(person).toMatchObject({
      is_identified: true,
      properties: { email: 'ada@example.com', plan: 'pro', first_seen: 'shop' },
    });
  });
  expect(other).not.toBe(anonymous);
  expect(await api.persons({ distinct_id: other })).toEqual([]);
  await visitor.close();
});

test('stores a group with its properties, and adds it to events until reset', async () => {
  const visitor = await browser.newContext();
  const page = await enter(visitor);
  await run(
    page,
    `posthog.group('company', 'acme', { name: 'Acme', seats: 5 });
     posthog.capture('in the group');
     posthog.resetGroups();
     posthog.capture('out of the group');`,
  );
  const [inside, outside] = await stored('in the group', 'out of the group');
  expect(inside?.properties.$groups).toEqual({ company: 'acme' });
  expect(outside?.properties.$groups ?? {}).toEqual({});
  await eventually(async () => {
    const groups = await api.groups({ group_type_index: '0' });
    expect(groups).toMatchObject([{ group_key: 'acme', group_properties: { name: 'Acme', seats: 5 } }]);
  });
  await visitor.close();
});

test('stores no events without consent, and stores events after consent is given', async () => {
  const visitor = await browser.newContext();
  const options = { opt_out_capturing_by_default: true };
  const page = await enter(visitor, { options });
  await run(page, `posthog.capture('never')`);
  await run(page, `posthog.opt_in_capturing(); posthog.capture('allowed')`);
  await run(page, `posthog.opt_out_capturing(); posthog.capture('never')`);
  const next = await enter(visitor);
  await run(next, `posthog.capture('never'); posthog.opt_in_capturing(); posthog.capture('allowed')`);
  await stored('allowed', 'allowed', '$opt_in', '$opt_in');
  expect(await api.events({ event: 'never' })).toEqual([]);
  await visitor.close();
});

test('uses bootstrapped flags until flags are fetched', async () => {
  const { tenant, apiUrl, ingestUrl } = services;
  const filters = { groups: [{ properties: [], rollout_percentage: 100 }] };
  const made = await fetch(`${apiUrl}/api/projects/${tenant.projectId}/feature_flags/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ key: 'new-checkout', name: 'New checkout', filters, active: true }),
  });
  expect(made.status).toBe(201);
  const question = { token: tenant.projectApiKey, distinct_id: 'anybody' };
  await eventually(async () => {
    const response = await fetch(`${ingestUrl}/flags/?v=2`, { method: 'POST', body: JSON.stringify(question) });
    expect(await response.json()).toMatchObject({ flags: { 'new-checkout': { enabled: true } } });
  });
  const visitor = await browser.newContext();
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await visitor.route(/\/flags\//, async (route) => {
    await held;
    await route.continue();
  });
  const options = {
    bootstrap: { featureFlags: { 'new-checkout': 'old', gone: true } },
    feature_flag_request_timeout_ms: patienceMs,
  };
  const page = await enter(visitor, { options });
  const read = () => run(page, `return ['new-checkout', 'gone'].map((key) => posthog.getFeatureFlag(key) ?? null)`);
  expect(await read()).toEqual(['old', true]);
  release();
  await eventually(async () => expect(await read()).toEqual([true, null]));
  const called = await stored(
    '$feature_flag_called',
    '$feature_flag_called',
    '$feature_flag_called',
    '$feature_flag_called',
  );
  expect(
    called.map(({ properties: { $feature_flag, $feature_flag_response } }) => [
      $feature_flag,
      $feature_flag_response ?? null,
    ]),
  ).toEqual(
    expect.arrayContaining([
      ['new-checkout', 'old'],
      ['new-checkout', true],
    ]),
  );
  await visitor.close();
});

test('keeps one person when a site switches from posthog-js during a visit', async () => {
  const visitor = await browser.newContext();
  const before = await enter(visitor, { library: '/reference.js' });
  const responded = before.waitForResponse(
    (response) => response.request().method() === 'POST' && response.url().includes('/e/'),
  );
  await run(before, `posthog.register({ shop: 'north' }); posthog.capture('with the other library')`);
  const anonymous = await idOf(before);
  await responded;
  // Close the page, because two open pages could overwrite each other's stored data.
  await before.close();
  const after = await enter(visitor);
  expect(await idOf(after)).toBe(anonymous);
  await run(after, `posthog.capture('with this library'); posthog.identify('grace')`);
  const back = await enter(visitor, { library: '/reference.js' });
  expect(await idOf(back)).toBe('grace');
  const [other, own] = await stored('with the other library', 'with this library');
  expect(own?.properties).toMatchObject({ shop: 'north', $session_id: other?.properties.$session_id });
  await eventually(async () => {
    const [person] = await api.persons({ distinct_id: 'grace' });
    expect(person?.distinct_ids.sort()).toEqual([anonymous, 'grace'].sort());
  });
  await visitor.close();
});

test('stores the views, clicks, order and identity of a visitor to the demo shop', async () => {
  const { ingestUrl, tenant, database } = services;
  const demo = await serveDemo({ ingestUrl, projectApiKey: tenant.projectApiKey, port: 0 });
  // A busy gateway may respond before it has loaded the settings, so wait until the response contains them.
  await eventually(async () => {
    const response = await fetch(`${ingestUrl}/array/${tenant.projectApiKey}/config`);
    expect(await response.json()).toMatchObject({ autocapture_opt_out: false });
  });
  // Use a regular browser's user agent, because the library ignores automated browsers.
  const visitor = await browser.newContext({
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0.0.0 Safari/537.36',
  });
  await visitor.addInitScript(`Object.defineProperty(navigator, 'webdriver', { value: false })`);
  const page = await visitor.newPage();
  await page.goto(demo.url);
  // The library script includes the settings, so the library captures clicks from the start.
  const anonymous = await idOf(page);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).first().click();
  await press('Add to basket');
  await press('Order');
  await press('Sign in as Ada');
  await page.close({ runBeforeUnload: true });

  const rows = await eventually(async () => {
    const found = await database.query<{ event: string; distinct_id: string; chain: string; total: string | null }>(
      `SELECT event, distinct_id, elements_chain AS chain, properties ->> 'total' AS total FROM event
       WHERE properties ->> '$current_url' = $1 AND event <> '$feature_flag_called' ORDER BY event, elements_chain`,
      [demo.url],
    );
    const who = (id: string) => (id === anonymous ? 'anonymous' : id);
    // Ignore the order of the events: events that are sent when the visitor leaves a page may be stored before the
    // events of a pending request.
    expect(found.rows.map(({ event, distinct_id }) => [event, who(distinct_id)])).toEqual([
      ['$autocapture', 'anonymous'],
      ['$autocapture', 'anonymous'],
      ['$autocapture', 'anonymous'],
      ['$identify', 'ada'],
      ['$pageleave', 'ada'],
      ['$pageview', 'anonymous'],
      ['order placed', 'anonymous'],
      ['product added', 'anonymous'],
    ]);
    return found.rows;
  });
  const pressed = rows
    .filter(({ chain }) => chain)
    .map(({ chain }) => /attr__data-attr="([^"]+)|attr_id="([^"]+)/.exec(chain)?.[0]);
  expect(pressed.sort()).toEqual(['attr__data-attr="add-millstone', 'attr__data-attr="order', 'attr_id="sign-in']);
  expect(rows.find(({ event }) => event === 'order placed')?.total).toBe('240');
  await eventually(async () => {
    const [person] = await api.persons({ distinct_id: 'ada' });
    expect(person?.distinct_ids).toContain(anonymous);
    expect(person).toMatchObject({ is_identified: true, properties: { email: 'ada@example.com', plan: 'pro' } });
  });
  await visitor.close();
  await demo.stop();
});
