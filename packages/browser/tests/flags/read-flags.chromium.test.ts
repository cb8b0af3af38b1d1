import type { Page } from 'playwright-core';
import { createHold } from '../support/hold.ts';
import { type Library, openShop, type Shop, waitForFlags } from '../support/open-shop.ts';

let shop: Shop;
const pages = new Map<Library, Page>();

beforeAll(async () => {
  shop = await openShop();
  shop.ingest.flags = { 'beta-nav': true, 'price-test': 'blue', 'off-flag': false, odd: true };
  shop.ingest.payloads = { 'price-test': '{"color":"blue"}', odd: 'not JSON' };
  for (const library of ['ours', 'reference'] as const) {
    const page = await shop.enter({}, { library });
    await waitForFlags(page);
    pages.set(library, page);
  }
});

afterAll(() => shop.stop());

const rows: [string, () => unknown, unknown][] = [
  ['an enabled flag', () => window.posthog.getFeatureFlag('beta-nav'), true],
  ['a variant', () => window.posthog.getFeatureFlag('price-test'), 'blue'],
  ['a disabled flag', () => window.posthog.getFeatureFlag('off-flag'), false],
  ['an unknown flag', () => window.posthog.getFeatureFlag('nope'), undefined],
  ['if a flag is enabled', () => window.posthog.isFeatureEnabled('beta-nav'), true],
  ['if a flag with variants is enabled', () => window.posthog.isFeatureEnabled('price-test'), true],
  ['if a disabled flag is enabled', () => window.posthog.isFeatureEnabled('off-flag', { defaultValue: true }), false],
  ['if an unknown flag is enabled', () => window.posthog.isFeatureEnabled('nope'), undefined],
  [
    'if an unknown flag is enabled, with a default',
    () => window.posthog.isFeatureEnabled('nope', { defaultValue: true }),
    true,
  ],
  ['a payload', () => window.posthog.getFeatureFlagPayload('price-test'), { color: 'blue' }],
  ['a payload that is not JSON', () => window.posthog.getFeatureFlagPayload('odd'), 'not JSON'],
  ['a missing payload', () => window.posthog.getFeatureFlagPayload('beta-nav'), undefined],
  ['the payload of an unknown flag', () => window.posthog.getFeatureFlagPayload('nope'), undefined],
  [
    'the complete result of a variant',
    () => window.posthog.getFeatureFlagResult('price-test'),
    { key: 'price-test', enabled: true, variant: 'blue', payload: { color: 'blue' } },
  ],
  [
    'the complete result of a disabled flag',
    () => window.posthog.getFeatureFlagResult('off-flag'),
    { key: 'off-flag', enabled: false, variant: undefined, payload: undefined },
  ],
  ['the complete result of an unknown flag', () => window.posthog.getFeatureFlagResult('nope'), undefined],
  ['a fresh value', () => window.posthog.getFeatureFlag('price-test', { fresh: true }), 'blue'],
  ['if flags have been loaded', () => window.posthog.featureFlags.hasLoadedFlags, true],
  ['all names', () => window.posthog.featureFlags.getFlags(), ['beta-nav', 'price-test', 'off-flag', 'odd']],
  [
    'all values',
    () => window.posthog.featureFlags.getFlagVariants(),
    { 'beta-nav': true, 'price-test': 'blue', 'off-flag': false, odd: true },
  ],
];

it.each(rows)('returns the same flag results as posthog-js for %s', async (_what, read, value) => {
  expect(await pages.get('ours')?.evaluate(read)).toEqual(value);
  expect(await pages.get('reference')?.evaluate(read)).toEqual(value);
});

it.each(['constructor', '__proto__', 'toString'])(
  'does not return an inherited property for the flag %p',
  async (key) => {
    const read = (name: string) => [window.posthog.getFeatureFlag(name), window.posthog.getFeatureFlagPayload(name)];
    expect(await pages.get('ours')?.evaluate(read, key)).toEqual([undefined, undefined]);
  },
);

it('reading a flag returns undefined and captures nothing before any flags are known', async () => {
  await shop.empty();
  shop.ingest.respondWith(({ path }) => (path === '/flags/' ? createHold() : undefined));
  const page = await shop.enter();
  const early = await page.evaluate(() => [
    window.posthog.getFeatureFlag('beta-nav'),
    window.posthog.isFeatureEnabled('beta-nav'),
    window.posthog.isFeatureEnabled('beta-nav', { defaultValue: true }),
    window.posthog.getFeatureFlagPayload('beta-nav'),
    window.posthog.getFeatureFlagResult('beta-nav'),
    window.posthog.featureFlags.getFlags(),
    window.posthog.featureFlags.hasLoadedFlags,
  ]);
  expect(early).toEqual([undefined, undefined, true, undefined, undefined, [], false]);
  await page.evaluate(() => void window.posthog.capture('afterwards'));
  await shop.received('afterwards', 1);
  const visitor = await page.evaluate(() => window.posthog.get_distinct_id());
  const called = shop.ingest.events('$feature_flag_called');
  expect(called.filter(({ properties }) => properties.distinct_id === visitor)).toEqual([]);
});
