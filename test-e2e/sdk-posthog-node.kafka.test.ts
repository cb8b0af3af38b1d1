import { eventually } from '@millrace/testing';
import { PostHog } from 'posthog-node';
import { createManagementClient, type ManagementClient } from './support/management-client.ts';
import { eventLogs, type RunningServices, startServices } from './support/start-services.ts';

/** Tests the real SDK with its default settings, except for the host. The tests read the sent events from the API. */
describe.each(eventLogs)('posthog-node with the %s event log', (eventLog) => {
  let services: RunningServices;
  let api: ManagementClient;
  const sdkErrors: unknown[] = [];

  function connect(options: { historicalMigration?: boolean } = {}): PostHog {
    const client = new PostHog(services.tenant.projectApiKey, { host: services.ingestUrl, ...options });
    client.on('error', (error: unknown) => sdkErrors.push(error));
    return client;
  }

  /** Sends events with a separate client, and waits until `count` events with this name are visible. */
  async function send(name: string, count: number, use: (client: PostHog) => void, options = {}) {
    const client = connect(options);
    use(client);
    await client.shutdown();
    return eventually(
      async () => {
        const found = await api.events({ event: name });
        expect(found.length).toBeGreaterThanOrEqual(count);
        return found;
      },
      { what: `Storing ${count} events "${name}"` },
    );
  }

  const personOf = async (distinctId: string) => (await api.persons({ distinct_id: distinctId }))[0];

  beforeAll(async () => {
    services = await startServices({ eventLog });
    api = createManagementClient(services);
  });
  afterEach(() => expect(sdkErrors).toEqual([]));
  afterAll(() => services?.stop());

  test('capture stores the given properties and those that the SDK adds', async () => {
    const timestamp = new Date(Date.now() - 60_000);
    const properties = { total: 42, currency: 'EUR', nested: { list: [1, 'zwei', null, true] }, text: 'Grüße 👋' };
    const [row, ...others] = await send('order placed', 1, (client) =>
      client.capture({ distinctId: 'buyer', event: 'order placed', properties, timestamp }),
    );
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      event: 'order placed',
      distinct_id: 'buyer',
      elements_chain: '',
      properties: { ...properties, $lib: 'posthog-node', $is_server: true, $geoip_disable: true },
      person: { distinct_ids: ['buyer'] },
    });
    // The timestamp changes by the time between sending and receiving, because of the clock skew correction.
    expect(Math.abs(Date.parse(row?.timestamp ?? '') - timestamp.getTime())).toBeLessThan(30_000);
    expect(await personOf('buyer')).toMatchObject({
      uuid: row?.person?.uuid,
      distinct_ids: ['buyer'],
      is_identified: false,
      created_at: row?.timestamp,
      properties: { $creator_event_uuid: row?.uuid },
    });
  });

  test('identify sets $set and $set_once on the person without a merge', async () => {
    const [row] = await send('$identify', 1, (client) =>
      client.identify({
        distinctId: 'ada',
        properties: { email: 'ada@example.com', plan: 'pro', $set_once: { first_seen_as: 'ada' } },
      }),
    );
    expect(row).toMatchObject({
      event: '$identify',
      distinct_id: 'ada',
      properties: { $set: { email: 'ada@example.com', plan: 'pro' }, $set_once: { first_seen_as: 'ada' } },
    });
    expect(await personOf('ada')).toMatchObject({
      name: 'ada@example.com',
      distinct_ids: ['ada'],
      is_identified: false,
      properties: { email: 'ada@example.com', plan: 'pro', first_seen_as: 'ada' },
    });
  });

  test('alias merges both IDs into one person, with the alias as the main ID', async () => {
    const [row] = await send('$create_alias', 1, (client) => {
      client.capture({ distinctId: 'old-id', event: 'seen before', properties: { $set: { kept: 1 } } });
      client.alias({ distinctId: 'old-id', alias: 'main-id' });
    });
    expect(row).toMatchObject({ distinct_id: 'old-id', properties: { distinct_id: 'old-id', alias: 'main-id' } });
    const person = await personOf('old-id');
    expect(person).toMatchObject({
      distinct_ids: ['main-id', 'old-id'],
      is_identified: true,
      properties: { kept: 1 },
    });
    expect(await personOf('main-id')).toEqual(person);
    const [seenBefore] = await api.events({ event: 'seen before' });
    expect(seenBefore?.person).toMatchObject({ uuid: person?.uuid, distinct_ids: ['main-id', 'old-id'] });
  });

  test('groupIdentify creates a group with its properties, but capture with groups does not', async () => {
    await send('$groupidentify', 2, (client) => {
      client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { name: 'Acme', seats: 5 } });
      client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { seats: 6 } });
    });
    const [row] = await send('seat used', 1, (client) =>
      client.capture({ distinctId: 'worker', event: 'seat used', groups: { company: 'acme', team: 'blue' } }),
    );
    const groups = await api.groups();
    expect(groups).toEqual([
      {
        group_type: 'company',
        group_type_index: 0,
        group_key: 'acme',
        group_properties: { name: 'Acme', seats: 6 },
        created_at: expect.any(String),
      },
    ]);
    expect(row?.properties).toMatchObject({
      $groups: { company: 'acme', team: 'blue' },
      $group_0: 'acme',
      $group_1: 'blue',
    });
  });

  test('capture without a distinct ID stores the event without creating a person', async () => {
    const [row] = await send('anonymous visit', 1, (client) => client.capture({ event: 'anonymous visit' }));
    expect(row).toMatchObject({
      distinct_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      properties: { $process_person_profile: false },
    });
    expect(await api.persons({ distinct_id: row?.distinct_id ?? '' })).toEqual([]);
  });

  test('capture stores each of 250 events from one client exactly once', async () => {
    const numbers = Array.from({ length: 250 }, (_, index) => index);
    const rows = await send('tick', 250, (client) => {
      for (const n of numbers) client.capture({ distinctId: `ticker-${n % 7}`, event: 'tick', properties: { n } });
    });
    expect(rows.map(({ properties }) => Number(properties.n)).sort((a, b) => a - b)).toEqual(numbers);
    expect(new Set(rows.map(({ uuid }) => uuid)).size).toBe(250);
  });

  test('historicalMigration keeps old timestamps, marks the events, and applies them in order', async () => {
    const rows = await send(
      'imported',
      30,
      (client) => {
        for (let n = 0; n < 30; n++) {
          client.capture({
            distinctId: 'veteran',
            event: 'imported',
            timestamp: new Date(Date.UTC(2016, n, 1)),
            properties: { n, $set: { last_import: n } },
          });
        }
      },
      { historicalMigration: true },
    );
    expect(rows.map(({ properties, timestamp }) => [properties.n, timestamp.slice(0, 10)])).toEqual(
      // The list contains the newest events first.
      Array.from({ length: 30 }, (_, n) => [n, new Date(Date.UTC(2016, n, 1)).toISOString().slice(0, 10)]).reverse(),
    );
    expect(await personOf('veteran')).toMatchObject({ properties: { last_import: 29 } });
    const { rows: marks } = await services.database.query(
      `SELECT DISTINCT historical_migration FROM event WHERE event = 'imported'`,
    );
    expect(marks).toEqual([{ historical_migration: true }]);
  });

  test('no call causes an ingestion warning', async () => {
    expect(await api.warnings()).toEqual([]);
  });
});
