import { eventually, type TestServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { leavePage } from '../support/open-page.ts';
import { type ReceivedRequest, type ScriptedIngest, startScriptedIngest } from '../support/scripted-ingest.ts';
import { startSite } from '../support/start-site.ts';
import {
  captureMany,
  listQueueRecords,
  openShop,
  quickOptions,
  shopOptions,
  startLibrary,
  stopClock,
  token,
} from './open-shop.ts';

let browser: Browser;
let site: TestServer;
let ingest: ScriptedIngest;

beforeAll(async () => {
  [browser, site] = await Promise.all([launchChromium(), startSite()]);
});
afterAll(async () => {
  await Promise.all([browser.close(), site.stop()]);
});

let visitor: BrowserContext;
beforeEach(async () => {
  // Each test has its own host, because closed pages send beacons.
  [ingest, visitor] = await Promise.all([startScriptedIngest(), browser.newContext()]);
  await visitor.clock.install();
});
afterEach(async () => {
  await visitor.close();
  await ingest.stop();
});

type Options = Parameters<typeof shopOptions>[1];
const open = (options: Options = {}) =>
  openShop(visitor, site.url, shopOptions(ingest.url, { ...quickOptions, ...options }));
const uuidsReceived = () => ingest.events().map(({ uuid }) => uuid);
const received = (uuids: string[]) => eventually(() => expect(new Set(uuidsReceived())).toEqual(new Set(uuids)));
const isOut = () => ingest.respondWith(({ method }) => (method === 'POST' ? { status: 503 } : undefined));
const isGone = () => ingest.respondWith(({ method }) => (method === 'POST' ? { isDropped: true } : undefined));
/**
 * Advances the clock past the pause after a failure, and past the interval at which a page looks for the queues of
 * closed pages.
 */
const restIsOver = () => visitor.clock.runFor(20_000);
const nothingKept = (page: Page) => eventually(async () => expect(await listQueueRecords(page)).toEqual([]));

/**
 * Closes the page and waits for its last beacon, which could otherwise arrive after the test has changed the host's
 * responses.
 */
async function goWithLastWords(page: Page): Promise<void> {
  // Advancing the clock may have started a request. Wait for the request, because its events are not sent again.
  await page.evaluate(() => window.posthog.flush());
  await leavePage(page);
  await eventually(() => {
    const isBeacon = ({ headers }: ReceivedRequest) => headers['sec-fetch-mode'] === 'no-cors';
    expect(ingest.requests.filter(isBeacon)).not.toEqual([]);
  });
  await page.close();
}

/** Captures events and crashes the page before it can send them, even in a slow browser. */
async function captureAndCrash(page: Page, count: number): Promise<string[]> {
  await stopClock(page);
  const uuids = await captureMany(page, 'crash', count);
  await crash(page);
  return uuids;
}

async function crash(page: Page): Promise<void> {
  const session = await visitor.newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  session.send('Page.crash').catch(() => {});
  await crashed;
  await page.close();
  await visitor.clock.resume();
}

test('the next tab sends the events of a tab that crashed directly after capturing', async () => {
  const { page } = await open();
  const uuids = await captureAndCrash(page, 5);
  const { page: next } = await open();
  await received(uuids);
  expect(uuidsReceived()).toHaveLength(5);
  await nothingKept(next);
});

test('an open tab sends the events of a crashed tab', async () => {
  const { page: living } = await open();
  const { page } = await open();
  const uuids = await captureAndCrash(page, 3);
  await restIsOver();
  await received(uuids);
  await nothingKept(living);
});

test('the next page sends events captured offline', async () => {
  const { page } = await open();
  await visitor.setOffline(true);
  const uuids = await captureMany(page, 'offline', 30);
  await page.evaluate(() => window.posthog.flush());
  await page.close();
  await visitor.setOffline(false);
  const { page: next } = await open();
  await received(uuids);
  await nothingKept(next);
});

test('sends events immediately when the network is available again', async () => {
  const { page } = await open();
  await stopClock(page);
  await visitor.setOffline(true);
  const uuids = await captureMany(page, 'offline', 30);
  for (let n = 0; n < 5; n += 1) await page.evaluate(() => window.posthog.flush());
  await visitor.setOffline(false);
  await received(uuids);
  expect(uuidsReceived()).toHaveLength(30);
});

test('keeps events across reloads while the service fails', async () => {
  isOut();
  const { page } = await open();
  const uuids = await captureMany(page, 'first page', 3);
  for (let n = 0; n < 3; n += 1) {
    await page.reload();
    await startLibrary(page, shopOptions(ingest.url, quickOptions));
    uuids.push(...(await captureMany(page, `page ${n}`, 3)));
    await page.evaluate(() => window.posthog.flush());
  }
  ingest.respondWith(null);
  await page.reload();
  await startLibrary(page, shopOptions(ingest.url, quickOptions));
  await received(uuids);
  await nothingKept(page);
});

test('sends each event once when tabs run in parallel', async () => {
  const tabs = await Promise.all(Array.from({ length: 3 }, async () => (await open()).page));
  const uuids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const captured = await Promise.all(tabs.map((tab, at) => captureMany(tab, `tab ${at} ${n}`, 7)));
    uuids.push(...captured.flat());
  }
  await received(uuids);
  expect(uuidsReceived()).toHaveLength(uuids.length);
  for (const tab of tabs) await nothingKept(tab);
});

test('only one of several tabs opened together sends the events of an earlier tab', async () => {
  isOut();
  const { page } = await open();
  const uuids = await captureMany(page, 'left', 10);
  await page.evaluate(() => window.posthog.flush());
  await stopClock(page);
  await goWithLastWords(page);
  ingest.respondWith(null);
  const tabs = await Promise.all(Array.from({ length: 4 }, async () => (await open()).page));
  await visitor.clock.runFor(1);
  // All tabs have requested the lock when this query returns. The tab with the lock keeps it while the clock is
  // stopped.
  for (const tab of tabs) await tab.evaluate(() => navigator.locks.query());
  await visitor.clock.resume();
  await received(uuids);
  expect(uuidsReceived()).toHaveLength(10);
});

test('keeps the queue of a tab that cannot send', async () => {
  isOut();
  const { page } = await open();
  const uuids = await captureMany(page, 'own', 4);
  await page.evaluate(() => window.posthog.flush());
  const names = await listQueueRecords(page);
  const { page: other } = await open();
  await captureMany(other, 'other', 1);
  await other.evaluate(() => window.posthog.flush());
  expect(await listQueueRecords(other)).toEqual(expect.arrayContaining(names));
  ingest.respondWith(null);
  await restIsOver();
  await eventually(() => expect(new Set(uuidsReceived()).size).toBe(5));
  expect(uuidsReceived()).toEqual(expect.arrayContaining(uuids));
  expect(uuidsReceived()).toHaveLength(5);
});

test('drops the oldest events beyond 500, and reports how many it dropped', async () => {
  isGone();
  const { page } = await open({ flushAt: 5000 });
  await stopClock(page);
  const uuids = await captureMany(page, 'many', 600);
  expect(await listQueueRecords(page)).toHaveLength(500);
  ingest.respondWith(null);
  await page.evaluate(() => window.posthog.flush());
  expect(uuidsReceived()).toEqual(uuids.slice(100));
  const counts = ingest.events().map(({ properties }) => Number(properties.$lib_dropped_events ?? 0));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(100);
});

test('drops the oldest events beyond 1 MB, and reports how many it dropped', async () => {
  isGone();
  const { page } = await open({ flushAt: 5000 });
  await stopClock(page);
  const uuids = await captureMany(page, 'large', 40, 50_000);
  const storedLength = await page.evaluate(
    (key) =>
      Object.entries(localStorage)
        .filter(([name]) => name.startsWith(`ph_${key}_queue_`))
        .join('').length,
    token,
  );
  expect(storedLength).toBeLessThan(1_010_000);
  ingest.respondWith(null);
  await page.evaluate(() => window.posthog.flush());
  const counts = ingest.events().map(({ properties }) => Number(properties.$lib_dropped_events ?? 0));
  expect(uuidsReceived()).toEqual(uuids.slice(-counts.length));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40 - counts.length);
});

test('if an event that reports dropped events is dropped too, adds their number to the next report', async () => {
  isGone();
  const { page } = await open({ flushAt: 5000 });
  await stopClock(page);
  await captureMany(page, 'many', 700);
  await captureMany(page, 'more', 700);
  ingest.respondWith(null);
  await page.evaluate(() => window.posthog.flush());
  const counts = ingest.events().map(({ properties }) => Number(properties.$lib_dropped_events ?? 0));
  expect([counts.length, counts.reduce((sum, count) => sum + count, 0)]).toEqual([500, 900]);
});

test('the next page reports dropped events if a page crashes before it reports them', async () => {
  isGone();
  const { page: full } = await open({ flushAt: 5000 });
  await stopClock(full);
  await captureMany(full, 'many', 500);
  // Add 34 events from a second crashed page, so that the total exceeds a page's maximum.
  await full.evaluate(
    ([names, prefix]) => {
      const texts = names.slice(0, 34).map((name) => localStorage.getItem(name) ?? '');
      for (const [at, text] of texts.entries()) localStorage.setItem(`${prefix}${at}`, text);
    },
    [await listQueueRecords(full), `ph_${token}_queue_gone_`] as const,
  );
  await crash(full);
  const { page: heir } = await open({ flushAt: 5000 });
  const ofCrashedPage = (names: string[]) => names.filter((name) => name.includes('_gone_'));
  await eventually(async () => {
    const names = await listQueueRecords(heir);
    expect([names.length, ofCrashedPage(names)]).toEqual([501, []]);
  });
  await crash(heir);
  ingest.respondWith(null);
  const { page } = await open();
  await eventually(() => expect(uuidsReceived()).toHaveLength(500));
  await captureMany(page, 'at last', 1);
  await nothingKept(page);
  const counts = ingest.events().map(({ properties }) => Number(properties.$lib_dropped_events ?? 0));
  expect(counts.filter(Boolean)).toEqual([34]);
});

test('keeps events in memory and sends them if storage is full', async () => {
  const { page, complaints } = await open();
  await page.evaluate(() => {
    for (let size = 4_000_000; size > 0; size = Math.floor(size / 2)) {
      try {
        for (let n = 0; n < 9; n += 1) localStorage.setItem(`full ${size} ${n}`, 'x'.repeat(size));
      } catch {}
    }
  });
  isOut();
  const uuids = await captureMany(page, 'full', 5);
  await page.evaluate(() => window.posthog.flush());
  expect(await listQueueRecords(page)).toEqual([]);
  ingest.respondWith(null);
  await restIsOver();
  await received(uuids);
  expect(complaints.filter((text) => !text.includes('503'))).toEqual([]);
});

test('sends events if storage is blocked, by beacon if the visitor leaves the page first', async () => {
  await visitor.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', {
      get() {
        throw new DOMException('denied', 'SecurityError');
      },
    });
  });
  const { page, complaints } = await open();
  const uuids = await captureMany(page, 'blocked', 2);
  await page.evaluate(() => window.posthog.flush());
  uuids.push(...(await captureMany(page, 'late', 2)));
  await leavePage(page);
  await received(uuids);
  expect(complaints).toEqual([]);
});

test('loses no event on a site that clears its storage', async () => {
  isOut();
  const { page } = await open();
  const uuids = await captureMany(page, 'cleared', 4);
  await page.evaluate(() => window.posthog.flush());
  await page.evaluate(() => localStorage.clear());
  uuids.push(...(await captureMany(page, 'after', 1)));
  ingest.respondWith(null);
  await restIsOver();
  await received(uuids);
});

test('without Web Locks, adopts only queues that are older than a minute', async () => {
  await visitor.addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }));
  isOut();
  const { page } = await open();
  await stopClock(page);
  const uuids = await captureMany(page, 'old', 2);
  await page.evaluate(() => window.posthog.flush());
  const names = await listQueueRecords(page);
  await goWithLastWords(page);
  ingest.respondWith(null);
  const { page: next } = await open();
  await visitor.clock.runFor(15_000);
  // A page renames the records that it adopts.
  expect((await listQueueRecords(next)).sort()).toEqual(names.sort());
  await visitor.clock.runFor(65_000);
  await received(uuids);
  await nothingKept(next);
});

test('drops and counts invalid queue records, and sends the valid records', async () => {
  await visitor.addInitScript((key) => {
    const garbage = ['garbage', '{"event":"half', '5', 'null', ''];
    for (const [at, text] of garbage.entries()) localStorage.setItem(`ph_${key}_queue_gone_${at}`, text);
  }, token);
  const { page } = await open({ flushAt: 5000 });
  const uuids = await captureMany(page, 'good', 2);
  await eventually(async () => {
    const names = await listQueueRecords(page);
    expect(names.filter((name) => name.includes('_gone_'))).toEqual([]);
  });
  uuids.push(...(await captureMany(page, 'after it', 1)));
  await page.evaluate(() => window.posthog.flush());
  await received(uuids);
  const counts = ingest.events().map(({ properties }) => Number(properties.$lib_dropped_events ?? 0));
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(4);
  await nothingKept(page);
});

test('sends events from a frame without storage', async () => {
  const shared = await startSite({ headers: { 'access-control-allow-origin': '*' } });
  const page = await visitor.newPage();
  await page.setContent(`<iframe sandbox="allow-scripts" src="${shared.url}"></iframe>`);
  const frame = await eventually(() => page.frames().find((one) => one.url().startsWith(shared.url)) ?? false);
  await frame.waitForFunction(() => window.posthog !== undefined);
  await frame.evaluate(`window.posthog.init('${token}', ${JSON.stringify(shopOptions(ingest.url))}); undefined`);
  const uuid = await frame.evaluate(() => window.posthog.capture('framed')?.uuid);
  await frame.evaluate(() => window.posthog.flush());
  expect(uuidsReceived()).toEqual([uuid]);
  await shared.stop();
});

test.each([-86_400_000, 86_400_000])(
  'loses, repeats or reorders no event if the clock jumps by %d ms',
  async (jump) => {
    isOut();
    const { page } = await open();
    const { page: other } = await open();
    const uuids = await captureMany(page, 'before', 2);
    await page.clock.setSystemTime(Date.now() + jump);
    uuids.push(...(await captureMany(page, 'after', 2)));
    await page.evaluate(() => window.posthog.flush());
    ingest.respondWith(null);
    await page.clock.runFor(10_000);
    await received(uuids);
    expect(uuidsReceived()).toEqual(uuids);
    await nothingKept(other);
  },
);
