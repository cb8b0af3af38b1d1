// Creates a second project with example data: 30 days of a fictional shop, four insights and a dashboard.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from './connection-file.ts';
import { fetchJson } from './fetch-json.ts';

export const exampleShopFile = 'example-shop.json';

/** The records that were created so far. After an interruption, the next start continues from here. */
interface ExampleShop {
  projectId: number;
  projectApiKey: string;
  /** End of the 30 days, in milliseconds since the epoch. */
  madeAt: number;
  dashboardId?: number;
}

type Reached = Pick<Connection, 'apiUrl' | 'ingestUrl' | 'organizationId' | 'environmentId' | 'personalApiKey'>;

/**
 * Creates the project once, through the API. If the owner has changed or deleted records, does not create them again.
 * @param directory the directory for the file that records what was created
 * @returns the path of the project's dashboard in the console, or null if the dashboard was deleted
 */
export async function ensureExampleShop(connection: Reached, directory: string): Promise<string | null> {
  const file = join(directory, exampleShopFile);
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ExampleShop) : null;
  const save = (shop: ExampleShop) => writeFileSync(file, `${JSON.stringify(shop, null, 2)}\n`, { mode: 0o600 });
  const api = apiOf(connection);
  const shop = known ?? (await makeProject(api, connection));
  save(shop);
  if (shop.dashboardId === undefined) {
    await sendEvents(connection, shop);
    shop.dashboardId = await makeDashboard(api, shop);
    save(shop);
  }
  const isThere = await api.exists(`/api/projects/${shop.projectId}/dashboards/${shop.dashboardId}/`);
  return isThere ? `/console/projects/${shop.projectId}/dashboards?dashboard=${shop.dashboardId}` : null;
}

type Api = ReturnType<typeof apiOf>;

function apiOf({ apiUrl, personalApiKey }: Reached) {
  const headers = { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' };
  return {
    async send<Content>(method: 'POST' | 'PATCH', path: string, body: object): Promise<Content> {
      return (await fetchJson(`${apiUrl}${path}`, { method, headers, body: JSON.stringify(body) })) as Content;
    },
    async exists(path: string): Promise<boolean> {
      return (await fetch(`${apiUrl}${path}`, { headers, signal: AbortSignal.timeout(30_000) })).ok;
    },
  };
}

/** Creates the project, and then selects the user's own project again, which the console then opens. */
async function makeProject(api: Api, { organizationId, environmentId }: Reached): Promise<ExampleShop> {
  const path = `/api/organizations/${organizationId}/projects/`;
  const made = await api.send<{ id: number; api_token: string }>('POST', path, { name: 'Example shop' });
  await api.send('PATCH', '/api/users/@me/', { set_current_team: environmentId });
  return { projectId: made.id, projectApiKey: made.api_token, madeAt: Date.now() };
}

const eventsAtOnce = 1000;

async function sendEvents({ ingestUrl }: Reached, { projectApiKey, madeAt }: ExampleShop): Promise<void> {
  const events = shopEvents(madeAt);
  for (let at = 0; at < events.length; at += eventsAtOnce) {
    const batch = events.slice(at, at + eventsAtOnce);
    const body = JSON.stringify({ api_key: projectApiKey, historical_migration: true, batch });
    await fetchJson(`${ingestUrl}/batch/`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }
}

const event = (name: string, more: object = {}) => ({ kind: 'EventsNode', event: name, name, ...more });
const lastMonth = { dateRange: { date_from: '-30d' } };

const insights: readonly [name: string, description: string, source: object][] = [
  [
    'Orders',
    'Orders per day, compared to the previous two weeks.',
    {
      kind: 'TrendsQuery',
      dateRange: { date_from: '-14d' },
      series: [event('order placed')],
      compareFilter: { compare: true },
    },
  ],
  [
    'Visitors by browser',
    'Unique visitors per day.',
    {
      kind: 'TrendsQuery',
      ...lastMonth,
      series: [event('$pageview', { math: 'dau' })],
      breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' },
    },
  ],
  [
    'From product view to order',
    'Share of visitors who view a product, add it to the cart and order within a week.',
    {
      kind: 'FunnelsQuery',
      ...lastMonth,
      series: ['product viewed', 'product added', 'order placed'].map((name) => event(name)),
      funnelsFilter: { funnelWindowInterval: 7, funnelWindowIntervalUnit: 'day' },
    },
  ],
  [
    'Visitor retention',
    'Share of first-time visitors who return in the following weeks.',
    {
      kind: 'RetentionQuery',
      ...lastMonth,
      retentionFilter: {
        period: 'Week',
        totalIntervals: 5,
        retentionType: 'retention_first_time',
        targetEntity: { id: '$pageview', name: '$pageview', type: 'events' },
        returningEntity: { id: '$pageview', name: '$pageview', type: 'events' },
      },
    },
  ],
];

async function makeDashboard(api: Api, { projectId }: ExampleShop): Promise<number> {
  const base = `/api/projects/${projectId}`;
  const { id } = await api.send<{ id: number }>('POST', `${base}/dashboards/`, {
    name: 'Shop overview',
    pinned: true,
    description: 'Sample data created by npm start.',
  });
  for (const [name, description, source] of insights) {
    const query = { kind: 'InsightVizNode', source };
    await api.send('POST', `${base}/insights/`, { name, description, query, saved: true, dashboards: [id] });
  }
  return id;
}

interface ShopEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: string;
  properties: Record<string, unknown>;
}

interface Visitor {
  id: string;
  device: object;
}

const dayMs = 86_400_000;
const days = 30;
const newVisitorsADay = 14;
const browsers = ['Chrome', 'Chrome', 'Chrome', 'Safari', 'Safari', 'Firefox', 'Edge'] as const;
const systems = ['Mac OS X', 'Windows', 'Android', 'iOS', 'Linux'] as const;
const cities = ['Berlin', 'Lyon', 'Porto', 'Vienna', 'Bergen', 'Gdansk'] as const;
const countries = { Berlin: 'DE', Lyon: 'FR', Porto: 'PT', Vienna: 'AT', Bergen: 'NO', Gdansk: 'PL' } as const;
const isMobile: ReadonlySet<string> = new Set(['Android', 'iOS']);
/** Traffic sources: the domain, and for some of them the campaign. */
const origins = [
  ['$direct'],
  ['$direct'],
  ['$direct'],
  ['www.google.com'],
  ['www.google.com'],
  ['duckduckgo.com'],
  ['news.ycombinator.com'],
  ['www.instagram.com', 'instagram', 'social', 'autumn-bread'],
  ['$direct', 'newsletter', 'email', 'autumn-bread'],
] as const;
const firstNames = ['Ada', 'Grace', 'Lin', 'Emmy', 'Hedy', 'Katherine', 'Alan', 'Edsger', 'Barbara', 'Donald'] as const;
const products = [
  ['rye-flour', 4.9],
  ['spelt-flour', 5.4],
  ['hand-mill', 189],
  ['sourdough-kit', 24.5],
  ['proofing-basket', 19],
  ['baking-stone', 42],
] as const;

/**
 * Generates the shop's events. The same `end` always results in the same events, so events that are sent twice are
 * stored once.
 * @param end the end of the 30 days, in milliseconds since the epoch
 */
function shopEvents(end: number): ShopEvent[] {
  const random = seeded(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  // Use a separate generator, so that these numbers do not influence visitor behavior.
  const chance = seeded(11);
  const events: ShopEvent[] = [];
  const begin = end - days * dayMs;
  const addEvent = (name: string, who: Visitor, at: number, properties: object = {}) => {
    if (at >= end) return;
    const uuid = uuidOf(`${end} ${events.length}`);
    const all = { ...who.device, ...properties };
    events.push({ uuid, event: name, distinct_id: who.id, timestamp: new Date(at).toISOString(), properties: all });
  };

  for (let day = 0; day < days; day += 1) {
    const date = new Date(begin + day * dayMs);
    const isWeekend = [0, 6].includes(date.getUTCDay());
    // Traffic grows over the days and is lower on weekends.
    const visitors = Math.round(newVisitorsADay * (0.7 + (0.6 * day) / days) * (isWeekend ? 0.6 : 1));
    for (let number = 0; number < visitors; number += 1) {
      const [browser, system, city] = [pick(browsers), pick(systems), pick(cities)];
      const device = {
        $browser: browser,
        $os: system,
        $device_type: isMobile.has(system) ? 'Mobile' : 'Desktop',
        $geoip_city_name: city,
        $geoip_country_code: countries[city],
        $lib: 'web',
      };
      const anonymous = { id: `visitor-${uuidOf(`${end} ${day} ${number}`).slice(0, 8)}`, device };
      let who: Visitor = anonymous;
      let at = begin + day * dayMs + Math.floor(random() * dayMs);
      for (let visit = 0; at < end; visit += 1) {
        who = shopping(who, { at, visit });
        // Two in five visitors return within a few days. Visitors who have ordered return more often.
        if (random() > (who.id === anonymous.id ? 0.4 : 0.7)) break;
        at += (1 + Math.floor(random() * 8)) * dayMs + Math.floor((random() - 0.5) * 6 * 3_600_000);
      }
    }
  }
  return events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));

  /** Returns properties for all events of a visit: the session, and the visitor's traffic source. */
  function visitOf(id: string, at: number): object {
    const [domain, source, medium, campaign] = origins[Math.floor(chance() * origins.length)] ?? ['$direct'];
    return {
      $session_id: uuidOf(`${end} ${id} ${at}`),
      $referring_domain: domain,
      ...(source !== undefined && { utm_source: source, utm_medium: medium, utm_campaign: campaign }),
    };
  }

  /**
   * Generates one visit.
   * @returns the visitor, who is identified after an order
   */
  function shopping(who: Visitor, { at, visit }: { at: number; visit: number }) {
    const minute = () => Math.floor((0.3 + random() * 3) * 60_000);
    let time = at;
    let known = { ...who, device: { ...who.device, ...visitOf(who.id, at) } };
    addEvent('$pageview', known, time, { $current_url: 'https://shop.example.com/', $pathname: '/' });
    if (random() < 0.25) return who;
    for (let looks = 1 + Math.floor(random() * 3); looks > 0; looks -= 1) {
      const [product, price] = pick(products);
      time += minute();
      addEvent('$pageview', known, time, {
        $current_url: `https://shop.example.com/${product}`,
        $pathname: `/${product}`,
      });
      addEvent('product viewed', known, time + 500, { product, price });
      if (random() > 0.42) continue;
      time += minute();
      addEvent('product added', known, time, { product, price });
      if (random() > 0.55) continue;
      time += minute();
      if (visit === 0 || known.id.startsWith('visitor-')) {
        const name = pick(firstNames);
        const address = `${name.toLowerCase()}.${known.id.slice(-6)}@customers.example`;
        const plan = random() < 0.2 ? 'club' : 'guest';
        const properties = { $anon_distinct_id: known.id, $set: { email: address, name, plan } };
        known = { ...known, id: address };
        addEvent('$identify', known, time, properties);
      }
      const items = 1 + Math.floor(random() * 3);
      const total = Math.round(price * items * 100) / 100;
      addEvent('order placed', known, time + 2000, { total, items, currency: 'EUR', product });
      break;
    }
    return { ...who, id: known.id };
  }
}

/** Creates a generator of numbers from 0 to 1 that repeats the same sequence for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
