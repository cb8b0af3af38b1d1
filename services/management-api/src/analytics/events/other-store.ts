// Events that are kept in another store than PostgreSQL (`EVENT_STORE=clickhouse`), listed and counted as `store.ts` does it there.

import type { Sql } from '@millrace/db';
import {
  type Condition,
  type EventKey,
  type EventStore,
  type ListedEvent,
  type ListQuestion,
  patternProblem,
} from '@millrace/insights';
import type { Portion } from '../../sql/large-page.ts';
import type { TimePosition, TimeRange, TimeSpan } from '../../time/time-range.ts';
import { listIdsOfPerson, maxDistinctIdsShown } from '../distinct-ids/distinct-id-store.ts';
import type { PropertyFilter } from '../property-filters/property-filter.ts';
import {
  type EventFilter,
  type EventRow,
  type EventWindow,
  type EventWithTimes,
  findStarts,
  type Interval,
  readTimeOfEvent,
  sizesOfPersons,
} from './store.ts';

/** Where events are, when not in PostgreSQL alone. */
export interface OtherStore {
  events: EventStore;
  /** Of one question, at most. */
  maxMs: number;
}

export interface StoreRead {
  store: OtherStore;
  /** Persons and their ids are in PostgreSQL. */
  sql: Sql;
  projectId: number;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** As long as a search in PostgreSQL may take. */
const longestMs = 10_000;
/** More than the largest portion of a page with the largest event behind it. */
const mostBytes = 64 * 1024 * 1024;

export const budgetOf = ({ store, signal }: Pick<StoreRead, 'store' | 'signal'>) => ({
  signal,
  maxMs: Math.min(store.maxMs, longestMs),
  maxBytes: mostBytes,
});

/** When the latest event of each distinct ID happened. */
export async function findStoredLatest(
  read: Omit<StoreRead, 'sql'>,
  distinctIds: readonly string[],
): Promise<Map<string, Date>> {
  const found = await read.store.events.latest({ projectId: read.projectId, distinctIds }, budgetOf(read));
  return new Map(found.map(({ distinctId, time }) => [distinctId, new Date(time)]));
}

/** A page of events: finds its keys, and reads the events of some of them. */
export function createStoredPage(read: StoreRead) {
  const known = new Map<string, EventKey>();
  const readKeys = createStoredReader(read);
  return {
    async findKeys(sql: Sql, filter: EventFilter, window: EventWindow): Promise<TimePosition[]> {
      const keys = await findStoredKeys({ ...read, sql }, filter, window);
      for (const key of keys) known.set(key.uuid, key);
      return keys.map(({ uuid, timestamp }) => ({ timestamp: new Date(timestamp), id: uuid }));
    },
    read: (keys: TimePosition[], maxBytes: number) =>
      readKeys(
        keys.flatMap(({ id }) => known.get(id) ?? []),
        maxBytes,
      ),
  };
}

async function findStoredKeys(
  read: StoreRead,
  filter: EventFilter,
  { behind, limit, offset, isOldestFirst }: EventWindow,
): Promise<EventKey[]> {
  const range = rangeOf(filter);
  return read.store.events.keys(
    {
      ...range,
      ...usual(read, filter),
      where: await conditionOf(read, filter),
      behind: behind && {
        time: Math.max(range.from - 1, Math.min(range.to, behind.timestamp.getTime())),
        uuid: behind.id,
      },
      ...{ limit, offset, isOldestFirst },
    },
    budgetOf(read),
  );
}

/** Makes the function that reads the events of some keys in their order, up to the one that reaches `maxBytes`. */
function createStoredReader(read: StoreRead) {
  const { store, projectId } = read;
  const sizes = new Map<string, number>();

  return async (all: EventKey[], maxBytes: number): Promise<Portion<EventRow>> => {
    // Keys that did not fit are given again: what was measured is not measured twice.
    if (!all.every(({ uuid }) => sizes.has(uuid))) await measure(all);
    let before = 0;
    const given = all.filter(({ uuid }) => {
      const fits = before < maxBytes;
      before += sizes.get(uuid) ?? 0;
      return fits;
    });
    const rows = await store.events.read({ projectId, keys: given }, budgetOf(read));
    return { rows: rows.map(toRow), used: given.length };
  };

  /** The person of today, who may be much larger than the event, is shown with every one. */
  async function measure(keys: EventKey[]): Promise<void> {
    sizes.clear();
    const measured = await store.events.sizes({ projectId, keys }, budgetOf(read));
    const distinctIds = new Set(measured.map(({ distinctId }) => distinctId));
    const ofPersons = await sizesOfPersons(read.sql, projectId, [...distinctIds]);
    for (const { uuid } of keys) sizes.set(uuid, 0);
    for (const { uuid, distinctId, bytes } of measured) sizes.set(uuid, bytes + (ofPersons.get(distinctId) ?? 0));
  }
}

const usual = ({ projectId }: StoreRead, { event }: Pick<EventFilter, 'event'>) =>
  ({
    projectId,
    by: 'timestamp',
    events: event === undefined ? null : [event],
    uuid: null,
    behind: null,
  }) as const satisfies Partial<ListQuestion>;

function toRow(event: ListedEvent): EventWithTimes {
  const [properties, person_properties] = [event.properties, event.person_properties].map((text) => JSON.parse(text));
  return { ...event, properties, person_properties };
}

/** One event that PostgreSQL does not keep any more; its time is still known there. */
export async function readStored(read: StoreRead, uuid: string): Promise<EventWithTimes | undefined> {
  const time = await readTimeOfEvent(read.sql, read.projectId, uuid);
  if (time === undefined) return undefined;
  const from = time.getTime();
  const { events } = await read.store.events.list(
    { ...usual(read, {}), from, to: from + 1, where: { all: [] }, uuid, limit: 1, maxBytes: 1, isOldestFirst: false },
    budgetOf(read),
  );
  return events.map(toRow)[0];
}

/** The events a filter finds, counted by interval; intervals without any have 0. */
export async function countStored(
  read: StoreRead,
  filter: EventFilter & TimeSpan,
  { interval, timeZone }: { interval: Interval; timeZone: string },
): Promise<{ start_ms: number; count: number }[]> {
  const edges = await findStarts(read.sql, filter, { interval, timeZone });
  const { projectId, events } = usual(read, filter);
  const rows = await read.store.events.series(
    {
      select: { ...rangeOf(filter), projectId, events, where: await conditionOf(read, filter) },
      ...{ edges, windows: null, measure: { of: 'events' }, breakdowns: [], limit: 1, nullsLast: false },
    },
    budgetOf(read),
  );
  const counts = new Map(rows.map(({ bucket, number }) => [bucket, number]));
  return edges.map((start, at) => ({ start_ms: start, count: counts.get(at) ?? 0 }));
}

/** Times that every store can hold; nothing is older or later. */
export const firstMs = Date.UTC(1900, 0, 1);
export const lastMs = Date.UTC(2299, 11, 31);

/** Both ends are exclusive, and times are milliseconds. */
function rangeOf({ after, before }: TimeRange): { from: number; to: number } {
  return {
    from: Math.max(firstMs, after === undefined ? firstMs : after.getTime() + 1),
    to: Math.min(lastMs, before === undefined ? lastMs : before.getTime()),
  };
}

async function conditionOf(
  { sql, projectId }: StoreRead,
  { distinct_id, person_id, properties }: EventFilter,
): Promise<Condition> {
  const all = properties.map(toCondition);
  if (distinct_id !== undefined) all.push(isOneOf('distinct_id', [distinct_id]));
  if (person_id !== undefined) {
    const ids = (await listIdsOfPerson(sql, projectId, person_id)).map((row) => row.distinct_id);
    // Not all of them; or none, whose events are those stored under it.
    const isPart = ids.length === 0 || ids.length === maxDistinctIdsShown;
    all.push(isPart ? isOneOf('person_id', [person_id.toLowerCase()]) : isOneOf('distinct_id', ids));
  }
  return { all };
}

export const isOneOf = (key: 'distinct_id' | 'person_id', values: readonly string[]): Condition => ({
  property: { of: 'column', key },
  test: { is: 'equal', values },
});

const dayMs = 86_400_000;

type Property = Extract<Condition, { property: unknown }>['property'];

function propertyOf({ owner, key }: Pick<PropertyFilter, 'owner' | 'key'>): Property {
  if (owner === 'event_metadata') return { of: 'column', key: 'event' };
  return { of: owner === 'person' ? 'shown person' : owner, key };
}

function toCondition({ owner, key, operator, values }: PropertyFilter): Condition {
  const property = propertyOf({ owner, key });
  const equal: Condition = { property, test: { is: 'equal', values } };
  const anyOf = (test: (value: string) => Condition): Condition => ({ any: values.map(test) });
  const containing = anyOf((text) => ({ property, test: { is: 'containing', text } }));
  const matching = anyOf((pattern) => ({ property, test: { is: 'matching', pattern } }));
  const number = (than: '>' | '>=' | '<' | '<=') =>
    anyOf((value) => ({ property, test: { is: 'number', than, value: Number(value) } }));
  const time = (than: '>' | '>=' | '<' | '<=', value: number): Condition => ({
    property,
    test: { is: 'time', than, value, zone: 'UTC' },
  });
  switch (operator) {
    case 'exact':
    case 'in':
      return equal;
    case 'is_not':
    case 'not_in':
      return { not: equal };
    case 'icontains':
      return containing;
    case 'not_icontains':
      return { not: containing };
    case 'regex':
      return matching;
    case 'not_regex':
      return { not: matching };
    case 'gt':
      return number('>');
    case 'gte':
      return number('>=');
    case 'lt':
      return number('<');
    case 'lte':
      return number('<=');
    case 'is_date_before':
      return anyOf((value) => time('<', Date.parse(value)));
    case 'is_date_after':
      return anyOf((value) => time('>', Date.parse(value)));
    case 'is_date_exact':
      return anyOf((value) => {
        const day = Math.floor(Date.parse(value) / dayMs) * dayMs;
        return { all: [time('>=', day), time('<', day + dayMs)] };
      });
    case 'is_set':
      return { property, test: { is: 'set' } };
    case 'is_not_set':
      return { not: { property, test: { is: 'set' } } };
    default:
      return operator satisfies never;
  }
}

/** A regular expression as it was sent, which every store reads alike, or a sentence on what is wrong with it. */
export function plainPattern(text: string): { pattern: string } | { problem: string } {
  const problem = patternProblem(text);
  return problem === null ? { pattern: text } : { problem };
}
