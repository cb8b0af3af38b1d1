import type { BrowserContext, Page } from 'playwright-core';
import { type Lab, startLab } from '../support/start-lab.ts';
import { waitForSharedStorage } from '../support/store-shared.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});
afterEach(() => lab.visitors.leave());
afterAll(() => lab.stop());

const minute = 60_000;
/** Turn off flags, because two tabs that store data at the same time could overwrite each other's changes. */
const eventsOnly = { advanced_disable_flags: true };

async function visitWithStoppedClock(options = {}) {
  const visitor = await lab.browser.newContext();
  await visitor.clock.install({ time: new Date('2026-11-22T10:00:00Z') });
  await visitor.clock.pauseAt(new Date('2026-11-22T10:05:00Z'));
  const { page } = await lab.visit({ visitor, options });
  return { visitor, page };
}

interface Ids {
  session: unknown;
  window: unknown;
}

function capture(page: Page): Promise<Ids> {
  return page.evaluate(() => {
    const { $session_id: session, $window_id: window_ } = window.posthog.capture('step')?.properties ?? {};
    return { session, window: window_ };
  });
}

const later = (visitor: BrowserContext, ms: number) => visitor.clock.fastForward(ms);

test.each([
  [29 * minute, 'the same'],
  [31 * minute, 'another'],
])('after %d ms without activity, the session is %s', async (ms, which) => {
  const { visitor, page } = await visitWithStoppedClock();
  const before = await capture(page);
  await later(visitor, ms);
  const after = await capture(page);
  expect(after.session === before.session ? 'the same' : 'another').toBe(which);
  expect(after.window === before.window ? 'the same' : 'another').toBe(which);
});

test('extends the session on activity, up to 24 hours', async () => {
  const { visitor, page } = await visitWithStoppedClock();
  const first = await capture(page);
  const sessions = new Set();
  for (let times = 0; times < 61; times += 1) {
    await later(visitor, 24 * minute);
    sessions.add((await capture(page)).session);
  }
  expect(sessions.size).toBe(2);
  expect(sessions).toContain(first.session);
});

test.each([
  [1, 60],
  [120, 120],
  [1_000_000, 36_000],
])('treats session_idle_timeout_seconds %d as %d', async (given, seconds) => {
  const { visitor, page } = await visitWithStoppedClock({ session_idle_timeout_seconds: given });
  const first = await capture(page);
  await later(visitor, (seconds - 10) * 1000);
  expect((await capture(page)).session).toBe(first.session);
  await later(visitor, (seconds + 10) * 1000);
  expect((await capture(page)).session).not.toBe(first.session);
});

test('does not extend the session when the application reads its ID', async () => {
  const { visitor, page } = await visitWithStoppedClock();
  const first = await capture(page);
  for (const _ of [1, 2, 3]) {
    await later(visitor, 20 * minute);
    await page.evaluate(() => window.posthog.get_session_id());
  }
  expect((await capture(page)).session).not.toBe(first.session);
});

test('calls an onSessionId listener immediately and at each change, with the reason, until it is removed', async () => {
  const { visitor, page } = await visitWithStoppedClock();
  await page.evaluate(() => {
    const calls: unknown[] = [];
    Object.assign(window, { calls });
    const stop = window.posthog.onSessionId((...detail) => calls.push(detail));
    Object.assign(window, { stop });
  });
  await capture(page);
  await later(visitor, 31 * minute);
  const next = await capture(page);
  await page.evaluate(() => window.posthog.reset());
  const last = await capture(page);
  const calls = await page.evaluate(() => {
    const { calls: all, stop } = window as unknown as { calls: unknown[]; stop: () => void };
    stop();
    window.posthog.reset();
    window.posthog.capture('unheard');
    return all;
  });
  expect(calls).toEqual([
    [expect.any(String), expect.any(String)],
    [next.session, next.window, { noSessionId: false, activityTimeout: true, sessionPastMaximumLength: false }],
    [last.session, last.window, { noSessionId: true, activityTimeout: false, sessionPastMaximumLength: false }],
  ]);
});

test('tabs share a session, but each tab has a window ID that it keeps on reload', async () => {
  const visitor = await lab.browser.newContext();
  const one = await lab.visit({ visitor, options: eventsOnly });
  const two = await lab.visit({ visitor, options: eventsOnly });
  const first = await capture(one.page);
  await waitForSharedStorage(one.page, two.page);
  const second = await capture(two.page);
  expect(second.session).toBe(first.session);
  expect(second.window).not.toBe(first.window);
  await one.page.reload();
  await one.page.evaluate((host) => {
    window.posthog.init('phc_test', { api_host: host, opt_out_useragent_filter: true });
  }, lab.ingest.url);
  expect(await capture(one.page)).toEqual(first);
});

test('a tab uses the session that another tab has started', async () => {
  const visitor = await lab.browser.newContext();
  const [one, two] = [
    await lab.visit({ visitor, options: eventsOnly }),
    await lab.visit({ visitor, options: eventsOnly }),
  ];
  await capture(one.page);
  await two.page.evaluate(() => window.posthog.reset());
  const next = await capture(two.page);
  await waitForSharedStorage(two.page, one.page);
  expect((await capture(one.page)).session).toBe(next.session);
});

test('a duplicated tab gets a new window ID', async () => {
  const visitor = await lab.browser.newContext();
  const { page } = await lab.visit({ visitor });
  const original = await capture(page);
  // `window.open` copies the opening page's session storage, as duplicating a tab does.
  const [copy] = await Promise.all([
    visitor.waitForEvent('page'),
    page.evaluate(() => void window.open(location.href)),
  ]);
  await copy.waitForFunction(() => window.posthog !== undefined);
  await copy.evaluate((host) => {
    window.posthog.init('phc_test', { api_host: host, opt_out_useragent_filter: true });
  }, lab.ingest.url);
  const copied = await capture(copy);
  expect(copied.session).toBe(original.session);
  expect(copied.window).not.toBe(original.window);
});

test('bootstrap.sessionID sets the session ID if it is a recent UUIDv7', async () => {
  const sessionID = '019aab00-0000-7000-8000-000000000001';
  const { page } = await lab.visit({ options: { bootstrap: { sessionID } } });
  const started = 0x019aab000000;
  const isOver = Date.now() - started > 24 * 60 * minute;
  const { session } = await capture(page);
  expect(session === sessionID).toBe(!isOver);
  const young = await page.evaluate(
    () => `${Date.now().toString(16).padStart(12, '0').replace(/^.{8}/, '$&-')}-7000-8000-000000000001`,
  );
  const second = await lab.visit({ options: { bootstrap: { sessionID: young } } });
  expect((await capture(second.page)).session).toBe(young);
  const third = await lab.visit({ options: { bootstrap: { sessionID: 'mine' } } });
  expect((await capture(third.page)).session).not.toBe('mine');
});

test('removes session properties when the session ends', async () => {
  const { visitor, page } = await visitWithStoppedClock();
  await page.evaluate(() => window.posthog.register_for_session({ step: 1 }));
  const stepOf = () => page.evaluate(() => window.posthog.capture('step')?.properties.step);
  expect(await stepOf()).toBe(1);
  await later(visitor, 31 * minute);
  expect(await stepOf()).toBeUndefined();
});
