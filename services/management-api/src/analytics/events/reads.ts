// Finds, counts and reads events in the event store. The event store is PostgreSQL or another database.

import type { Sql } from '@millrace/db';
import {
  type Condition,
  createEventStore,
  createSqlEngine,
  type EventKey,
  type EventStore,
  type FoundKeys,
  type ListedEvent,
} from '@millrace/insights';
import { type Portion, StoppedSearch } from '../../sql/large-page.ts';
import type { TimePosition, TimeSpan } from '../../time/time-range.ts';
import { listIdsOfPerson } from '../distinct-ids/distinct-id-store.ts';
import {
  type EventFilter,
  type EventRow,
  type EventWindow,
  type EventWithTimes,
  findIntervalStarts,
  type Interval,
  readPersonSizes,
  readTimeOfEvent,
} from './store.ts';

export interface TimeLimitedEventStore {
  events: EventStore;
  /** Query time limit in milliseconds. */
  maxMs: number;
}

export interface StoreRead {
  store: TimeLimitedEventStore;
  /** The connection to PostgreSQL. Persons and their distinct IDs are always stored there. */
  sql: Sql;
  projectId: number;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/** Time limit for a search in PostgreSQL, in milliseconds. */
const longestMs = 10_000;
/** Maximum size of one read in bytes. It exceeds the largest chunk of a page plus the largest event. */
const mostBytes = 64 * 1024 * 1024;

/**
 * Prepares reads from the event store. In PostgreSQL, the reads use the connections of `sql`. These connections have
 * their own time limit.
 * @param isRepeated whether the same statements run for many requests, with different values
 */
export function createEventRead(
  externalEventStore: TimeLimitedEventStore | null,
  { isRepeated = false, ...read }: Omit<StoreRead, 'store'> & { isRepeated?: boolean },
): StoreRead {
  const ofPostgres = () => ({ events: createEventStore(createSqlEngine(read.sql, { isRepeated })), maxMs: longestMs });
  return { ...read, store: externalEventStore ?? ofPostgres() };
}

export const createBudget = ({ store, signal }: Pick<StoreRead, 'store' | 'signal'>) => ({
  signal,
  maxMs: Math.min(store.maxMs, longestMs),
  maxBytes: mostBytes,
});

export async function findLatestEventTimes(
  read: StoreRead,
  distinctIds: readonly string[],
): Promise<Map<string, Date>> {
  const found = await read.store.events.latest({ projectId: read.projectId, distinctIds }, createBudget(read));
  return new Map(found.map(({ distinctId, time }) => [distinctId, new Date(time)]));
}

/**
 * Creates a reader for a page of events. It first finds the keys of the events, and then reads the events in chunks.
 */
export function createEventPageReader(page: StoreRead) {
  const known = new Map<string, EventKey>();
  const readKeys = createReader(page);
  return {
    async findKeys(read: StoreRead, filter: EventFilter, window: EventWindow) {
      const { keys, stoppedAt } = await findEventKeys(read, filter, window);
      for (const key of keys) known.set(key.uuid, key);
      const found = keys.map(({ uuid, timestamp }): TimePosition => ({ timestamp: new Date(timestamp), id: uuid }));
      if (stoppedAt === null) return found;
      const end = { timestamp: new Date(stoppedAt.time), id: stoppedAt.uuid };
      return new StoppedSearch<TimePosition>({ keys: found, end, until: end.timestamp });
    },
    read: (keys: TimePosition[], maxBytes: number) =>
      readKeys(
        keys.flatMap(({ id }) => known.get(id) ?? []),
        maxBytes,
      ),
  };
}

/** Returns the keys of the events on a page. At the time limit, returns the keys found so far. */
export async function findEventKeys(
  read: StoreRead,
  filter: EventFilter,
  { behind, limit, offset, isOldestFirst }: EventWindow,
): Promise<FoundKeys> {
  const { distinctIds, where } = await selectionOf(read, filter);
  return read.store.events.keys(
    {
      projectId: read.projectId,
      events: namesOf(filter),
      by: 'timestamp',
      from: filter.after === undefined ? null : fromOf(filter.after),
      to: filter.before === undefined ? null : toOf(filter.before),
      where,
      ...(distinctIds !== undefined && { distinctIds }),
      uuid: null,
      after: behind && { time: withinStore(behind.timestamp.getTime()), uuid: behind.id },
      isOldestFirst,
      limit,
      offset,
    },
    createBudget(read),
  );
}

/**
 * Creates a function that reads the events with these keys in order. It stops once their total size reaches `maxBytes`.
 */
function createReader(read: StoreRead) {
  const { store, projectId } = read;
  const sizes = new Map<string, number>();

  return async (all: EventKey[], maxBytes: number): Promise<Portion<EventRow>> => {
    // Keys of events that did not fit are passed again in the next call. Do not measure these events again.
    if (!all.every(({ uuid }) => sizes.has(uuid))) await measure(all);
    let before = 0;
    const given = all.filter(({ uuid }) => {
      const fits = before < maxBytes;
      before += sizes.get(uuid) ?? 0;
      return fits;
    });
    const rows = await store.events.read({ projectId, keys: given }, createBudget(read));
    return { rows: rows.map(toRow), used: given.length };
  };

  /**
   * Measures each event together with its current person. The response contains both, and the person may be much larger
   * than the event.
   */
  async function measure(keys: EventKey[]): Promise<void> {
    sizes.clear();
    const measured = await store.events.sizes({ projectId, keys }, createBudget(read));
    const distinctIds = new Set(measured.map(({ distinctId }) => distinctId));
    const ofPersons = await readPersonSizes(read.sql, projectId, [...distinctIds]);
    for (const { uuid } of keys) sizes.set(uuid, 0);
    for (const { uuid, distinctId, bytes } of measured) sizes.set(uuid, bytes + (ofPersons.get(distinctId) ?? 0));
  }
}

function toRow(event: ListedEvent): EventWithTimes {
  const [properties, person_properties] = [event.properties, event.person_properties].map((text) => JSON.parse(text));
  return { ...event, properties, person_properties };
}

/** Reads an event that PostgreSQL has already deleted. PostgreSQL keeps the event's time. */
export async function readStoredEvent(read: StoreRead, uuid: string): Promise<EventWithTimes | undefined> {
  const time = await readTimeOfEvent(read.sql, read.projectId, uuid);
  if (time === undefined) return undefined;
  const from = time.getTime();
  const { events } = await read.store.events.list(
    {
      projectId: read.projectId,
      events: null,
      by: 'timestamp',
      from,
      to: from + 1,
      where: { all: [] },
      uuid,
      after: null,
      isOldestFirst: false,
      limit: 1,
      maxBytes: 1,
    },
    createBudget(read),
  );
  return events.map(toRow)[0];
}

/** Counts matching events per interval. Intervals without events have the count 0. */
export async function countEvents(
  read: StoreRead,
  filter: EventFilter & TimeSpan,
  { interval, timeZone }: { interval: Interval; timeZone: string },
): Promise<{ start_ms: number; count: number }[]> {
  const edges = await findIntervalStarts(read.sql, filter, { interval, timeZone });
  const { distinctIds, where } = await selectionOf(read, filter);
  const isOfIds = distinctIds === undefined ? [] : [isOneOf('distinct_id', distinctIds)];
  const rows = await read.store.events.series(
    {
      select: {
        projectId: read.projectId,
        events: namesOf(filter),
        from: fromOf(filter.after),
        to: toOf(filter.before),
        where: { all: [...isOfIds, where] },
      },
      edges,
      windows: null,
      measure: { of: 'events' },
      breakdowns: [],
      limit: 1,
      nullsLast: false,
    },
    createBudget(read),
  );
  const counts = new Map(rows.map(({ bucket, number }) => [bucket, number]));
  return edges.map((start, at) => ({ start_ms: start, count: counts.get(at) ?? 0 }));
}

const namesOf = ({ event }: EventFilter) => (event === undefined ? null : [event]);

/** Start of the time range that every store supports. No event is outside this range. */
const firstMs = Date.UTC(1900, 0, 1);
export const lastMs = Date.UTC(2299, 11, 31);
const withinStore = (time: number) => Math.max(firstMs, Math.min(lastMs, time));

/** Add one millisecond, because the requested range excludes its start, but the event store includes `from`. */
const fromOf = (after: Date) => withinStore(after.getTime() + 1);
const toOf = (before: Date) => withinStore(before.getTime());

/**
 * If a person has this many distinct IDs or more, the person's events are selected by person ID, not by distinct ID.
 */
const maxIds = 10_000;

/**
 * Translates a filter, except its event name and time. `person_id` means the current person. It selects the events of
 * all distinct IDs that now belong to the person, including events from before a merge.
 */
async function selectionOf(
  { sql, projectId }: StoreRead,
  { distinct_id, person_id, properties }: EventFilter,
): Promise<{ distinctIds: string[] | undefined; where: Condition }> {
  const all = properties === null ? [] : [properties];
  const distinctIds = distinct_id === undefined ? undefined : [distinct_id];
  if (person_id === undefined) return { distinctIds, where: { all } };
  const ids = (await listIdsOfPerson(sql, projectId, person_id, maxIds)).map((row) => row.distinct_id);
  if (ids.length > 0 && ids.length < maxIds) {
    const requested = distinct_id === undefined ? ids : ids.filter((id) => id === distinct_id);
    return { distinctIds: requested, where: { all } };
  }
  const uuid = [person_id.toLowerCase()];
  // For a person without distinct IDs, select the events that were stored under this person, unless their distinct IDs
  // now belong to another person.
  if (ids.length === 0) all.push(isOneOf('stored person_id', uuid));
  return { distinctIds, where: { all: [...all, isOneOf('person_id', uuid)] } };
}

const isOneOf = (key: 'distinct_id' | 'person_id' | 'stored person_id', values: readonly string[]): Condition => ({
  property: { of: 'column', key },
  test: { is: 'equal', values },
});
