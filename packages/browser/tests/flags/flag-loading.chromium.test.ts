import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { openShop, type Shop, waitForFlags } from '../support/open-shop.ts';
import type { ReceivedRequest, ScriptedResponse } from '../support/scripted-ingest.ts';
import { waitForSettings } from '../support/settings-known.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

beforeEach(async () => {
  await shop.empty();
  shop.ingest.flags = { 'beta-nav': true, 'price-test': 'blue', 'off-flag': false };
});

afterAll(() => shop.stop());

/** Sets the responses to flag requests, in order. The last response is repeated. */
function respondToFlags(...responses: (ScriptedResponse | undefined)[]): void {
  let count = 0;
  shop.ingest.respondWith(({ path }: ReceivedRequest) => {
    if (path !== '/flags/') return undefined;
    count += 1;
    return responses[Math.min(count, responses.length) - 1];
  });
}

const listen = () => {
  window.posthog.onFeatureFlags((...args) => void window.heard.push(args));
};
const waitForCalls = (page: Page, count: number) =>
  eventually(async () => {
    const calls = await page.evaluate(() => window.heard);
    expect(calls.length).toBeGreaterThanOrEqual(count);
    return calls;
  });
const read = (page: Page, key: string) => page.evaluate((name) => window.posthog.getFeatureFlag(name), key);
const reload = () => window.posthog.reloadFeatureFlags();

const values = { 'beta-nav': true, 'price-test': 'blue' };
const active = ['beta-nav', 'price-test'];
const detail = (key: string, enabled: boolean, more = {}) => ({ key, enabled, variant: null, ...more });

it('calls flag listeners when flags arrive, and immediately calls listeners that are added later', async () => {
  const page = await shop.enter({}, { before: listen });
  expect(await waitForCalls(page, 1)).toEqual([[active, values, { errorsLoading: false }]]);
  await page.evaluate(listen);
  expect((await waitForCalls(page, 2))[1]).toEqual([active, values]);
});

it('follows a redirect, for example from a proxy that removes the trailing slash of the path', async () => {
  respondToFlags({ status: 308, headers: { location: '/flags?v=2' } });
  const page = await shop.enter({}, { before: listen });
  expect(await waitForCalls(page, 1)).toEqual([[active, values, { errorsLoading: false }]]);
});

it('a flag listener that throws does not stop other listeners, and removed listeners are not called', async () => {
  const page = await shop.enter();
  await waitForFlags(page);
  await page.evaluate(() => {
    window.posthog.onFeatureFlags(() => {
      throw new Error('broken listener');
    });
    const stop = window.posthog.onFeatureFlags(() => void window.heard.push('gone'));
    stop();
    window.posthog.onFeatureFlags(() => void window.heard.push('here'));
    window.heard = [];
    window.posthog.reloadFeatureFlags();
  });
  expect(await waitForCalls(page, 1)).toEqual(['here']);
});

it("returns the previous visit's flags until flags arrive, unless `fresh` is set", async () => {
  const first = await shop.enter();
  await waitForFlags(first);
  const { after, release } = createHold();
  respondToFlags({ after, body: { flags: { 'price-test': detail('price-test', false) } } });
  const page = await shop.enter({}, { visitor: first.context() });
  expect(
    await page.evaluate(() => [
      window.posthog.getFeatureFlag('price-test'),
      window.posthog.getFeatureFlag('price-test', { fresh: true }),
      window.posthog.isFeatureEnabled('beta-nav', { fresh: true }),
      window.posthog.featureFlags.hasLoadedFlags,
    ]),
  ).toEqual(['blue', undefined, undefined, false]);
  release();
  await waitForFlags(page);
  expect(
    await page.evaluate(() => [
      window.posthog.getFeatureFlag('price-test', { fresh: true }),
      window.posthog.getFeatureFlag('beta-nav'),
    ]),
  ).toEqual([false, undefined]);
});

it.each([
  ['status 500', { status: 500, body: {} }, 'api_error_500'],
  ['status 401', { status: 401, body: { detail: 'no' } }, 'api_error_401'],
  ['a dropped connection', { isDropped: true }, 'connection_error'],
  ['a timeout', createHold(), 'timeout'],
])('keeps the known flags after %s and reports the error', async (_what, response, error) => {
  const page = await shop.enter();
  await waitForFlags(page);
  respondToFlags(response);
  await page.evaluate((isSlow) => {
    window.posthog.onFeatureFlags((...args) => void window.heard.push(args));
    window.heard = [];
    if (isSlow) window.posthog.set_config({ feature_flag_request_timeout_ms: 1_000 });
    window.posthog.reloadFeatureFlags();
  }, error === 'timeout');
  expect(await waitForCalls(page, 1)).toEqual([[active, values, { errorsLoading: true }]]);
  expect(await read(page, 'price-test')).toBe('blue');
  const [called] = await shop.received('$feature_flag_called', 1);
  expect(called?.properties).toMatchObject({ $feature_flag_response: 'blue', $feature_flag_error: error });
});

it('reports the failed flag request if no flags are known', async () => {
  respondToFlags({ status: 500, body: {} });
  const page = await shop.enter({}, { before: listen });
  expect(await waitForCalls(page, 1)).toEqual([[[], {}, { errorsLoading: true }]]);
  expect(await read(page, 'price-test')).toBeUndefined();
  const [called] = await shop.received('$feature_flag_called', 1);
  expect(called?.properties).toMatchObject({ $feature_flag_error: 'api_error_500,flag_missing' });
});

it.each([502, 504])('repeats a flag request once after status %d', async (status) => {
  respondToFlags({ status }, undefined);
  const page = await shop.enter({}, { before: listen });
  expect(await waitForCalls(page, 1)).toEqual([[active, values, { errorsLoading: false }]]);
  expect(shop.flagRequests()).toHaveLength(2);
});

it('does not send a third flag request after two failures', async () => {
  respondToFlags({ status: 502 });
  const page = await shop.enter({}, { before: listen });
  expect(await waitForCalls(page, 1)).toEqual([[[], {}, { errorsLoading: true }]]);
  expect(shop.flagRequests()).toHaveLength(2);
});

it('does not repeat a flag request after statuses other than 502 and 504', async () => {
  respondToFlags({ status: 503 });
  const page = await shop.enter({}, { before: listen });
  await waitForCalls(page, 1);
  expect(shop.flagRequests()).toHaveLength(1);
});

it('keeps the known values of flags that could not be evaluated', async () => {
  const page = await shop.enter();
  await waitForFlags(page);
  const flags = {
    'price-test': { ...detail('price-test', false), failed: true },
    'off-flag': detail('off-flag', true),
    'new-flag': detail('new-flag', true, { variant: 'a' }),
  };
  respondToFlags({ body: { flags, errorsWhileComputingFlags: true } });
  await page.evaluate(listen);
  await page.evaluate(reload);
  const [, secondCall] = await waitForCalls(page, 2);
  const known = { 'beta-nav': true, 'price-test': 'blue', 'off-flag': true, 'new-flag': 'a' };
  expect(secondCall).toEqual([Object.keys(known), known, { errorsLoading: false }]);
  await read(page, 'new-flag');
  const [called] = await shop.received('$feature_flag_called', 1);
  expect(called?.properties).toMatchObject({ $feature_flag_error: 'errors_while_computing_flags' });
});

it('keeps the known flags and calls no listeners if the flag request quota is used up', async () => {
  const page = await shop.enter();
  await waitForFlags(page);
  await page.evaluate(listen);
  respondToFlags({ body: { flags: {}, errorsWhileComputingFlags: false, quotaLimited: ['feature_flags'] } }, undefined);
  await page.evaluate(reload);
  // The library stores the flags immediately before it calls listeners.
  await page.waitForFunction(() => localStorage.getItem('ph_phc_test_posthog')?.includes('quota_limited'));
  expect(await page.evaluate(() => window.heard.length)).toBe(1);
  expect(await read(page, 'price-test')).toBe('blue');
  const [called] = await shop.received('$feature_flag_called', 1);
  expect(called?.properties).toMatchObject({ $feature_flag_error: 'quota_limited' });
});

it.each([
  ['removes all flags if the response has an empty object of flags', { flags: {} }, [[], {}, { errorsLoading: false }]],
  ['keeps all flags if the response has no field for flags', {}, [active, values, { errorsLoading: false }]],
])('%s', async (_what, body, expected) => {
  const page = await shop.enter();
  await waitForFlags(page);
  respondToFlags({ body });
  await page.evaluate(listen);
  await page.evaluate(reload);
  expect((await waitForCalls(page, 2))[1]).toEqual(expected);
});

it('sends one flag request for simultaneous reloads, and one more for all reloads during that request', async () => {
  const page = await shop.enter();
  await waitForFlags(page);
  const { after, release } = createHold();
  respondToFlags({ after }, undefined);
  shop.ingest.clear();
  await page.evaluate(() => {
    for (let i = 0; i < 5; i += 1) window.posthog.reloadFeatureFlags();
  });
  await eventually(() => expect(shop.flagRequests()).toHaveLength(1));
  await page.evaluate(() => {
    for (let i = 0; i < 5; i += 1) window.posthog.reloadFeatureFlags();
  });
  release();
  await eventually(() => expect(shop.flagRequests()).toHaveLength(2));
  await page.evaluate(() => void window.posthog.capture('a moment later'));
  await shop.received('a moment later', 1);
  expect(shop.flagRequests()).toHaveLength(2);
});

it.each([
  ['flags are disabled', { advanced_disable_feature_flags: true }, {}, 0],
  ['everything except events is disabled', { advanced_disable_flags: true }, {}, 0],
  ['the environment has no flags', {}, { hasFeatureFlags: false }, 0],
  ['the first load is disabled', { advanced_disable_feature_flags_on_first_load: true }, {}, 1],
])('does not initially request flags if %s', async (_what, options, config, requestsAfterReload) => {
  shop.ingest.config = config;
  const page = await shop.enter(options);
  if (!('advanced_disable_flags' in options)) await waitForSettings(page);
  await page.evaluate(() => void window.posthog.capture('first'));
  await shop.received('first', 1);
  expect(shop.flagRequests()).toHaveLength(0);
  if (requestsAfterReload === 0 && !('hasFeatureFlags' in config)) await page.evaluate(reload);
  if (requestsAfterReload > 0) {
    await page.evaluate(reload);
    await eventually(() => expect(shop.flagRequests()).toHaveLength(requestsAfterReload));
  }
});

it('loads flags even if the settings request fails', async () => {
  shop.ingest.respondWith(({ path }) => (path.startsWith('/array/') ? { status: 500, body: {} } : undefined));
  const page = await shop.enter();
  await waitForFlags(page);
  expect(await read(page, 'price-test')).toBe('blue');
});

it('requests flags regularly while the page is visible', async () => {
  const visitor = await shop.browser.newContext();
  await visitor.clock.install();
  const page = await shop.enter({}, { visitor });
  await waitForFlags(page);
  for (const count of [2, 3]) {
    await visitor.clock.runFor(301_000);
    await eventually(() => expect(shop.flagRequests()).toHaveLength(count));
  }
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  });
  await visitor.clock.runFor(1_000_000);
  await page.evaluate(() => void window.posthog.capture('unseen', {}, { send_instantly: true }));
  await shop.received('unseen', 1);
  expect(shop.flagRequests()).toHaveLength(3);
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await eventually(() => expect(shop.flagRequests()).toHaveLength(4));
});

it.each([Number.POSITIVE_INFINITY, 2 ** 32])(
  'does not refresh flags repeatedly if the refresh interval is as long as %p ms',
  async (ms) => {
    const page = await shop.enter({ remote_config_refresh_interval_ms: ms, feature_flag_request_timeout_ms: ms });
    await waitForFlags(page);
    expect(await read(page, 'price-test')).toBe('blue');
    await page.evaluate(() => void window.posthog.capture('a while later', {}, { send_instantly: true }));
    await shop.received('a while later', 1);
    expect(shop.flagRequests()).toHaveLength(1);
  },
);

it("ignores a late response with a former visitor's flags", async () => {
  const page = await shop.enter();
  await waitForFlags(page);
  const { after, release } = createHold();
  const slow = { after, body: { flags: { anonymous: detail('anonymous', true) } } };
  respondToFlags(slow, { body: { flags: { identified: detail('identified', true) } } });
  shop.ingest.clear();
  await page.evaluate(() => {
    window.posthog.onFeatureFlags((keys) => void window.heard.push(keys));
    window.heard = [];
    window.posthog.reloadFeatureFlags();
  });
  await eventually(() => expect(shop.flagRequests()).toHaveLength(1));
  await page.evaluate(() => window.posthog.identify('user-7'));
  release();
  expect(await waitForCalls(page, 1)).toEqual([['identified']]);
  expect(shop.flagRequests().map(({ distinct_id }) => distinct_id === 'user-7')).toEqual([false, true]);
});

it.each<[what: string, act: () => void]>([
  ['the same identify call', () => window.posthog.identify('user-7', { plan: 'pro' })],
  ['the same group call', () => window.posthog.group('company', 'acme', { name: 'Acme' })],
  [
    'both',
    () => {
      window.posthog.identify('user-7', { plan: 'pro' });
      window.posthog.group('company', 'acme', { name: 'Acme' });
    },
  ],
])('does not request flags again on the next page for calls that change nothing: %s', async (_what, act) => {
  const first = await shop.enter();
  await first.evaluate(() => {
    window.posthog.identify('user-7', { plan: 'pro' });
    window.posthog.group('company', 'acme', { name: 'Acme' });
  });
  await waitForFlags(first);
  await eventually(() =>
    expect(shop.flagRequests().at(-1)).toMatchObject({ distinct_id: 'user-7', groups: { company: 'acme' } }),
  );
  const page = await shop.enter({}, { visitor: first.context() });
  await waitForFlags(page);
  await first.close();
  shop.ingest.clear();
  await page.evaluate(act);
  await page.evaluate(() => void window.posthog.capture('a moment later'));
  await shop.received('a moment later', 1);
  expect(shop.flagRequests()).toEqual([]);
  await page.evaluate(() => window.posthog.identify('user-7', { plan: 'free' }));
  await eventually(() => expect(shop.flagRequests()).toHaveLength(1));
});

it("loads the visitor's flags again when another tab identifies the visitor", async () => {
  const page = await shop.enter();
  const other = await shop.enter({}, { visitor: page.context() });
  await Promise.all([waitForFlags(page), waitForFlags(other)]);
  await page.evaluate(listen);
  shop.ingest.clear();
  shop.ingest.flags = { 'for-ada': true };
  await other.evaluate(() => window.posthog.identify('ada'));
  expect((await waitForCalls(page, 2))[1]).toEqual([['for-ada'], { 'for-ada': true }, { errorsLoading: false }]);
  // The two tabs send their requests at different times.
  await eventually(() => expect(shop.flagRequests().map(({ distinct_id }) => distinct_id)).toEqual(['ada', 'ada']));
  shop.ingest.flags = { 'for-anybody': true };
  await other.evaluate(() => window.posthog.reset());
  expect((await waitForCalls(page, 3))[2]).toEqual([
    ['for-anybody'],
    { 'for-anybody': true },
    { errorsLoading: false },
  ]);
  expect(await page.evaluate(() => window.posthog.get_distinct_id())).toBe(shop.flagRequests().at(-1)?.distinct_id);
});
