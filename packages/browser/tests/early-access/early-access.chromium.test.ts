import { eventually } from '@millrace/testing';
import { openShop, type Shop, waitForFlags } from '../support/open-shop.ts';

let shop: Shop;

const features = [
  { name: 'Dark mode', description: 'Darker', stage: 'beta', documentationUrl: null, flagKey: 'dark-mode' },
];

beforeAll(async () => {
  shop = await openShop();
});

beforeEach(async () => {
  await shop.empty();
  shop.ingest.flags = { 'dark-mode': false, other: 'x' };
  shop.ingest.respondWith(({ path }) =>
    path === '/api/early_access_features/' ? { body: { earlyAccessFeatures: features } } : undefined,
  );
});

afterAll(() => shop.stop());

const listRequests = () => shop.ingest.requests.filter(({ path }) => path === '/api/early_access_features/');

it('lists the early access features, and requests them only once unless the application forces a reload', async () => {
  const page = await shop.enter();
  const list = (force: boolean, stages?: string[]) =>
    page.evaluate(
      ([isForced, wanted]) =>
        new Promise((resolve) =>
          window.posthog.getEarlyAccessFeatures(
            (...args) => resolve(args),
            isForced as boolean,
            wanted as string[] | undefined,
          ),
        ),
      [force, stages] as const,
    );
  expect(await list(false)).toEqual([features, { isLoaded: true }]);
  expect(await list(false)).toEqual([features, { isLoaded: true }]);
  expect(listRequests()).toHaveLength(1);
  expect(listRequests()[0]?.method).toBe('GET');
  expect(await list(true, ['beta', 'alpha'])).toEqual([features, { isLoaded: true }]);
  expect([...(listRequests()[1]?.query ?? [])]).toEqual([
    ['token', 'phc_test'],
    ['stage', 'beta'],
    ['stage', 'alpha'],
  ]);
});

it('returns an error if the list of early access features cannot be loaded', async () => {
  shop.ingest.respondWith(({ path }) => (path === '/api/early_access_features/' ? { status: 503 } : undefined));
  const page = await shop.enter();
  const args = await page.evaluate(
    () => new Promise((resolve) => window.posthog.getEarlyAccessFeatures((...all) => resolve(all))),
  );
  expect(args).toEqual([[], { isLoaded: false, error: expect.stringContaining('503') }]);
});

it.each(['ours', 'reference'] as const)(
  'enrolls a visitor in an early access feature with %s, and removes the visitor again',
  async (library) => {
    const page = await shop.enter({}, { library });
    await waitForFlags(page);
    await page.evaluate(() => new Promise((resolve) => window.posthog.getEarlyAccessFeatures(resolve)));
    shop.ingest.clear();
    const local = await page.evaluate(() => {
      window.posthog.onFeatureFlags((_keys, values) => void window.heard.push(values));
      window.heard = [];
      window.posthog.updateEarlyAccessFeatureEnrollment('dark-mode', true, 'beta');
      return [window.heard, window.posthog.getFeatureFlag('dark-mode', { send_event: false })];
    });
    expect(local).toEqual([[{ 'dark-mode': true, other: 'x' }], true]);
    const [enrolled] = await shop.received('$feature_enrollment_update', 1);
    expect(enrolled?.properties).toMatchObject({
      $feature_flag: 'dark-mode',
      $feature_enrollment: true,
      $feature_enrollment_stage: 'beta',
      $early_access_feature_name: 'Dark mode',
      $set: { '$feature_enrollment/dark-mode': true },
    });
    await eventually(() =>
      expect(shop.flagRequests().at(-1)?.person_properties).toMatchObject({ '$feature_enrollment/dark-mode': true }),
    );
    await page.evaluate(() => window.posthog.updateEarlyAccessFeatureEnrollment('dark-mode', false));
    const [, withdrawn] = await shop.received('$feature_enrollment_update', 2);
    expect(withdrawn?.properties).toMatchObject({
      $feature_enrollment: false,
      $set: { '$feature_enrollment/dark-mode': false },
    });
    expect(withdrawn?.properties).not.toHaveProperty('$feature_enrollment_stage');
  },
);
