import { eventually, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { type ScriptedIngest, type ScriptedResponse, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';
import { captureMany, listQueueRecords, openShop, shopOptions, stopClock } from './open-shop.ts';

let browser: Browser;
let site: TestServer;
let ingest: ScriptedIngest;

beforeAll(async () => {
  [browser, site, ingest] = await Promise.all([launchChromium(), startSite(), startScriptedIngest()]);
});
afterAll(async () => {
  await Promise.all([browser.close(), site.stop(), ingest.stop()]);
});
beforeEach(() => {
  ingest.respondWith(null);
  ingest.clear();
});

const open = async () => openShop(await browser.newContext(), site.url, shopOptions(ingest.url));
const posts = () => ingest.requests.filter(({ method }) => method === 'POST');
const sizes = () => posts().map(({ body }) => (body as { batch: unknown[] }).batch.length);
const names = () => ingest.events().map(({ event }) => event);

/** Sets the response to the first event request. All other requests receive the normal response. */
function respondFirst(response: ScriptedResponse): void {
  let isFirst = true;
  ingest.respondWith(({ method }) => {
    if (method !== 'POST' || !isFirst) return undefined;
    isFirst = false;
    return response;
  });
}

const retriedResponses: [string, ScriptedResponse][] = [
  ['408', { status: 408 }],
  ['429', { status: 429 }],
  ['500', { status: 500 }],
  ['502', { status: 502, body: 'not json' }],
  ['503', { status: 503 }],
  ['a redirect without a location', { status: 302 }],
  ['a redirect to another address', { status: 302, headers: { location: '/array/phc_test/config' } }],
  ['a dropped connection', { isDropped: true }],
];

test.each(retriedResponses)('sends events again, once and in order, after %s', async (_, response) => {
  respondFirst(response);
  const { page } = await open();
  await stopClock(page);
  const uuids = await captureMany(page, 'kept', 3);
  await page.evaluate(() => window.posthog.flush());
  expect(await listQueueRecords(page)).toHaveLength(3);
  await page.evaluate(() => window.posthog.capture('later'));
  await page.clock.runFor(4000);
  await eventually(() => expect(names()).toContain('later'));
  const stored = ingest.events().map(({ uuid }) => uuid);
  expect(stored.slice(0, 3)).toEqual(uuids);
  expect(stored).toHaveLength(4);
  expect(posts()[1]?.query.get('retry_count')).toBe('1');
  await eventually(async () => expect(await listQueueRecords(page)).toEqual([]));
  await page.context().close();
});

test.each([400, 401, 402, 403, 404, 422])('drops events rejected with status %d, and logs this', async (status) => {
  respondFirst({ status, body: { detail: 'no such key' } });
  const { page, complaints } = await open();
  await captureMany(page, 'refused', 3);
  await page.evaluate(() => window.posthog.flush());
  expect(complaints.join()).toContain(`3 events dropped: the server responded with ${status}`);
  expect(await listQueueRecords(page)).toEqual([]);
  await page.evaluate(() => {
    window.posthog.capture('good');
    return window.posthog.flush();
  });
  expect(names()).toEqual(['good']);
  await page.context().close();
});

test.each([200, 202, 204])(
  'treats events as accepted if the response status is %d, whatever the body contains',
  async (status) => {
    respondFirst({ status, body: status === 204 ? '' : 'not json' });
    const { page } = await open();
    await captureMany(page, 'taken', 1);
    await page.evaluate(() => window.posthog.flush());
    expect(await listQueueRecords(page)).toEqual([]);
    expect(posts()).toHaveLength(1);
    await page.context().close();
  },
);

test('halves a batch that is too large until it fits, and drops a single event that is too large', async () => {
  ingest.respondWith(({ body }) => {
    const { batch = [] } = (body ?? {}) as { batch?: { event: string }[] };
    const isTooLarge = batch.length > 2 || batch.some(({ event }) => event === 'large 4');
    return isTooLarge ? { status: 413 } : undefined;
  });
  const { page, complaints } = await open();
  await captureMany(page, 'large', 8);
  await page.evaluate(() => window.posthog.flush());
  expect(names()).toEqual([0, 1, 2, 3, 5, 6, 7].map((n) => `large ${n}`));
  expect(complaints.join()).toContain('1 events dropped: the server responded with 413');
  expect(await listQueueRecords(page)).toEqual([]);
  await page.context().close();
});

test.each([
  ['seconds', () => '60'],
  ['a date', (now: number) => new Date(now + 60_000).toUTCString()],
])('flush and send_instantly respect Retry-After in %s', async (_, header) => {
  const { page } = await open();
  await stopClock(page);
  respondFirst({ status: 503, headers: { 'retry-after': header(await page.evaluate(() => Date.now())) } });
  await captureMany(page, 'early', 1);
  await page.evaluate(() => window.posthog.flush());
  await page.evaluate(() => window.posthog.capture('instant', {}, { send_instantly: true }));
  await page.clock.runFor(1000);
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  // `flush` resolves after all requests that the online event may have caused.
  await page.evaluate(() => window.posthog.flush());
  expect(posts()).toHaveLength(1);
  await page.clock.runFor(65_000);
  await eventually(() => expect(names()).toEqual(['early 0', 'instant']));
  expect(posts()).toHaveLength(2);
  await page.context().close();
});

test('sends no events for a minute after the event quota is used up', async () => {
  respondFirst({ status: 200, body: { status: 1, quota_limited: ['events'] } });
  const { page } = await open();
  await stopClock(page);
  await captureMany(page, 'over', 1);
  await page.evaluate(() => window.posthog.flush());
  await captureMany(page, 'rest', 30);
  await page.evaluate(() => window.posthog.flush());
  expect(posts()).toHaveLength(1);
  await page.clock.runFor(65_000);
  await eventually(() => expect(sizes()).toEqual([1, 30]));
  await page.context().close();
});

test('ignores an exceeded quota of another product', async () => {
  respondFirst({ status: 200, body: { status: 1, quota_limited: ['recordings'] } });
  const { page } = await open();
  await captureMany(page, 'one', 1);
  await page.evaluate(() => window.posthog.flush());
  await captureMany(page, 'two', 1);
  await page.evaluate(() => window.posthog.flush());
  expect(posts()).toHaveLength(2);
  await page.context().close();
});

test('cancels a request that has no response after a minute, and repeats it', async () => {
  respondFirst(createHold());
  const { page } = await open();
  await stopClock(page);
  await captureMany(page, 'slow', 1);
  await page.evaluate(() => void window.posthog.flush());
  await eventually(() => expect(posts()).toHaveLength(1));
  const givenUp: string[] = [];
  page.on('requestfailed', (request) => givenUp.push(request.url()));
  await page.clock.runFor(59_000);
  // When this request is answered, all earlier failures have been reported.
  await page.evaluate(() => fetch('/shop').then((response) => response.text()));
  expect(givenUp).toEqual([]);
  await page.clock.runFor(10_000);
  await eventually(async () => {
    // The library may need some time to detect the cancelled request.
    await page.clock.runFor(100);
    expect(names()).toEqual(['slow 0']);
  });
  await page.context().close();
});
