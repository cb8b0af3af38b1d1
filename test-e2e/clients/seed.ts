import { eventually } from '@millrace/testing';
import { createManagementClient } from '../support/management-client.ts';
import { post } from '../support/post.ts';
import type { RunningServices } from '../support/start-services.ts';

/** The content of the seeded project. Each list has more records than a program requests per page. */
export const seeded = {
  events: 2500,
  /** Number of events of 300 kB each. */
  largeEvents: 10,
  persons: 250,
  feature_flags: 130,
  cohorts: 120,
  annotations: 210,
  insights: 105,
  dashboards: 12,
} as const;

export type SeededList = 'feature_flags' | 'cohorts' | 'annotations' | 'insights' | 'dashboards';

export const purchaseQuery = {
  kind: 'InsightVizNode',
  source: {
    kind: 'TrendsQuery',
    dateRange: { date_from: '-30d' },
    series: [{ kind: 'EventsNode', event: 'purchase', custom_name: 'Purchases', math: 'total' }],
  },
};

export interface SeededProject {
  /** IDs of the created records, in order of creation. */
  ids: Record<SeededList, number[]>;
  eventUuids: string[];
}

/**
 * Sends events through the gateway, creates all other records through the API, and waits until everything is stored.
 */
export async function seedProject(services: RunningServices): Promise<SeededProject> {
  const eventUuids = await sendEvents(services);
  const create = (list: SeededList, body: (index: number) => object) => createRecords(services, list, body);
  const ids = {
    feature_flags: await create('feature_flags', (index) => ({
      key: `flag-${index}`,
      name: `Flag ${index}`,
      filters: { groups: [{ properties: [], rollout_percentage: index % 101 }] },
    })),
    cohorts: await create('cohorts', (index) => ({ name: `Cohort ${index}`, is_static: true })),
    annotations: await create('annotations', (index) => ({
      content: `Release ${index}`,
      date_marker: eventTime(index),
      scope: 'project',
    })),
    insights: await create('insights', (index) => ({ name: `Insight ${index}`, query: purchaseQuery })),
    dashboards: await create('dashboards', (index) => ({ name: `Dashboard ${index}` })),
  };
  await eventually(
    async () => {
      const { rows } = await services.database.query('SELECT count(*)::int AS stored FROM event');
      expect(rows).toEqual([{ stored: seeded.events }]);
    },
    { what: 'Storing events' },
  );
  expect(await createManagementClient(services).persons()).toHaveLength(seeded.persons);
  return { ids, eventUuids };
}

type EventName = '$ai_generation' | '$groupidentify' | '$pageview' | 'purchase';

/**
 * Returns an event's name. Five companies are identified, five persons have used a language model, and a seventh of the
 * remaining events are purchases.
 */
function eventName(index: number): EventName {
  if (index % 50 === 7) return '$ai_generation';
  if (index % 500 === 3) return '$groupidentify';
  return index % 7 === 0 ? 'purchase' : '$pageview';
}

const recentEvents = 2000;
const indexes = Array.from({ length: seeded.events }, (_, index) => index);
const indexesOf = (name: EventName) => indexes.filter((index) => eventName(index) === name);
const recentIndexesOf = (name: EventName) => indexesOf(name).filter((index) => index < recentEvents);

/** The numbers that clients must compute from the events, by event name. Recent events are from the last 30 days. */
export const expected = {
  count: (name: EventName) => indexesOf(name).length,
  recentCount: (name: EventName) => recentIndexesOf(name).length,
  /** Number of persons with an event of this name. Each person has a recent event. */
  persons: (name: EventName) => new Set(recentIndexesOf(name).map((index) => index % seeded.persons)).size,
  /** Number of persons with an event of this name in the current calendar month, in UTC. */
  personsOfMonth(name: EventName): number {
    const month = new Date(start).toISOString().slice(0, 7);
    const ofMonth = recentIndexesOf(name).filter((index) => eventTime(index).startsWith(month));
    return new Set(ofMonth.map((index) => index % seeded.persons)).size;
  },
  /**
   * Number of persons who sent the event `to` within two weeks after the event `from`. Events in the list are ordered
   * from newest to oldest, at intervals of 15 minutes.
   */
  recentConversions(from: EventName, to: EventName): number {
    const isConversion = (first: number, second: number) =>
      first % seeded.persons === second % seeded.persons && first > second && (first - second) * 15 <= 14 * 24 * 60;
    const ends = recentIndexesOf(to);
    const starts = recentIndexesOf(from).filter((start) => ends.some((end) => isConversion(start, end)));
    return new Set(starts.map((start) => start % seeded.persons)).size;
  },
};

const start = Date.now();
const minute = 60_000;

/**
 * Most events are from the last 21 days. The others are 40 days old, so that clients that read month by month need
 * several requests.
 */
function eventTime(index: number): string {
  const minutesAgo = index < recentEvents ? 5 + index * 15 : 40 * 24 * 60 + index;
  return new Date(start - minutesAgo * minute).toISOString();
}

function propertiesOf(index: number): object {
  switch (eventName(index)) {
    case '$ai_generation':
      return { $ai_model: 'model-1', $ai_total_cost_usd: 0.5 };
    case '$groupidentify':
      return { $group_type: 'company', $group_key: `company-${index}`, $group_set: { name: `Company ${index}` } };
    case 'purchase':
      return { price: index };
    case '$pageview':
      return { $current_url: `https://shop.example/${index % 6}` };
  }
}

async function sendEvents({ ingestUrl, tenant }: RunningServices): Promise<string[]> {
  const events = Array.from({ length: seeded.events }, (_, index) => ({
    uuid: crypto.randomUUID(),
    event: eventName(index),
    distinct_id: `person-${index % seeded.persons}`,
    timestamp: eventTime(index),
    properties: {
      index,
      ...propertiesOf(index),
      text: index < seeded.largeEvents * 200 && index % 200 === 100 ? 'x'.repeat(300_000) : 'short',
      // Do not use the domain of the project's members, because their events are internal traffic.
      $set: { email: `person-${index % seeded.persons}@shop.example` },
    },
  }));
  for (let first = 0; first < events.length; first += 250) {
    const batch = events.slice(first, first + 250);
    const { status } = await post(`${ingestUrl}/batch/`, { api_key: tenant.projectApiKey, batch });
    expect(status).toBe(200);
  }
  return events.map(({ uuid }) => uuid);
}

async function createRecords(
  { apiUrl, tenant }: RunningServices,
  list: SeededList,
  body: (index: number) => object,
): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < seeded[list]; index += 1) {
    const response = await fetch(`${apiUrl}/api/projects/${tenant.projectId}/${list}/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.personalApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(index)),
    });
    const record = (await response.json()) as { id: number };
    expect({ list, status: response.status, record }).toMatchObject({ status: 201 });
    ids.push(record.id);
  }
  return ids;
}
