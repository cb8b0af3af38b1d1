import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { openShop, type Shop, waitForFlags } from '../support/open-shop.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

beforeEach(async () => {
  await shop.empty();
  shop.ingest.flags = { 'beta-nav': true, 'price-test': 'blue' };
});

afterAll(() => shop.stop());

const bootstrap = {
  featureFlags: { 'beta-nav': false, 'price-test': 'green', extra: true },
  featureFlagPayloads: { 'price-test': { color: 'green' }, 'beta-nav': 'of a flag that is off' },
};
const variants = (page: Page) => page.evaluate(() => window.posthog.featureFlags.getFlagVariants());
const neverRespond = () => {
  shop.ingest.respondWith(({ path }) => (path === '/flags/' ? createHold() : undefined));
};

describe('bootstrapped flags', () => {
  it('accepts null in bootstrap', async () => {
    const nothing = { distinctID: null, featureFlags: null, featureFlagPayloads: null, sessionID: null };
    const page = await shop.enter({ bootstrap: nothing });
    await waitForFlags(page);
    expect(await variants(page)).toEqual({ 'beta-nav': true, 'price-test': 'blue' });
  });

  it.each(['ours', 'reference'] as const)(
    'returns bootstrapped flags from %s immediately, including disabled flags',
    async (library) => {
      neverRespond();
      const page = await shop.enter({ bootstrap }, { library });
      const known = await page.evaluate(() => {
        window.posthog.onFeatureFlags((...args) => void window.heard.push(args));
        return [
          window.posthog.featureFlags.hasLoadedFlags,
          window.posthog.getFeatureFlag('beta-nav'),
          window.posthog.getFeatureFlagResult('price-test'),
          window.posthog.getFeatureFlagPayload('beta-nav'),
          window.heard,
        ];
      });
      expect(known).toEqual([
        true,
        false,
        { key: 'price-test', enabled: true, variant: 'green', payload: { color: 'green' } },
        undefined,
        [[['price-test', 'extra'], { 'price-test': 'green', extra: true }]],
      ]);
      const called = await shop.received('$feature_flag_called', 2);
      expect(called[1]?.properties).toMatchObject({
        $feature_flag: 'price-test',
        $feature_flag_response: 'green',
        $feature_flag_bootstrapped_response: 'green',
        $used_bootstrap_value: true,
      });
      // posthog-js ignores payloads that are not strings.
      if (library === 'ours') {
        expect(called[1]?.properties).toMatchObject({
          $feature_flag_payload: { color: 'green' },
          $feature_flag_bootstrapped_payload: { color: 'green' },
        });
      }
      await page.context().close();
    },
  );

  it('replaces bootstrapped flags with the flags of the first response', async () => {
    const page = await shop.enter({ bootstrap });
    await eventually(async () => expect(await variants(page)).toEqual({ 'beta-nav': true, 'price-test': 'blue' }));
    await page.evaluate(() => void window.posthog.getFeatureFlag('price-test'));
    const [called] = await shop.received('$feature_flag_called', 1);
    expect(called?.properties).toMatchObject({
      $feature_flag_response: 'blue',
      $feature_flag_bootstrapped_response: 'green',
      $used_bootstrap_value: false,
    });
  });

  it("uses bootstrapped flags instead of the previous visit's flags if the request fails", async () => {
    const first = await shop.enter();
    await waitForFlags(first);
    const { after, release } = createHold();
    shop.ingest.respondWith(({ path }) => (path === '/flags/' ? { after, status: 500, body: {} } : undefined));
    shop.ingest.clear();
    const page = await shop.enter({ bootstrap }, { visitor: first.context() });
    await page.evaluate(() => {
      window.posthog.onFeatureFlags((_keys, values, context) => void window.heard.push([values, context]));
    });
    await eventually(() => expect(shop.flagRequests()).toHaveLength(1));
    release();
    await page.waitForFunction(() => window.heard.length > 1);
    expect(await variants(page)).toEqual(bootstrap.featureFlags);
  });

  it('drops bootstrapped flags on reset', async () => {
    shop.ingest.respondWith(({ path }) => (path === '/flags/' ? { status: 500, body: {} } : undefined));
    const page = await shop.enter({ bootstrap });
    await page.evaluate(() => window.posthog.reset());
    expect(await variants(page)).toEqual({});
  });

  it('reset accepts bootstrapped flags', async () => {
    neverRespond();
    const page = await shop.enter({ bootstrap });
    await page.evaluate(() => window.posthog.reset({ bootstrap: { featureFlags: { other: true } } }));
    expect(await variants(page)).toEqual({ other: true });
    await page.context().close();
  });
});

describe('flag overrides', () => {
  it.each<[string, unknown, unknown]>([
    ['values', { flags: { 'beta-nav': false, mine: 'x' } }, { 'beta-nav': false, 'price-test': 'blue', mine: 'x' }],
    ['names', { flags: ['mine'] }, { 'beta-nav': true, 'price-test': 'blue', mine: true }],
    ['a plain list of names', ['mine'], { 'beta-nav': true, 'price-test': 'blue', mine: true }],
    ['a plain object of values', { mine: 'x' }, { 'beta-nav': true, 'price-test': 'blue', mine: 'x' }],
    ['payloads', { payloads: { 'beta-nav': { a: 1 } } }, { 'beta-nav': true, 'price-test': 'blue' }],
  ])('applies overrides from %s, and removes them with false', async (_what, overrides, expected) => {
    const page = await shop.enter();
    await waitForFlags(page);
    await page.evaluate((given) => {
      window.posthog.onFeatureFlags((_keys, values) => void window.heard.push(values));
      window.heard = [];
      window.posthog.featureFlags.overrideFeatureFlags(given as never);
    }, overrides);
    expect(await variants(page)).toEqual(expected);
    expect(await page.evaluate(() => window.heard.length)).toBe(1);
    const payload = (overrides as { payloads?: Record<string, unknown> }).payloads?.['beta-nav'];
    expect(await page.evaluate(() => window.posthog.getFeatureFlagPayload('beta-nav'))).toEqual(payload);

    const later = await shop.enter({}, { visitor: page.context() });
    await waitForFlags(later);
    expect(await variants(later)).toEqual(expected);
    await later.evaluate(() => window.posthog.featureFlags.overrideFeatureFlags(false));
    expect(await variants(later)).toEqual({ 'beta-nav': true, 'price-test': 'blue' });
    expect(await later.evaluate(() => window.posthog.getFeatureFlagPayload('beta-nav'))).toBeUndefined();
  });
});

describe('updateFlags', () => {
  it.each([
    ['replaces the known flags', undefined, { 'beta-nav': 'new' }],
    ['adds to the known flags with the option merge', { merge: true }, { 'beta-nav': 'new', 'price-test': 'blue' }],
  ])('%s', async (_what, options, expected) => {
    const page = await shop.enter();
    await waitForFlags(page);
    const result = await page.evaluate((given) => {
      window.posthog.onFeatureFlags((_keys, values) => void window.heard.push(values));
      window.heard = [];
      window.posthog.updateFlags({ 'beta-nav': 'new' }, { 'beta-nav': { size: 2 } }, given);
      return [
        window.heard,
        window.posthog.featureFlags.getFlagVariants(),
        window.posthog.getFeatureFlagPayload('beta-nav'),
      ];
    }, options);
    expect(result).toEqual([[expected], expected, { size: 2 }]);
  });
});
