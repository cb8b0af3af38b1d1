import { eventually, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { type ReceivedRequest, type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';
import { captureMany, openShop, shopOptions, stopClock, token } from './open-shop.ts';

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

type Options = Parameters<typeof shopOptions>[1];
const open = async (options: Options = {}) =>
  openShop(await browser.newContext(), site.url, shopOptions(ingest.url, options));
const posts = () => ingest.requests.filter(({ method }) => method === 'POST');
const batchOf = ({ body }: ReceivedRequest) => (body as { batch: { event: string; timestamp: string }[] }).batch;
const sizes = () => posts().map((request) => batchOf(request).length);
/** Returns the age of each request's first event in milliseconds, according to the page's clock. */
const restsMs = () =>
  posts().map((request) => {
    const { sent_at } = request.body as { sent_at: string };
    return Date.parse(sent_at) - Date.parse(batchOf(request)[0]?.timestamp ?? '');
  });

test('sends events after three seconds as one gzip body without a preflight request', async () => {
  const { page } = await open();
  await stopClock(page);
  const uuids = await captureMany(page, 'tick', 3);
  await page.clock.runFor(3100);
  await eventually(() => expect(sizes()).toEqual([3]));
  expect(restsMs()).toEqual([3000]);
  const [request] = posts();
  expect(request).toMatchObject({ method: 'POST', path: '/e/', headers: { 'content-type': 'text/plain' } });
  expect(request?.headers).not.toHaveProperty('content-encoding');
  expect([...(request?.query.keys() ?? [])]).toEqual([]);
  const { batch, ...envelope } = (request?.body ?? {}) as { batch: { uuid: string }[] };
  expect(envelope).toEqual({ api_key: token, sent_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) });
  expect(batch.map(({ uuid }) => uuid)).toEqual(uuids);
  expect(request?.bytes).toBeLessThan(JSON.stringify(request?.body).length / 2);
  await page.context().close();
});

const intervals: [string, number | undefined, number][] = [
  ['not given', undefined, 3000],
  ['given', 1000, 1000],
  ['too short', 1, 250],
  ['too long', 60_000, 5000],
];
test.each(intervals)('sends events after the expected delay if the interval is %s', async (_, given, expected) => {
  const { page } = await open({ request_queue_config: { ...(given && { flush_interval_ms: given }) } });
  await stopClock(page);
  await captureMany(page, 'tick', 1);
  await page.clock.runFor(10_000);
  await eventually(() => expect(sizes()).toEqual([1]));
  expect(restsMs()).toEqual([expected]);
  await page.context().close();
});

test('sends events in a separate task as soon as twenty events are queued', async () => {
  const { page } = await open();
  await stopClock(page);
  await captureMany(page, 'tick', 25);
  await page.clock.runFor(10);
  await eventually(() => expect(sizes()).toEqual([25]));
  await page.context().close();
});

test('flushAt and request_batching change the batch size', async () => {
  const { page } = await open({ flushAt: 2 });
  await captureMany(page, 'tick', 2);
  await eventually(() => expect(sizes()).toEqual([2]));
  await page.evaluate(() => window.posthog.set_config({ request_batching: false }));
  await captureMany(page, 'single', 1);
  await eventually(() => expect(sizes()).toEqual([2, 1]));
  await page.context().close();
});

test.each(['XHR', 'fetch', 'sendBeacon'] as const)(
  'with transport %s, sends the event immediately, after the queued events',
  async (transport) => {
    const { page } = await open();
    await page.evaluate((how) => {
      window.posthog.capture('before');
      window.posthog.capture('urgent', {}, { transport: how });
    }, transport);
    await eventually(() => expect(ingest.events().map(({ event }) => event)).toEqual(['before', 'urgent']));
    expect(sizes()).toEqual([2]);
    await page.context().close();
  },
);

test('keeps events in order by waiting for a pending request', async () => {
  const { after, release } = createHold();
  ingest.respondWith(({ method }) => (method === 'POST' && posts().length === 1 ? { after } : undefined));
  const { page } = await open();
  await page.evaluate(() => void window.posthog.capture('first', {}, { send_instantly: true }));
  await eventually(() => expect(posts()).toHaveLength(1));
  const flushed = page.evaluate(() => {
    window.posthog.capture('second', {}, { send_instantly: true });
    window.posthog.capture('third', {}, { send_instantly: true });
    return window.posthog.flush();
  });
  // `page.title` returns after the page has captured both events.
  await page.title();
  release();
  await flushed;
  expect(posts().map((request) => batchOf(request).map(({ event }) => event))).toEqual([
    ['first'],
    ['second', 'third'],
  ]);
  await page.context().close();
});

const plain: [string, () => void, Options][] = [
  ['the option disable_compression', () => {}, { disable_compression: true }],
  ['no CompressionStream', () => Reflect.deleteProperty(window, 'CompressionStream'), {}],
];
test.each(plain)('%s: sends events as plain JSON without a preflight request', async (_, prepare, options) => {
  const visitor = await browser.newContext();
  await visitor.addInitScript(prepare);
  const { page, complaints } = await openShop(visitor, site.url, shopOptions(ingest.url, options));
  await captureMany(page, 'plain', 2);
  await page.evaluate(() => window.posthog.flush());
  const [request] = posts();
  expect(request?.headers['content-type']).toBe('text/plain');
  const isLonger = JSON.stringify(batchOf(request as ReceivedRequest)).length < (request?.bytes ?? 0);
  expect({ sizes: sizes(), isLonger, complaints }).toEqual({ sizes: [2], isLonger: true, complaints: [] });
  await visitor.close();
});

test('sends the headers configured in request_headers with each request', async () => {
  const { page } = await open({ request_headers: { 'X-Shop': 'north' } });
  await captureMany(page, 'tick', 1);
  await page.evaluate(() => window.posthog.flush());
  expect(posts()[0]?.headers['x-shop']).toBe('north');
  await page.context().close();
});

test('drops, logs and counts an event that is too large, and sends all others', async () => {
  const { page, complaints } = await open();
  await page.evaluate(() => {
    const texts = Array.from({ length: 20 }, () => 'x'.repeat(60_000));
    window.posthog.capture('before');
    window.posthog.capture('large', { texts });
    window.posthog.capture('after');
    return window.posthog.flush();
  });
  const counts = ingest.events().map(({ event, properties }) => [event, properties.$lib_dropped_events]);
  expect(counts).toEqual([
    ['before', undefined],
    ['after', 1],
  ]);
  expect(complaints.join()).toContain('large dropped');
  await page.context().close();
});
