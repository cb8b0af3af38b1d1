// Test data for page tests and screenshots: a month of events in a mill's shop. The data is the same in each run.
import type { BrowserContext } from 'playwright-core';
import { createShopVisits, createWebsiteDashboard, storeCustomers, type VisitEvent } from './shop-website.ts';
import type { RunningConsole } from './start-console.ts';

/** The fixed current time. All events are in the past. */
export const shopTime = new Date('2026-11-24T15:04:08.000Z');

const sqlInsight = 'sqlquery';

/** For each page, a URL path with parameters that show data. Other pages use their path without parameters. */
export const views: Record<string, string> = {
  home: 'home?time=-24h',
  live: `live?open=${uuidOf(0)}`,
  events: `events?open=${uuidOf(0)}`,
  persons: 'persons?person=ada@example.com',
  warnings: 'warnings?open=error%20message_size_too_large',
  cohorts: 'cohorts?cohort=1',
  sql: `sql?insight=${sqlInsight}`,
  dashboards: 'dashboards?dashboard=1',
  insights: `insights?insight=new&query=${encodeURIComponent(
    JSON.stringify({
      kind: 'TrendsQuery',
      dateRange: { date_from: '-14d' },
      interval: 'day',
      series: [{ kind: 'EventsNode', event: '$pageview', name: '$pageview', math: 'dau' }],
      breakdownFilter: { breakdown: '$device_type', breakdown_type: 'event' },
      compareFilter: { compare: true },
    }),
  )}`,
};

function uuidOf(at: number): string {
  return `01a208ec-77f1-7c02-b1e4-${String(at).padStart(12, '0')}`;
}

const people = [
  ['ada@example.com', 'Ada Lovelace', 'pro', 'Berlin', 'DE'],
  ['grace@example.com', 'Grace Hopper', 'pro', 'Lyon', 'FR'],
  ['lin@example.com', 'Lin Lanying', 'free', 'Porto', 'PT'],
  ['emmy@example.com', 'Emmy Noether', 'free', 'Erlangen', 'DE'],
  ['hedy@example.com', 'Hedy Lamarr', 'team', 'Vienna', 'AT'],
  ['katherine@example.com', 'Katherine Johnson', 'free', 'Bergen', 'NO'],
] as const;
const personId = (at: number) => `0a7e1d52-9c1f-4a53-8a44-${String(at).padStart(12, '0')}`;

const happenings: [event: string, library: string, properties: object][] = [
  ['order placed', 'web', { total: 42, items: 3, currency: 'EUR', coupon: null, path: '/checkout' }],
  [
    '$pageview',
    'web',
    { path: '/shelf/rye', $pathname: '/shelf/rye', $browser: 'Firefox', $referring_domain: 'search.example' },
  ],
  ['product added', 'web', { sku: 'mill-60', price: 14.5 }],
  ['search', 'web', { words: 'rye flour', results: 12 }],
  ['$identify', 'posthog-ios', { $anon_distinct_id: 'anon-77c1' }],
  [
    '$pageview',
    'web',
    { path: '/', $pathname: '/', $browser: 'Safari', $referring_domain: '$direct', utm_source: 'letter' },
  ],
  ['$feature_flag_called', 'web', { $feature_flag: 'new-checkout', $feature_flag_response: 'test' }],
  ['invoice paid', 'posthog-node', { amount: 120, currency: 'EUR', $groups: { company: 'acme' } }],
  ['job finished', 'posthog-python', { took_ms: 1900, job: 'restock' }],
  ['product added', 'web', { sku: 'rye-25', price: 4.9 }],
  ['$pageleave', 'web', { path: '/shelf/rye', seconds: 41 }],
];

interface ShopEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  person_id: string;
  person_properties: object;
  timestamp: string;
  properties: Record<string, unknown>;
}

/** Creates events, newest first. Older events are less frequent. */
function events(count: number): ShopEvent[] {
  return Array.from({ length: count }, (_, at) => {
    const [event, $lib, properties] = happenings[at % happenings.length] ?? ['seen', 'web', {}];
    const who = (at * 7 + Math.floor(at / 5)) % people.length;
    const [email = '', name, plan, city, country] = people[who] ?? [];
    const ago = Math.round(200 + at * 173 + (at * at * 1000) / 2);
    return {
      uuid: uuidOf(at),
      event,
      distinct_id: email,
      person_id: personId(who),
      person_properties: { email, name, plan },
      timestamp: new Date(shopTime.getTime() - ago).toISOString(),
      properties: {
        ...{ ...properties, $lib, $os: 'Linux', $device_type: 'Desktop' },
        ...{ $geoip_city_name: city, $geoip_country_code: country, $session_id: `s-${who}-${Math.floor(at / 30)}` },
      },
    };
  });
}

export async function nameCornerShop(console: RunningConsole): Promise<void> {
  await console.query(
    `UPDATE environment SET name = 'Corner shop', timezone = 'Europe/Berlin', api_token = 'phc_corner_shop_public_key'
      WHERE id = $1`,
  );
  await console.query(`UPDATE project SET name = 'Corner shop' WHERE id = $1`);
  await console.query(`UPDATE "user" SET first_name = 'Ada', last_name = 'Lovelace', email = 'ada@example.com'`, []);
}

/**
 * Fills the project with data. Events and warnings are written directly to the database, as by the consumer. All other
 * records are created through the API.
 */
export async function fillCornerShop(console: RunningConsole): Promise<void> {
  await nameCornerShop(console);
  await console.query('UPDATE environment SET ingested_event = true WHERE id = $1');
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
  for (const [at, [email, name, plan]] of people.entries()) {
    const since = new Date(shopTime.getTime() - (at + 1) * 40 * 3_600_000).toISOString();
    await console.storePerson(
      email,
      { email, name, plan, $browser: at % 2 === 0 ? 'Firefox' : 'Safari' },
      {
        uuid: personId(at),
        since,
      },
    );
  }
  const visits = createShopVisits(shopTime);
  await storeCustomers(console, visits.customers);
  await storeEvents(console, [...events(150), ...visits.events.map(toShopEvent)]);
  await storeDefinitions(console);
  await storeWarnings(console);
  await makeFlags(console);
  await makeCohorts(console);
  await makeExport(console);
  await storeGroups(console);
  await storePeople(console);
  await createWebsiteDashboard(console);
  await makeSqlInsight(console);
  await console.api('POST', 'subscriptions', {
    ...{ title: 'Orders of the week', target_type: 'email', target_value: 'ada@example.com, grace@example.com' },
    ...{ frequency: 'weekly', byweekday: ['monday'], start_date: '2026-11-02T08:00:00Z' },
  });
}

async function makeSqlInsight(console: RunningConsole): Promise<void> {
  await console.api('POST', 'insight_variables', {
    ...{ name: 'Plan', type: 'List', values: ['free', 'team', 'pro'], default_value: 'pro' },
  });
  const query = `SELECT event, count() AS events, max(timestamp) AS last
FROM events
WHERE person.properties.plan = {variables.plan}
GROUP BY event
ORDER BY events DESC`;
  const { id } = await console.api<{ id: number }>('POST', 'insights', {
    ...{ name: 'Events by name', saved: true },
    query: { kind: 'DataVisualizationNode', source: { kind: 'HogQLQuery', query } },
  });
  await console.query('UPDATE insight SET short_id = $2 WHERE id = $1', [id, sqlInsight]);
}

const toShopEvent = ({ customer, timestamp, ...event }: VisitEvent): ShopEvent => ({
  ...event,
  distinct_id: customer.distinctId,
  person_id: customer.uuid,
  person_properties: customer.properties,
  timestamp: timestamp.toISOString(),
});

async function storeEvents(console: RunningConsole, all: readonly ShopEvent[]): Promise<void> {
  const json = JSON.stringify(all);
  const rows = `jsonb_to_recordset(('[' || $$${json.slice(1, -1)}$$ || ']')::jsonb)
    AS row(uuid uuid, event text, distinct_id text, person_id uuid, person_properties jsonb, timestamp timestamptz, properties jsonb)`;
  await console.query(
    `INSERT INTO event_identity (project_id, uuid, timestamp) SELECT $1, uuid, timestamp FROM ${rows}`,
  );
  await console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, person_mode,
                        properties, captured_at, created_at)
     SELECT $1, timestamp, uuid, event, distinct_id, person_id, person_properties, 0, properties,
            timestamp + interval '90 ms', timestamp + interval '300 ms' FROM ${rows}`,
  );
}

/** Stores definitions directly in the database, as the consumer does. Two of them have notes from users. */
async function storeDefinitions(console: RunningConsole): Promise<void> {
  const times = [shopTime.toISOString()];
  await console.query(
    `INSERT INTO event_definition (project_id, name, created_at, last_seen_at, updated_at)
     SELECT project_id, event, min(timestamp), max(timestamp), $1 FROM event GROUP BY project_id, event`,
    times,
  );
  await console.query(
    `INSERT INTO property_definition (project_id, type, name, property_type, created_at, last_seen_at, updated_at)
     SELECT DISTINCT project_id, 1, name, 'String', $1::timestamptz, $1::timestamptz, $1::timestamptz
       FROM event, jsonb_object_keys(properties) AS name`,
    times,
  );
  await console.query(
    `UPDATE event_definition SET description = 'A customer paid. Sent by the checkout page.', tags = '{checkout,revenue}',
            verified = true WHERE name = 'order placed'`,
    [],
  );
  await console.query(`UPDATE event_definition SET hidden = true WHERE name = 'job finished'`, []);
}

async function storeWarnings(console: RunningConsole): Promise<void> {
  const kinds = [
    ['message_size_too_large', 'error', 3, '{"eventUuid": "01a208ec-77f1-7c02-b1e4-000000000900", "size": 1433600}'],
    ['cannot_merge_already_identified', 'warning', 12, '{"sourcePersonDistinctId": "lin@example.com"}'],
    ['ignored_invalid_timestamp', 'warning', 41, '{"event": "order placed", "distinctId": "lin@example.com"}'],
  ] as const;
  for (const [at, [type, severity, count, details]] of kinds.entries()) {
    await console.query(
      `INSERT INTO ingestion_warning (project_id, id, type, severity, details, count, timestamp, stored_at)
       SELECT $1, ('0c208ec0-77f1-4c02-b1e4-' || lpad((n * 10 + ${at})::text, 12, '0'))::uuid, '${type}', '${severity}',
              '${details}', 1 + ${count} * n % 5, moment, moment
         FROM generate_series(1, 9) AS n,
              LATERAL (SELECT '${shopTime.toISOString()}'::timestamptz - n * ${at + 1} * interval '47 minutes' AS moment)`,
    );
  }
}

async function makeCohorts(console: RunningConsole): Promise<void> {
  const about = (key: string, operator: string, value: unknown) => ({ key, type: 'person', operator, value });
  const any = (...groups: object[][]) => ({
    properties: { type: 'OR', values: groups.map((values) => ({ type: 'AND', values })) },
  });
  for (const body of [
    {
      ...{ name: 'Pays, or may soon', description: 'For the letter of the month' },
      filters: any([about('plan', 'exact', ['pro'])], [about('plan', 'exact', ['team']), about('email', 'is_set', '')]),
    },
    { name: 'With Safari', filters: any([about('$browser', 'exact', ['Safari'])]) },
    { name: 'Invited to the tasting', is_static: true, _create_static_person_ids: [personId(0), personId(2)] },
  ])
    await console.api('POST', 'cohorts', body);
  await console.query(
    `UPDATE cohort SET count = coalesce(count, 2 + id), calculate_at = NULL, last_calculation = $1::timestamptz - interval '9 minutes',
            created_at = $1::timestamptz - id * interval '1 day'`,
    [shopTime.toISOString()],
  );
}

async function makeFlags(console: RunningConsole): Promise<void> {
  const about = (key: string, operator: string, value: unknown) => ({ key, type: 'person', operator, value });
  const flags = [
    { key: 'maintenance-banner', name: 'Says that we restock tonight', active: false },
    {
      key: 'price-test',
      name: 'Prices with and without tax',
      tags: ['growth'],
      filters: {
        groups: [{ properties: [], rollout_percentage: 50 }],
        multivariate: {
          variants: [
            { key: 'control', rollout_percentage: 50 },
            { key: 'with-tax', rollout_percentage: 50 },
          ],
        },
      },
    },
    {
      key: 'new-checkout',
      name: 'Checkout on one page',
      tags: ['checkout'],
      filters: {
        groups: [
          { properties: [about('plan', 'exact', ['pro'])], rollout_percentage: 100 },
          { properties: [], rollout_percentage: 20 },
        ],
      },
    },
  ];
  for (const flag of flags) await console.api('POST', 'feature_flags', flag);
  await console.query(
    `UPDATE feature_flag SET updated_at = $1::timestamptz - id * interval '1 hour', created_at = $1::timestamptz - interval '9 days'`,
    [shopTime.toISOString()],
  );
}

async function storePeople(console: RunningConsole): Promise<void> {
  const organization = '(SELECT organization_id FROM project WHERE id = $1)';
  const id = (at: number) => `'0b208ec0-77f1-4c02-b1e4-00000000000${at}'`;
  await console.query(
    `WITH person AS (INSERT INTO "user" (uuid, distinct_id, email, first_name, last_name)
                     VALUES (${id(1)}, 'grace', 'grace@example.com', 'Grace', 'Hopper') RETURNING id)
     INSERT INTO membership (id, organization_id, user_id, joined_at)
     SELECT ${id(2)}, ${organization}, id, now() - interval '30 days' FROM person`,
  );
  await console.query(
    `INSERT INTO organization_invite (id, organization_id, target_email, email_key, token_hash, created_at)
     VALUES (${id(3)}, ${organization}, 'emmy@example.com', 'emmy@example.com', repeat('0', 64), now() - interval '1 day')`,
  );
  await console.query(
    `WITH made AS (INSERT INTO role (id, organization_id, name) VALUES (${id(5)}, ${organization}, 'Counter') RETURNING id)
     INSERT INTO role_membership (id, role_id, membership_id) SELECT ${id(6)}, id, ${id(2)} FROM made`,
  );
  await console.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, created_at)
     VALUES (${id(4)}, ${organization}, 'shop.example.com', 'corner-shop-challenge', now() - interval '2 days')`,
  );
}

async function storeGroups(console: RunningConsole): Promise<void> {
  const companies = { acme: 'Acme Bakery', mill: 'Mill & Sons', north: 'North Cafés' };
  await console.query(
    `INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at) VALUES ($1, 'company', 0, now())`,
  );
  for (const [key, name] of Object.entries(companies)) {
    await console.query(
      `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at)
       VALUES ($1, 0, '${key}', '${JSON.stringify({ name, plan: 'team' })}', now() - interval '40 days')`,
    );
  }
}

async function makeExport(console: RunningConsole): Promise<void> {
  const config = { host: 'warehouse.example.com', database: 'analytics', user: 'millrace', password: 'not-shown' };
  const destination = { type: 'Postgres', config };
  const { id } = await console.api<{ id: string }>('POST', 'batch_exports', {
    ...{ name: 'Warehouse', destination, interval: 'hour' },
  });
  await console.query(
    `INSERT INTO batch_export_run (id, batch_export_id, data_interval_start, data_interval_end, status, records_completed,
                                   bytes_exported, created_at, finished_at)
     SELECT ('0e208ec0-77f1-4c02-b1e4-' || lpad(n::text, 12, '0'))::uuid, $1, hour - interval '1 hour', hour, 'Completed',
            900 - n * 70, 310000 - n * 9000, hour + interval '1 minute', hour + interval '2 minutes'
       FROM generate_series(0, 5) AS n,
            LATERAL (SELECT date_trunc('hour', $2::timestamptz) - n * interval '1 hour' AS hour)`,
    [id, shopTime.toISOString()],
  );
}

/** Simulates a running consumer for the Live page, with the stream, the figures and the lag. */
export async function simulateConsumer(visitor: BrowserContext): Promise<void> {
  const frames = events(24)
    .reverse()
    .flatMap((event, at) => {
      const stored = { ...event, outcome: 'stored', stored_at: event.timestamp };
      const dropped = {
        ...{ uuid: uuidOf(900), event: 'invoice paid', distinct_id: 'acme-billing', person_id: null },
        ...{ timestamp: event.timestamp, properties: { $lib: 'posthog-node' }, outcome: 'dropped', severity: 'error' },
        ...{ reason: 'message_size_too_large', details: { size: 1_433_600 } },
      };
      return at === 20 ? [stored, dropped] : [stored];
    });
  const hello = 'event: hello\ndata: {"stored":true,"why":null,"lag_seconds":0.3}\n\n';
  const body = hello + frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
  // A mocked response cannot remain open. Therefore, the first stream request of each page gets a complete response,
  // and the second request remains pending.
  let isNew = true;
  visitor.on('request', (request) => {
    if (request.isNavigationRequest()) isNew = true;
  });
  await visitor.route(/\/live\/events/, async (route) => {
    if (isNew) await route.fulfill({ contentType: 'text/event-stream', body });
    isNew = false;
  });
  await visitor.route(/\/live\/stats/, (route) =>
    route.fulfill({ json: { users_on_product: 38, window_seconds: 60 } }),
  );
  await visitor.route(/\/api\/projects\/\d+\/health$/, async (route) => {
    const response = await route.fetch().catch(() => null);
    const health: object | null = await response?.json().catch(() => null);
    if (!health) return;
    const per_minute = { stored: 744, dropped: [{ reason: 'message_size_too_large', count: 1 }] };
    const sources = { log: 'ok', events: 'ok', warnings: 'ok', dead_letters: 'ok', services: 'ok' };
    const names = ['ingest-gateway', 'event-consumer', 'management-api', 'delivery-worker'];
    const services = names.map((name, at) => ({ name, connections: [3, 4, 6, 2][at] }));
    const read_at = new Date(shopTime.getTime() - 300).toISOString();
    const topic = (name: string, waiting: number, accepted_per_minute: number, oldest_seconds: number) => ({
      ...{ topic: name, waiting, accepted_per_minute, oldest_seconds, read_at },
    });
    const topics = [topic('live', 4, 747, 0.3), topic('historical', 18_211, 41_900, 26), topic('overflow', 0, 0, 0)];
    await route.fulfill({
      json: {
        ...{ ...health, checked_at: shopTime.toISOString(), alarm: null, visible_after_seconds: 0.3, per_minute },
        ...{ topics, dead_letters_waiting: 0, services, sources },
      },
    });
  });
}
