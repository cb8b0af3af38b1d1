import { eventually, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { openCachedPage } from '../support/open-page.ts';
import { type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';
import {
  captureMany,
  listQueueRecords,
  openShop,
  quickOptions,
  shopOptions,
  startLibrary,
  stopClock,
} from './open-shop.ts';

let browser: Browser;
let site: TestServer;
let elsewhere: TestServer;
let ingest: ScriptedIngest;
let visitor: BrowserContext;

beforeAll(async () => {
  [browser, site, elsewhere] = await Promise.all([launchChromium({ keepsPages: true }), startSite(), startSite()]);
});
afterAll(async () => {
  await Promise.all([browser.close(), site.stop(), elsewhere.stop()]);
});
beforeEach(async () => {
  [ingest, visitor] = await Promise.all([startScriptedIngest(), browser.newContext()]);
});
afterEach(async () => {
  await visitor.close();
  await ingest.stop();
});

const open = (options = {}) => openShop(visitor, site.url, shopOptions(ingest.url, options));
/** Opens a page that keeps its events in the queue until the visitor leaves the page, even in a slow browser. */
async function openAtRest(options = {}) {
  const visit = await open(options);
  await stopClock(visit.page);
  return visit;
}
async function comeBack(page: Page) {
  await page.goto(site.url);
  await page.clock.resume();
  await startLibrary(page, shopOptions(ingest.url, quickOptions));
}
const posts = () => ingest.requests.filter(({ method }) => method === 'POST');
const beacons = () => posts().filter(({ headers }) => headers['sec-fetch-mode'] === 'no-cors');
const uuidsReceived = () => ingest.events().map(({ uuid }) => uuid);
const unique = () => [...new Set(uuidsReceived())];

test('sends queued events by beacon as plain text when the visitor leaves the page', async () => {
  const { page } = await openAtRest();
  const uuids = await captureMany(page, 'last words', 3);
  await page.goto(elsewhere.url);
  await eventually(() => expect(uuidsReceived()).toEqual(uuids));
  expect(beacons()).toHaveLength(1);
  expect(beacons()[0]).toMatchObject({ path: '/e/', headers: { 'content-type': 'text/plain' } });
});

test('the beacon includes events that are captured while the visitor leaves the page', async () => {
  const { page } = await openAtRest();
  await page.evaluate(() => {
    window.addEventListener('pagehide', () => window.posthog.capture('by the site'));
    document.addEventListener('visibilitychange', () => window.posthog.capture('even later'));
    window.posthog.capture('waiting');
  });
  await page.goto(elsewhere.url);
  await eventually(() =>
    expect(ingest.events().map(({ event }) => event)).toEqual(['waiting', 'by the site', 'even later']),
  );
});

test("sends a beacon's events again from the next page, and then deletes them from storage", async () => {
  const { page } = await openAtRest();
  const uuids = await captureMany(page, 'last words', 3);
  await page.goto(elsewhere.url);
  await eventually(() => expect(uuidsReceived()).toEqual(uuids));
  await comeBack(page);
  await eventually(() => expect(uuidsReceived()).toEqual([...uuids, ...uuids]));
  await eventually(async () => expect(await listQueueRecords(page)).toEqual([]));
});

test.each([
  ['500', { status: 500 }],
  ['nothing', { isDropped: true }],
])("sends a beacon's events from the next page if the beacon's response is %s", async (_, response) => {
  ingest.respondWith(({ headers }) => (headers['sec-fetch-mode'] === 'no-cors' ? response : undefined));
  const { page } = await openAtRest();
  const uuids = await captureMany(page, 'last words', 3);
  await page.goto(elsewhere.url);
  await eventually(() => expect(beacons()).not.toHaveLength(0));
  expect(uuidsReceived()).toEqual([]);
  await comeBack(page);
  await eventually(() => expect(uuidsReceived()).toEqual(uuids));
});

test('splits beacons at the size limit, and sends events that the browser rejected from the next page', async () => {
  const { page } = await openAtRest({ flushAt: 1000 });
  const uuids = await captureMany(page, 'large', 60, 3000);
  await page.goto(elsewhere.url);
  await eventually(() => expect(unique().length).toBeGreaterThan(10));
  expect(beacons().every(({ bytes }) => bytes < 65_536)).toBe(true);
  expect(unique().length).toBeLessThan(60);
  await comeBack(page);
  await eventually(() => expect(new Set(unique())).toEqual(new Set(uuids)));
});

test('sends a keepalive request if the browser rejects a beacon', async () => {
  await visitor.addInitScript(() => {
    navigator.sendBeacon = () => false;
  });
  const { page } = await openAtRest();
  const uuids = await captureMany(page, 'last words', 1);
  await page.goto(elsewhere.url);
  await eventually(() => expect(uuidsReceived()).toEqual(uuids));
  expect(beacons()).toEqual([]);
});

test('completes a pending request when the visitor leaves the page', async () => {
  const { page } = await open();
  const uuids = await page.evaluate(() => {
    const one = window.posthog.capture('clicked', {}, { send_instantly: true });
    location.assign('about:blank');
    return [one?.uuid];
  });
  await eventually(() => expect(unique()).toEqual(uuids));
});

test('sends events immediately on a hidden page, and receives the response', async () => {
  const { page } = await open();
  const uuids = await captureMany(page, 'hidden', 3);
  await hide(page);
  await eventually(() => expect(uuidsReceived()).toEqual(uuids));
  expect(beacons()).toEqual([]);
  await eventually(async () => expect(await listQueueRecords(page)).toEqual([]));
});

test('sends events on a hidden page without waiting for a pending request', async () => {
  ingest.respondWith(({ method }) => (method === 'POST' && posts().length === 1 ? createHold() : undefined));
  const { page } = await open();
  await page.evaluate(() => window.posthog.capture('slow', {}, { send_instantly: true }));
  await eventually(() => expect(posts()).toHaveLength(1));
  await captureMany(page, 'hidden', 2);
  await hide(page);
  await eventually(() => expect(ingest.events().map(({ event }) => event)).toEqual(['hidden 0', 'hidden 1']));
});

test('continues to send events on a page that the back button restores', async () => {
  const before: string[] = [];
  const page = await openCachedPage(async () => {
    const visit = await open(quickOptions);
    before.push(...(await captureMany(visit.page, 'before', 2)));
    return visit;
  }, elsewhere.url);
  const after = await captureMany(page, 'after', 2);
  await eventually(() => expect(new Set(unique())).toEqual(new Set([...before, ...after])));
  await eventually(async () => expect(await listQueueRecords(page)).toEqual([]));
  expect(uuidsReceived().filter((uuid) => after.includes(uuid))).toHaveLength(2);
});

test('stores and sends nothing on a prerendered page until it is visible', async () => {
  await visitor.addInitScript(() => {
    let isAhead = true;
    Object.defineProperty(document, 'prerendering', { get: () => isAhead });
    Object.assign(window, {
      activate() {
        isAhead = false;
        document.dispatchEvent(new Event('prerenderingchange'));
      },
    });
  });
  const { page } = await openAtRest(quickOptions);
  const uuids = await captureMany(page, 'ahead', 25);
  await page.clock.runFor(10_000);
  await page.evaluate(() => window.posthog.flush());
  expect(await listQueueRecords(page)).toEqual([]);
  expect(posts()).toEqual([]);
  await page.evaluate('window.activate()');
  expect(await listQueueRecords(page)).toHaveLength(25);
  await page.clock.resume();
  await eventually(() => expect(uuidsReceived()).toEqual(uuids));
});

test('sends nothing on a prerendered page that never becomes visible', async () => {
  await visitor.addInitScript(() => {
    Object.defineProperty(document, 'prerendering', { value: location.pathname === '/ahead' });
  });
  const { page } = await openShop(visitor, `${site.url}/ahead`, shopOptions(ingest.url));
  await captureMany(page, 'ahead', 3);
  await page.goto(elsewhere.url);
  const { page: next } = await open();
  await captureMany(next, 'seen', 1);
  await next.evaluate(() => window.posthog.flush());
  expect(ingest.events().map(({ event }) => event)).toEqual(['seen 0']);
});

test('sends no beacon during a Retry-After delay', async () => {
  ingest.respondWith(({ method }) =>
    method === 'POST' ? { status: 503, headers: { 'retry-after': '60' } } : undefined,
  );
  const { page } = await open();
  await captureMany(page, 'rest', 3);
  await page.evaluate(() => window.posthog.flush());
  await page.goto(elsewhere.url);
  ingest.respondWith(null);
  await page.goto(site.url);
  expect(await listQueueRecords(page)).toHaveLength(3);
  expect(posts()).toHaveLength(1);
});

/** Makes a page behave as if the visitor had switched to a different tab. A headless browser cannot switch tabs. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: true });
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  });
}
