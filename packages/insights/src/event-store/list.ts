// Lists events in chronological order. A list finds the events by reading only small columns, determines their sizes,
// and then reads the events that fit.

import { buildCondition, buildEventNamesCondition, buildFromClause, buildInCondition } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { type Engine, readRows } from './engine.ts';
import { type Budget, type EventStore, type LatestEvent, OverBudget, withSharedDeadline } from './port.ts';
import type {
  EventKey,
  EventList,
  EventListQuery,
  EventPosition,
  EventSize,
  EventsOfKeys,
  FoundKeys,
  ListedEvent,
} from './queries.ts';
import { type Fragment, sql } from './sql.ts';

export function createEventLists(engine: Engine): Pick<EventStore, 'list' | 'keys' | 'sizes' | 'read' | 'latest'> {
  return {
    list: (query, run) => readList(engine, query, run),
    keys: (query, run) => findKeys(engine, query, { run: withSharedDeadline(run), mayStop: true }),
    sizes: (query, run) => readSizes(engine, query, run),
    read: (query, run) => readEvents(engine, query, run),
    latest: (ids, run) => findLatest(engine, ids, run),
  };
}

async function findLatest(
  engine: Engine,
  { projectId, distinctIds }: { projectId: number; distinctIds: readonly string[] },
  run: Budget,
): Promise<LatestEvent[]> {
  if (distinctIds.length === 0) return [];
  const read = ([distinctId, time]: unknown[]) => ({ distinctId: String(distinctId), time: Number(time) });
  return readRows(engine, { text: latestText(engine.dialect, projectId, distinctIds), run, read });
}

function latestText(dialect: Dialect, projectId: number, distinctIds: readonly string[]): Fragment {
  const events = sql`${buildFromClause(dialect, { projectId })} WHERE e.project_id = ${sql.int(projectId)}`;
  if (!dialect.followsIndexes)
    return sql`SELECT e.distinct_id, ${dialect.millis(sql`max(e.timestamp)`)} AS latest ${events}
                  AND ${buildInCondition(sql`e.distinct_id`, distinctIds)} GROUP BY e.distinct_id`;
  return sql`SELECT requested.distinct_id, ${dialect.millis(sql`e.timestamp`)} AS latest
               FROM unnest(${sql.texts(distinctIds)}) AS requested (distinct_id)
              CROSS JOIN LATERAL (SELECT e.timestamp ${events} AND e.distinct_id = requested.distinct_id
                                   ORDER BY e.timestamp DESC LIMIT 1) AS e`;
}

/** Reads events up to and including the event that makes the list exceed `maxBytes`. */
async function readList(
  engine: Engine,
  { maxBytes, ...query }: EventListQuery & { maxBytes: number },
  budget: Budget,
): Promise<EventList> {
  const run = withSharedDeadline(budget);
  const { projectId, limit } = query;
  const { keys: found } = await findKeys(engine, { ...query, limit: limit + 1 }, { run, mayStop: false });
  const keys = found.slice(0, limit);
  const sizes = await readSizes(engine, { projectId, keys }, run);
  const bytesOf = new Map(sizes.map(({ uuid, bytes }) => [uuid, bytes]));
  let before = 0;
  const shown = keys.filter(({ uuid }) => {
    const fits = before < maxBytes;
    before += bytesOf.get(uuid) ?? 0;
    return fits;
  });
  const events = await readEvents(engine, { projectId, keys: shown }, run);
  return { events, hasMore: shown.length < found.length };
}

/** Milliseconds after which a search stops if it has found any events. The limit is approximate. */
const foundMs = 2000;
/**
 * If the search of a time range is expected to take less than this number of milliseconds, the range is always
 * searched.
 */
const shortMs = 1000;

/**
 * Finds the keys of a page. The page can be incomplete if the time runs out, or if a slow search has found some events.
 * @param mayStop whether an incomplete page is allowed if at least one time range was searched completely; if not,
 * throws when the time runs out
 */
async function findKeys(
  engine: Engine,
  query: EventListQuery,
  { run, mayStop }: { run: Budget; mayStop: boolean },
): Promise<FoundKeys> {
  const { dialect } = engine;
  if (query.distinctIds?.length === 0) return { keys: [], stoppedAt: null };
  const read = toEventKey;
  if (dialect.followsIndexes && !(mayStop && isLongSearch(query)))
    return { keys: await readRows(engine, { text: keysText(dialect, query), run, read }), stoppedAt: null };
  const offset = query.offset ?? 0;
  const reach = offset + query.limit;
  const keys: EventKey[] = [];
  let stoppedAt: EventPosition | null = null;
  let lastMs = 0;
  const beganAt = performance.now();
  try {
    for await (const span of spansOf(engine, query, run)) {
      // The next range is twice as long as this one. Skip it if the search would probably not finish in time.
      const nextMs = 2 * lastMs;
      const isLate = keys.length > offset && nextMs > shortMs && performance.now() + nextMs > beganAt + foundMs;
      if (stoppedAt !== null && (isLate || nextMs > run.maxMs)) throw new OverBudget('time');
      const text = keysText(dialect, { ...query, ...span, limit: reach - keys.length, offset: 0 });
      const startedAt = performance.now();
      keys.push(...(await readRows(engine, { text, run, read })));
      lastMs = performance.now() - startedAt;
      if (keys.length >= reach) break;
      stoppedAt = mayStop && keys.length >= offset ? endOf(span, query) : null;
    }
  } catch (error) {
    if (stoppedAt === null || !(error instanceof OverBudget)) throw error;
    return { keys: keys.slice(offset), stoppedAt };
  }
  return { keys: keys.slice(offset), stoppedAt: null };
}

export const toEventKey = ([uuid, timestamp, event, distinctId]: unknown[]): EventKey => ({
  uuid: String(uuid),
  timestamp: Number(timestamp),
  event: String(event),
  distinctId: String(distinctId),
});

/**
 * Returns whether the search may read many events that do not match, on an engine that follows indexes. Searches by
 * event name or ID use an index and are short.
 */
function isLongSearch({ by, where, distinctIds, uuid, offset = 0 }: EventListQuery): boolean {
  return by === 'timestamp' && isFiltered(where) && distinctIds === undefined && uuid === null && offset === 0;
}

const isFiltered = (where: EventListQuery['where']) => !('all' in where) || where.all.length > 0;

const firstUuid = '00000000-0000-0000-0000-000000000000';
const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Returns the position at which a list continues after all events of a time range. */
const endOf = ({ from, to }: TimeSpan, { isOldestFirst }: EventListQuery): EventPosition =>
  isOldestFirst ? { time: to - 1, uuid: lastUuid } : { time: from, uuid: firstUuid };

async function readSizes(engine: Engine, { projectId, keys }: EventsOfKeys, run: Budget): Promise<EventSize[]> {
  if (keys.length === 0) return [];
  const text = sizesText(engine.dialect, projectId, keys);
  const read = ([uuid, distinctId, bytes]: unknown[]) => ({
    uuid: String(uuid),
    distinctId: String(distinctId),
    bytes: Number(bytes),
  });
  return readRows(engine, { text, run, read });
}

async function readEvents(engine: Engine, { projectId, keys }: EventsOfKeys, run: Budget): Promise<ListedEvent[]> {
  if (keys.length === 0) return [];
  const text = eventsText(engine.dialect, projectId, keys);
  const events = await readRows(engine, { text, run, read: toEvent });
  const byId = new Map(events.map((event) => [event.uuid, event]));
  return keys.flatMap(({ uuid }) => byId.get(uuid) ?? []);
}

function keysText(dialect: Dialect, query: EventListQuery): Fragment {
  const { projectId, where, isOldestFirst, limit, offset = 0, uuid, distinctIds } = query;
  const time = timeOf(query);
  const id = dialect.uuidText(sql`e.uuid`);
  const order = isOldestFirst ? sql`ORDER BY ${time} ASC, ${id} ASC` : sql`ORDER BY ${time} DESC, ${id} DESC`;
  const looksUpIds = distinctIds !== undefined && dialect.followsIndexes;
  const tests = [
    buildEventNamesCondition(query),
    ...inTime(dialect, query),
    ...(uuid === null ? [] : [sql`e.uuid = ${sql.uuid(uuid)}`]),
    ...(distinctIds === undefined || looksUpIds ? [] : [buildInCondition(sql`e.distinct_id`, distinctIds)]),
    ...(looksUpIds ? [sql`e.distinct_id = requested.distinct_id`] : []),
    buildCondition(dialect, where, projectId),
  ];
  const from = buildFromClause(dialect, { projectId, conditions: [where], looksUpPersons: true });
  const events = sql`${from} WHERE ${sql.join(tests, ' AND ')} ${order}`;
  // Omit OFFSET 0, because it changes the plan: the planner does not know the offset and assumes a tenth of all rows.
  const page = offset === 0 ? sql`LIMIT ${sql.int(limit)}` : sql`LIMIT ${sql.int(limit)} OFFSET ${sql.int(offset)}`;
  const columns = sql`SELECT e.uuid, ${dialect.millis(sql`e.timestamp`)} AS millis, e.event, e.distinct_id`;
  if (!looksUpIds) return sql`${columns} ${events} ${page}`;
  // Looking up each distinct ID in the index of IDs and times finds the events of rare visitors quickly, even in a busy
  // project.
  return sql`${columns} FROM unnest(${sql.texts(distinctIds)}) AS requested (distinct_id)
              CROSS JOIN LATERAL (SELECT e.uuid, ${time}, e.event, e.distinct_id ${events} LIMIT ${sql.int(limit + offset)}) AS e ${order} ${page}`;
}

/** Builds the conditions that restrict a list to its time range and to events after its position. */
function inTime(dialect: Dialect, { after, from, to, isOldestFirst, by }: EventListQuery): Fragment[] {
  const time = timeOf({ by });
  const range = [
    ...(from === null ? [] : [sql`${time} >= ${sql.time(from)}`]),
    ...(to === null ? [] : [sql`${time} < ${sql.time(to)}`]),
  ];
  if (after === null) return range;
  const [id, last] = [dialect.uuidText(sql`e.uuid`), dialect.uuidText(sql`${sql.uuid(after.uuid)}`)];
  const at = sql.time(after.time);
  // The first condition is redundant, but lets the engine skip events before the position.
  const isBehind = isOldestFirst
    ? sql`${time} >= ${at} AND (${time}, ${id}) > (${at}, ${last})`
    : sql`${time} <= ${at} AND (${time}, ${id}) < (${at}, ${last})`;
  return [...range, isBehind];
}

const timeOf = ({ by }: Pick<EventListQuery, 'by'>) => (by === 'timestamp' ? sql`e.timestamp` : sql`e.created_at`);

function sizesText(dialect: Dialect, projectId: number, keys: readonly EventKey[]): Fragment {
  const [properties, person] = [dialect.bytes(sql`e.properties`), dialect.bytes(sql`e.person_properties`)];
  // A response contains the elements twice: as text and parsed.
  const elements = sql`5 * ${dialect.bytes(sql`e.elements_chain`)}`;
  return sql`SELECT e.uuid, e.distinct_id, ${properties} + ${person} + ${elements} + 500 AS bytes ${ofKeys(dialect, projectId, keys)}`;
}

/** Selects all fields of the events, in any order. */
function eventsText(dialect: Dialect, projectId: number, keys: readonly EventKey[]): Fragment {
  const millis = (time: Fragment) => dialect.millis(time);
  return sql`SELECT e.uuid, e.event, e.distinct_id, ${millis(sql`e.timestamp`)} AS happened, ${millis(sql`e.captured_at`)} AS captured,
                    ${millis(sql`e.created_at`)} AS stored, e.person_id, ${dialect.document(sql`e.person_properties`)},
                    ${dialect.document(sql`e.properties`)}, e.elements_chain ${ofKeys(dialect, projectId, keys)}`;
}

const ofKeys = (dialect: Dialect, projectId: number, keys: readonly EventKey[]) =>
  sql`${buildFromClause(dialect, { projectId })} ${dialect.whereKeys(projectId, keys)}`;

const [minuteMs, hourMs, dayMs, monthMs] = [60_000, 3_600_000, 86_400_000, 30 * 86_400_000];

/** The earliest and latest time that every engine can store. */
const [firstTime, lastTime] = [Date.UTC(1900, 0, 1), Date.UTC(2299, 11, 31)];

interface TimeSpan {
  from: number;
  to: number;
}

/**
 * Returns the time ranges to search, one after the other until enough events have been found. ClickHouse sorts all
 * matching events, and a search that runs out of time loses the events of its last range. So the first range is a day
 * long, and each further range is twice as long as the previous one. Events sorted by storage time are searched in a
 * single range.
 *
 * In a busy project, ClickHouse finds a page of the newest events in the last minute or hour, and does not read the
 * large parts of its table that contain most events of the day. With a filter, an additional short range could cost as
 * much as a longer one.
 */
async function* spansOf(engine: Engine, query: EventListQuery, run: Budget): AsyncGenerator<TimeSpan> {
  const { by, after, isOldestFirst, projectId } = query;
  const [from, to] = [query.from ?? firstTime, query.to ?? lastTime];
  if (by !== 'timestamp') return yield { from, to };
  /** Returns the start of the range's first day with events, or the range's end if it contains no events. */
  const findBegin = async ({ from, to }: TimeSpan): Promise<number> => {
    const text = engine.dialect.firstDay({ projectId, from, to });
    const [day = to] = await readRows(engine, { text, run, read: ([time]) => Number(time) });
    return Math.max(from, day);
  };
  if (isOldestFirst) {
    const begin = await findBegin({ from: Math.max(from, after === null ? from : after.time), to });
    return yield* oldestFirst({ from: begin, to });
  }
  const isSimple = after === null && query.uuid === null && query.distinctIds === undefined && !isFiltered(query.where);
  const end = Math.min(to, after === null ? to : after.time + 1);
  const spans = newestFirst(
    { from, to: end },
    { now: Date.now(), lengths: isSimple ? [minuteMs, hourMs, dayMs] : [dayMs] },
  );
  let begin: number | null = engine.dialect.followsIndexes ? from : null;
  for (const [at, span] of spans.entries()) {
    // Do not search the years before the project's first event. The newest range (`at` is 0) is not limited, because it
    // is long only because it also contains future events.
    if (begin === null && at > 0 && span.to - span.from >= monthMs) begin = await findBegin({ from, to: span.to });
    if (begin !== null && begin >= span.to) return;
    yield { ...span, from: Math.max(span.from, begin ?? from) };
  }
}

/**
 * Returns time ranges from the newest to the oldest. The first range also contains future events.
 * @param lengths the lengths of the first ranges; each further range is twice as long as the previous one
 */
function newestFirst({ from, to }: TimeSpan, { now, lengths }: { now: number; lengths: number[] }): TimeSpan[] {
  const spans: TimeSpan[] = [];
  let begin = Math.min(to, now);
  for (let [end, at, length] = [to, 0, 0]; end > from; [end, at] = [begin, at + 1]) {
    length = lengths[at] ?? length * 2;
    begin = Math.max(from, begin - length);
    spans.push({ from: begin, to: end });
  }
  return spans;
}

function oldestFirst({ from, to }: TimeSpan): TimeSpan[] {
  const spans: TimeSpan[] = [];
  for (let [begin, length] = [from, dayMs]; begin < to; [begin, length] = [begin + length, length * 2])
    spans.push({ from: begin, to: Math.min(to, begin + length) });
  return spans;
}

function toEvent([uuid, event, distinctId, ...others]: unknown[]): ListedEvent {
  const [timestamp, capturedAt, createdAt, personId, personProperties, properties, elementsChain] = others;
  return {
    uuid: String(uuid),
    event: String(event),
    distinct_id: String(distinctId),
    timestamp: new Date(Number(timestamp)),
    captured_at: new Date(Number(capturedAt)),
    created_at: new Date(Number(createdAt)),
    person_id: String(personId),
    person_properties: String(personProperties),
    properties: String(properties),
    elements_chain: String(elementsChain),
  };
}
