import { eventually, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { hold } from '../support/hold.ts';
import { type ScriptedIngest, type ScriptedResponse, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';
import { captureMany, openShop, recordNames, shopOptions, stopClock } from './open-shop.ts';

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

/** Sends the given response to the first request for events. Later requests get the usual one. */
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

test.each(retriedResponses)('after %s, events are sent again once and in order', async (_, response) => {
  respondFirst(response);
  const { page } = await open();
  await stopClock(page);
  const uuids = await captureMany(page, 'kept', 3);
  await page.evaluate(() => window.posthog.flush());
  expect(await recordNames(page)).toHaveLength(3);
  await page.evaluate(() => window.posthog.capture('later'));
  await page.clock.runFor(4000);
  await eventually(() => expect(names()).toContain('later'));
  const stored = ingest.events().map(({ uuid }) => uuid);
  expect(stored.slice(0, 3)).toEqual(uuids);
  expect(stored).toHaveLength(4);
  expect(posts()[1]?.query.get('retry_count')).toBe('1');
  await eventually(async () => expect(await recordNames(page)).toEqual([]));
  await page.context().close();
});

test.each([400, 401, 402, 403, 404, 422])(
  'events that are rejected with status %d are dropped, and this is logged',
  async (status) => {
    respondFirst({ status, body: { detail: 'no such key' } });
    const { page, complaints } = await open();
    await captureMany(page, 'refused', 3);
    await page.evaluate(() => window.posthog.flush());
    expect(complaints.join()).toContain(`3 events dropped: the server responded with ${status}`);
    expect(await recordNames(page)).toEqual([]);
    await page.evaluate(() => {
      window.posthog.capture('good');
      return window.posthog.flush();
    });
    expect(names()).toEqual(['good']);
    await page.context().close();
  },
);

test.each([200, 202, 204])(
  'events count as accepted if the response has status %d, whatever its body is',
  async (status) => {
    respondFirst({ status, body: status === 204 ? '' : 'not json' });
    const { page } = await open();
    await captureMany(page, 'taken', 1);
    await page.evaluate(() => window.posthog.flush());
    expect(await recordNames(page)).toEqual([]);
    expect(posts()).toHaveLength(1);
    await page.context().close();
  },
);

test('a batch that is too large is halved until it fits, and a single event that is too large is dropped', async () => {
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
  expect(await recordNames(page)).toEqual([]);
  await page.context().close();
});

test.each([
  ['seconds', () => '60'],
  ['a date', (now: number) => new Date(now + 60_000).toUTCString()],
])('Retry-After in %s is respected, also by flush', async (_, header) => {
  const { page } = await open();
  await stopClock(page);
  respondFirst({ status: 503, headers: { 'retry-after': header(await page.evaluate(() => Date.now())) } });
  await captureMany(page, 'early', 1);
  await page.evaluate(() => window.posthog.flush());
  await page.evaluate(() => window.posthog.capture('instant', {}, { send_instantly: true }));
  await page.clock.runFor(1000);
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  // Resolves after everything that the online event may have caused to be sent.
  await page.evaluate(() => window.posthog.flush());
  expect(posts()).toHaveLength(1);
  await page.clock.runFor(65_000);
  await eventually(() => expect(names()).toEqual(['early 0', 'instant']));
  expect(posts()).toHaveLength(2);
  await page.context().close();
});

test('no events are sent for a minute after the quota is used up', async () => {
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

test('the quota of another product has no effect', async () => {
  respondFirst({ status: 200, body: { status: 1, quota_limited: ['recordings'] } });
  const { page } = await open();
  await captureMany(page, 'one', 1);
  await page.evaluate(() => window.posthog.flush());
  await captureMany(page, 'two', 1);
  await page.evaluate(() => window.posthog.flush());
  expect(posts()).toHaveLength(2);
  await page.context().close();
});

test('a request without a response is cancelled after a minute and repeated', async () => {
  respondFirst(hold());
  const { page } = await open();
  await stopClock(page);
  await captureMany(page, 'slow', 1);
  await page.evaluate(() => void window.posthog.flush());
  await eventually(() => expect(posts()).toHaveLength(1));
  const givenUp: string[] = [];
  page.on('requestfailed', (request) => givenUp.push(request.url()));
  await page.clock.runFor(59_000);
  // This comes after all earlier failures.
  await page.evaluate(() => fetch('/shop').then((response) => response.text()));
  expect(givenUp).toEqual([]);
  await page.clock.runFor(10_000);
  await eventually(async () => {
    // The library may notice that its request was cancelled only after this time.
    await page.clock.runFor(100);
    expect(names()).toEqual(['slow 0']);
  });
  await page.context().close();
});
