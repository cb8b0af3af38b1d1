// The corner shop's website: a month of visits, which are the same in each run, and a dashboard about them.
import { seededRandom } from '@millrace/testing';
import type { RunningConsole } from './start-console.ts';

interface Customer {
  uuid: string;
  distinctId: string;
  properties: { email: string; name: string; plan: string };
  firstSeen: Date;
}

/** An event to store. It does not contain the customer's properties. */
export interface VisitEvent {
  uuid: string;
  event: string;
  customer: Customer;
  timestamp: Date;
  properties: Record<string, unknown>;
}

const days = 30;
const firstNames = [
  'Maria',
  'Jonas',
  'Sofia',
  'Luca',
  'Emma',
  'Noah',
  'Clara',
  'Hugo',
  'Ines',
  'Oskar',
  'Nora',
  'Paul',
];
const lastNames = [
  'Silva',
  'Meyer',
  'Rossi',
  'Dubois',
  'Jensen',
  'Novak',
  'Garcia',
  'Weber',
  'Costa',
  'Moreau',
  'Lind',
];
const plans = ['free', 'free', 'free', 'pro', 'team'];
const cities = [
  ['Berlin', 'DE'],
  ['Berlin', 'DE'],
  ['Lyon', 'FR'],
  ['Porto', 'PT'],
  ['Vienna', 'AT'],
  ['Bergen', 'NO'],
] as const;
const devices = [
  ['Desktop', 'Windows', 'Chrome'],
  ['Desktop', 'Mac OS X', 'Safari'],
  ['Desktop', 'Linux', 'Firefox'],
  ['Mobile', 'iOS', 'Mobile Safari'],
  ['Mobile', 'Android', 'Chrome'],
] as const;
const origins = [
  { $referring_domain: '$direct' },
  { $referring_domain: '$direct' },
  { $referring_domain: 'www.google.com', $referrer: 'https://www.google.com/' },
  { $referring_domain: 'www.google.com', $referrer: 'https://www.google.com/' },
  { $referring_domain: 'duckduckgo.com', $referrer: 'https://duckduckgo.com/' },
  { $referring_domain: '$direct', utm_source: 'newsletter', utm_medium: 'email', utm_campaign: 'november' },
] as const;
const paths = ['/', '/shelf/rye', '/shelf/wheat', '/shelf/spelt', '/recipes/sourdough', '/recipes/brioche', '/about'];
const hoursOfDay = [8, 9, 10, 11, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 20, 21, 22];

/** Creates the visits of a month. @param now the current time; all events are in the past */
export function createShopVisits(now: Date): { customers: Customer[]; events: VisitEvent[] } {
  const random = seededRandom(20_261_124);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const customers: Customer[] = [];
  const events: VisitEvent[] = [];
  const midnight = new Date(now);
  midnight.setUTCHours(0, 0, 0, 0);
  for (let ago = days; ago >= 0; ago -= 1) {
    const day = midnight.getTime() - ago * 86_400_000;
    const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
    const visits = Math.round((isWeekend ? 14 : 26) + (days - ago) * 0.6 + random() * 8);
    for (let visit = 0; visit < visits; visit += 1) {
      const start = day + pick(hoursOfDay) * 3_600_000 + Math.floor(random() * 3_600_000);
      const isNew = customers.length < 12 || random() < 0.35;
      const customer = isNew ? newCustomer(start) : recentCustomer();
      if (start < now.getTime() - 3_600_000) visitShop(customer, start);
    }
  }
  return { customers: customers.filter((one) => events.some(({ customer }) => customer === one)), events };

  function newCustomer(start: number): Customer {
    const at = customers.length;
    const name = `${firstNames[at % firstNames.length]} ${lastNames[(at * 5) % lastNames.length]}`;
    const email = `${name.toLowerCase().replace(' ', '.')}${at}@example.com`;
    const uuid = `0b7e1d52-9c1f-4a53-8a44-${String(at).padStart(12, '0')}`;
    const customer = {
      uuid,
      distinctId: email,
      properties: { email, name, plan: pick(plans) },
      firstSeen: new Date(start),
    };
    customers.push(customer);
    return customer;
  }

  /** Newer customers return more often than older customers. */
  function recentCustomer(): Customer {
    return customers[Math.floor(Math.sqrt(random()) * customers.length)] as Customer;
  }

  function visitShop(customer: Customer, start: number): void {
    const [$geoip_city_name, $geoip_country_code] = pick(cities);
    const [$device_type, $os, $browser] = pick(devices);
    const session = {
      $session_id: `visit-${start}`,
      $geoip_city_name,
      $geoip_country_code,
      $device_type,
      $os,
      $browser,
    };
    let time = start;
    const record = (event: string, properties: object = {}) => {
      const uuid = `01a20000-0000-7000-8000-${String(events.length).padStart(12, '0')}`;
      events.push({
        ...{ uuid, event, customer, timestamp: new Date(time) },
        properties: { ...session, $lib: 'web', ...properties },
      });
      time += 4_000 + Math.floor(random() * 90_000);
    };
    const view = (path: string, more: object = {}) =>
      record('$pageview', {
        $pathname: path,
        $host: 'shop.example.com',
        $current_url: `https://shop.example.com${path}`,
        ...more,
      });

    view(pick(paths), pick(origins));
    const pages = random() < 0.4 ? 0 : 1 + Math.floor(random() * 5);
    for (let page = 0; page < pages; page += 1) view(pick(paths));
    if (pages === 0) return;
    if (random() < 0.2) record('search', { words: pick(['rye flour', 'yeast', 'baking tin']), results: 12 });
    if (random() > 0.45) return;
    const price = pick([4.9, 7.5, 14.5, 22]);
    record('product added', { sku: pick(['mill-60', 'rye-25', 'spelt-10']), price });
    if (random() > 0.55) return;
    view('/checkout');
    record('order placed', { total: price * pick([1, 1, 2, 3]), items: pick([1, 1, 2, 3]), currency: 'EUR' });
  }
}

export async function storeCustomers(console: RunningConsole, customers: readonly Customer[]): Promise<void> {
  const rows = `jsonb_to_recordset($$${JSON.stringify(customers)}$$)
    AS row(uuid uuid, "distinctId" text, properties jsonb, "firstSeen" timestamptz)`;
  await console.query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, properties, is_identified, created_at)
     SELECT $1, uuid, "distinctId", properties, true, "firstSeen" FROM ${rows}`,
  );
  await console.query(
    `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT $1, "distinctId", uuid FROM ${rows}`,
  );
}

export async function createWebsiteDashboard(console: RunningConsole): Promise<void> {
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', {
    ...{ name: 'Website', description: 'Visitors and orders of the last 30 days' },
    filters: { date_from: '-30d', interval: 'day' },
  });
  const steps = ['$pageview', 'product added', 'order placed'].map((event) => ({ kind: 'EventsNode', event }));
  const insights: [name: string, query: object][] = [
    ['Visitors', { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview', math: 'dau' }] }],
    ['From visit to order', { kind: 'FunnelsQuery', series: steps }],
    [
      'Revenue',
      {
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'order placed', math: 'sum', math_property: 'total' }],
        trendsFilter: { display: 'ActionsBar', aggregationAxisPostfix: ' €' },
      },
    ],
    [
      'Retention by week',
      {
        kind: 'RetentionQuery',
        retentionFilter: {
          ...{ period: 'Week', totalIntervals: 4, retentionType: 'retention_first_time' },
          targetEntity: { id: '$pageview', type: 'events' },
          returningEntity: { id: '$pageview', type: 'events' },
        },
      },
    ],
  ];
  for (const [name, source] of insights) {
    await console.api('POST', 'insights', {
      ...{ name, saved: true, dashboards: [id] },
      query: { kind: 'InsightVizNode', source },
    });
  }
}
