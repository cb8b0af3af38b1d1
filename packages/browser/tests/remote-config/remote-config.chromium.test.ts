import { eventually } from '@millrace/testing';
import { openShop, type Shop, waitForFlags } from '../support/open-shop.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

beforeEach(async () => {
  await shop.empty();
});

afterAll(() => shop.stop());

const paths = () => shop.ingest.requests.map(({ path }) => path).filter((path) => path.startsWith('/array/'));
const noConfig = () => {
  shop.ingest.respondWith(({ path }) => (path.startsWith('/array/') ? { status: 503, body: {} } : undefined));
};
const afterFirstEvents = async () => {
  await shop.received('first', 1);
  return shop.flagRequests().length;
};
const captureFirst = () => void window.posthog.capture('first');

it("requests the environment's settings as JSON", async () => {
  const page = await shop.enter();
  await waitForFlags(page);
  expect(paths()).toEqual(['/array/phc_test/config']);
});

it('uses the settings that are embedded in the page', async () => {
  const page = await shop.enter(
    {},
    {
      before: () => {
        window._POSTHOG_REMOTE_CONFIG = { phc_test: { config: { hasFeatureFlags: false } } };
      },
    },
  );
  await page.evaluate(captureFirst);
  expect(await afterFirstEvents()).toBe(0);
  expect(paths()).toEqual([]);
});

it('sends no requests except events if all other requests are disabled', async () => {
  const page = await shop.enter({ advanced_disable_flags: true });
  await page.evaluate(captureFirst);
  await shop.received('first', 1);
  expect(shop.ingest.requests.filter(({ method }) => method === 'GET')).toEqual([]);
});

it('uses the stored settings if the settings request fails', async () => {
  shop.ingest.config = { hasFeatureFlags: false };
  const page = await shop.enter();
  await eventually(async () =>
    expect(await page.evaluate(() => localStorage.getItem('ph_phc_test_remote_config'))).toContain('hasFeatureFlags'),
  );
  noConfig();
  shop.ingest.clear();
  const later = await shop.enter({}, { visitor: page.context() });
  await eventually(() => expect(paths()).toHaveLength(1));
  await later.evaluate(captureFirst);
  expect(await afterFirstEvents()).toBe(0);
});

it('captures events even if settings cannot be loaded', async () => {
  noConfig();
  const page = await shop.enter();
  await waitForFlags(page);
  expect(shop.flagRequests()).toHaveLength(1);
});

it('requests settings from the asset host if it is set', async () => {
  await shop.enter({ asset_host: `${shop.ingest.url}/assets` });
  await eventually(() =>
    expect(shop.ingest.requests.map(({ path }) => path)).toContain('/assets/array/phc_test/config'),
  );
});
