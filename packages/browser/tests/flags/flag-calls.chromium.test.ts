import { eventually } from '@millrace/testing';
import { createHold } from '../support/hold.ts';
import { type Library, openShop, type Shop, waitForFlags } from '../support/open-shop.ts';
import type { ReceivedEvent } from '../support/scripted-ingest.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

beforeEach(async () => {
  await shop.empty();
  shop.ingest.flags = { 'beta-nav': true, 'price-test': 'blue', 'off-flag': false };
  shop.ingest.payloads = { 'price-test': '{"color":"blue"}' };
});

afterAll(() => shop.stop());

const calls = (events: ReceivedEvent[]) =>
  events.map(({ properties }) => [properties.$feature_flag, properties.$feature_flag_response]);

const ofFlags = ({ properties }: ReceivedEvent) =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => /flag|^\$feature\/|bootstrap/.test(name)));

describe.each(['ours', 'reference'] as const)('$feature_flag_called, library %s', (library) => {
  it("captures $feature_flag_called once for each flag and value on all of a visitor's pages", async () => {
    const page = await shop.enter({}, { library });
    await waitForFlags(page);
    await page.evaluate(() => {
      for (let i = 0; i < 3; i += 1) {
        window.posthog.getFeatureFlag('beta-nav');
        window.posthog.isFeatureEnabled('beta-nav');
        window.posthog.getFeatureFlagResult('price-test');
        window.posthog.getFeatureFlag('nope');
        window.posthog.getFeatureFlag('off-flag', { send_event: false });
        window.posthog.getFeatureFlagPayload('off-flag');
      }
      window.posthog.updateFlags({ 'price-test': 'green' }, {}, { merge: true });
      window.posthog.getFeatureFlag('price-test');
    });
    const expected = [
      ['beta-nav', true],
      ['price-test', 'blue'],
      ['nope', undefined],
      ['price-test', 'green'],
    ];
    expect(calls(await shop.received('$feature_flag_called', 4))).toEqual(expected);

    const later = await shop.enter({}, { library, visitor: page.context() });
    await waitForFlags(later);
    await later.evaluate(() => {
      window.posthog.getFeatureFlag('price-test');
      window.posthog.getFeatureFlag('beta-nav');
      window.posthog.capture('afterwards');
    });
    await shop.received('afterwards', 1);
    expect(calls(shop.ingest.events('$feature_flag_called'))).toEqual(expected);
  });

  it('captures $feature_flag_called again for another person', async () => {
    const page = await shop.enter({}, { library });
    await waitForFlags(page);
    await page.evaluate(() => {
      window.posthog.getFeatureFlag('beta-nav');
      window.posthog.identify('user-7');
      window.posthog.getFeatureFlag('beta-nav');
    });
    const called = await shop.received('$feature_flag_called', 2);
    expect(called.map(({ properties }) => properties.distinct_id === 'user-7')).toEqual([false, true]);
  });

  it('captures $feature_flag_called for earlier reads when the visitor gives consent', async () => {
    const page = await shop.enter({ opt_out_capturing_by_default: true }, { library });
    await waitForFlags(page);
    await page.evaluate(() => {
      window.posthog.getFeatureFlag('beta-nav');
      window.posthog.opt_in_capturing();
    });
    expect(calls(await shop.received('$feature_flag_called', 1))).toEqual([['beta-nav', true]]);
  });
});

it('adds the same flag properties to events as posthog-js', async () => {
  const seen: Record<string, unknown> = {};
  for (const library of ['ours', 'reference'] as const) {
    shop.ingest.clear();
    const page = await shop.enter({ bootstrap: { featureFlags: { 'price-test': 'green' } } }, { library });
    await page.evaluate(() => window.posthog.reloadFeatureFlags());
    await eventually(async () =>
      expect(await page.evaluate(() => window.posthog.getFeatureFlag('price-test', { send_event: false }))).toBe(
        'blue',
      ),
    );
    await page.evaluate(() => {
      for (const key of ['beta-nav', 'price-test', 'off-flag', 'nope']) window.posthog.getFeatureFlag(key);
      window.posthog.capture('order placed');
    });
    const [other] = await shop.received('order placed', 1);
    const called = await shop.received('$feature_flag_called', 4);
    seen[library] = [...called, other as ReceivedEvent].map(ofFlags);
  }
  expect(seen.ours).toEqual(seen.reference);
  expect((seen.ours as unknown[])[1]).toEqual({
    $feature_flag: 'price-test',
    $feature_flag_response: 'blue',
    $feature_flag_payload: '{"color":"blue"}',
    $feature_flag_request_id: 'a0000000-0000-4000-8000-000000000000',
    $feature_flag_evaluated_at: 1_780_000_000_000,
    $feature_flag_bootstrapped_response: 'green',
    $feature_flag_bootstrapped_payload: null,
    $used_bootstrap_value: false,
    $feature_flag_has_experiment: false,
    $feature_flag_version: 1,
    $feature_flag_reason: 'Matched condition set 1',
    $feature_flag_id: 2,
    $active_feature_flags: ['beta-nav', 'price-test'],
    $feature_flag_payloads: { 'price-test': '{"color":"blue"}' },
    '$feature/beta-nav': true,
    '$feature/price-test': 'blue',
    '$feature/off-flag': false,
  });
});

it('stores flags as posthog-js does, so that a site that switches libraries keeps them', async () => {
  const stored = async (library: Library) => {
    const page = await shop.enter({}, { library });
    await waitForFlags(page);
    await page.evaluate(() => {
      window.posthog.getFeatureFlag('price-test');
      window.posthog.setPersonPropertiesForFlags({ plan: 'pro' }, false);
      window.posthog.featureFlags.overrideFeatureFlags({ flags: { mine: true }, suppressWarning: true });
    });
    return () =>
      page.evaluate(() => {
        const all = JSON.parse(localStorage.getItem('ph_phc_test_posthog') ?? '{}');
        return Object.fromEntries(Object.entries(all).filter(([name]) => /flag|stored_/.test(name)));
      });
  };
  const [ours, reference] = [await stored('ours'), await stored('reference')];
  await eventually(async () => {
    const of = await reference();
    expect(of).toMatchObject({ $override_feature_flags: { mine: true }, $stored_person_properties: { plan: 'pro' } });
    // The service never sets `$minimal_flag_called_events`, so its value is always false.
    expect({ ...(await ours()), $minimal_flag_called_events: false }).toEqual(of);
  });

  const switching = await shop.browser.newContext();
  const before = await shop.enter({}, { library: 'reference', visitor: switching });
  await waitForFlags(before);
  await before.waitForFunction(() => localStorage.getItem('ph_phc_test_posthog')?.includes('"price-test":"blue"'));
  shop.ingest.respondWith(({ path }) => (path === '/flags/' ? createHold() : undefined));
  const after = await shop.enter({}, { visitor: switching });
  expect(await after.evaluate(() => window.posthog.featureFlags.getFlagVariants())).toEqual(shop.ingest.flags);
  await switching.close();
});
