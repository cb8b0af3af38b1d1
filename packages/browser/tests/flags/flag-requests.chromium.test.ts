import { eventually } from '@millrace/testing';
import { type Library, openShop, type Shop, waitForFlags } from '../support/open-shop.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

afterAll(() => shop.stop());

const steps: [string, () => void][] = [
  ['a person is identified', () => window.posthog.identify('user-7', { email: 'u7@example.test' }, { first: 'a' })],
  [
    'the same person is identified again with another property',
    () => window.posthog.identify('user-7', { plan: 'pro' }),
  ],
  ['a group with properties', () => window.posthog.group('company', 'acme', { name: 'Acme' })],
  ['another group of the same type', () => window.posthog.group('company', 'umbrella')],
  ['a person property', () => window.posthog.setPersonProperties({ color: 'red' }, { first: 'b' })],
  ['a person property for flags only', () => window.posthog.setPersonPropertiesForFlags({ team: 'x' })],
  ['a group property for flags only', () => window.posthog.setGroupPropertiesForFlags({ company: { size: 5 } })],
  ['a person property set by an event', () => void window.posthog.capture('bought', {}, { $set: { orders: 1 } })],
  [
    'a person property in the properties of an event',
    () => void window.posthog.capture('bought', { $set: { orders: 2 } }),
  ],
  ['a removed person property', () => window.posthog.unsetPersonProperties(['color'])],
  ['a reset of the person properties for flags', () => window.posthog.resetPersonPropertiesForFlags()],
  [
    'a reset of the group properties for flags',
    () => {
      window.posthog.resetGroupPropertiesForFlags();
      window.posthog.reloadFeatureFlags();
    },
  ],
  ['a reset of the groups', () => window.posthog.resetGroups()],
];

/** Returns the request bodies. IDs are replaced by numbers, in order of first use. */
async function requestsOf(library: Library): Promise<unknown[]> {
  await shop.empty();
  const visitor = await shop.browser.newContext();
  let responses = 0;
  visitor.on('requestfinished', (request) => {
    if (new URL(request.url()).pathname === '/flags/') responses += 1;
  });
  const page = await shop.enter({}, { library, visitor });
  await waitForFlags(page);
  for (const [at, [, step]] of steps.entries()) {
    await page.evaluate(step);
    await eventually(() => expect(shop.flagRequests().length).toBeGreaterThanOrEqual(at + 2));
    // Wait for all responses, because the next request could be merged with a pending request.
    await eventually(() => expect(responses).toBe(shop.flagRequests().length));
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 60)));
  }
  const ids = new Map<unknown, string>();
  const named = (id: unknown) => {
    if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
    return ids.get(id);
  };
  return shop.flagRequests().map((body) => ({
    ...body,
    distinct_id: named(body.distinct_id),
    $device_id: named(body.$device_id),
    ...('$anon_distinct_id' in body && { $anon_distinct_id: named(body.$anon_distinct_id) }),
    sent_at: typeof body.sent_at,
    person_properties: withoutAddress(body.person_properties as object),
  }));
}

/** Removes values that differ because each library has its own page and version. */
function withoutAddress(properties: object): object {
  const { $initial_current_url, $initial_pathname, $lib_version, ...rest } = properties as Record<string, unknown>;
  return { ...rest, types: [$initial_current_url, $initial_pathname, $lib_version].map((value) => typeof value) };
}

it('sends the same flag requests as posthog-js after the same calls', async () => {
  const reference = await requestsOf('reference');
  const ours = await requestsOf('ours');
  for (const [at, request] of reference.entries()) {
    expect({ after: steps[at - 1]?.[0] ?? 'init', request: ours[at] }).toEqual({
      after: steps[at - 1]?.[0] ?? 'init',
      request,
    });
  }
  expect(ours).toHaveLength(reference.length);
  expect(ours[1]).toMatchObject({
    token: 'phc_test',
    distinct_id: 'id 1',
    $anon_distinct_id: 'id 0',
    $device_id: 'id 0',
    groups: {},
    person_properties: { email: 'u7@example.test', first: 'a', $lib: 'web' },
    timezone: expect.any(String),
  });
});

it('sends flag requests to flags_api_host if it is set', async () => {
  const page = await shop.enter({ flags_api_host: `${shop.ingest.url}/flags-host/` });
  await eventually(() => expect(shop.ingest.requests.map(({ path }) => path)).toContain('/flags-host/flags/'));
  await page.close();
});
