// The SQL dialect of ClickHouse. Groups and cohorts stay in PostgreSQL, and ClickHouse reads them through the tables in
// `tables.ts`.

import { nullLabel } from '../../breakdown-labels.ts';
import { hrefPattern } from '../../elements-chain.ts';
import {
  buildBooleanText,
  buildColumnText,
  type Dialect,
  localTimePattern,
  maxLabelLength,
  numberPattern,
  positionKeyOffset,
  splitNumbersAndLists,
  versionPattern,
  zonedTimePattern,
} from '../dialect.ts';
import type { EventKey } from '../queries.ts';
import type { ActorType, Breakdown, Property } from '../selection.ts';
import { Fragment, sql } from '../sql.ts';
import { buildFunnelWalkSql } from './funnel.ts';
import { buildLifecycleBitsSql } from './lifecycle.ts';
import { propertyColumns, repairJsonSql } from './tables.ts';

const person = sql`coalesce(o.person_uuid, e.person_id)`;
const column = (property: Extract<Property, { of: 'column' }>) =>
  buildColumnText(property, {
    engine: 'clickhouse',
    person: sql`toString(${person})`,
    storedPerson: sql`toString(e.person_id)`,
    timestamp: sql`toString(e.timestamp)`,
    href: sql`extract(e.elements_chain, ${sql.text(hrefPattern)})`,
  });

export const clickhouseDialect: Dialect = {
  name: 'clickhouse',
  // The table needs no deduplication, because the worker stores each event once, and `final` hides duplicates of events
  // from Kafka.
  events: sql`events AS e`,
  // Sorting by the table's sorting key lets ClickHouse stop after the first rows. A Date32 cannot be before 1900.
  firstDay: ({ projectId, from, to }) => sql`SELECT if(toDate32(e.timestamp) > toDate32('1900-01-01'),
        toUnixTimestamp64Milli(toDateTime64(toDate32(e.timestamp), 3, 'UTC')), toUnixTimestamp64Milli(${sql.time(from)})) FROM events AS e
      WHERE e.project_id = ${sql.int(projectId)} AND e.timestamp >= ${sql.time(from)} AND e.timestamp < ${sql.time(to)}
      ORDER BY e.project_id, toDate32(e.timestamp) LIMIT 1`,
  // ANY prevents an event from being counted twice if two distinct IDs have the same hash.
  personJoin: (projectId) => sql`ANY LEFT JOIN (SELECT distinct_id_hash, person_uuid FROM moved_id
      WHERE project_id = ${sql.int(projectId)}) AS o ON o.distinct_id_hash = e.distinct_id_hash`,
  person,
  personRecord: (
    projectId,
    id = person,
    { keys = [''] } = {},
  ) => sql`LEFT JOIN (SELECT uuid${personProperties(keys)}, fromUnixTimestamp64Milli(created_ms, 'UTC') AS created_at FROM person
      WHERE project_id = ${sql.int(projectId)}) AS p ON p.uuid = ${id}`,
  groupRecord: (
    projectId,
    index,
    key = groupKey(index),
  ) => sql`LEFT JOIN (SELECT group_key, ${readableGroup} AS group_properties, fromUnixTimestamp64Milli(created_ms, 'UTC') AS created_at FROM "group"
      WHERE project_id = ${sql.int(projectId)} AND group_type_index = ${sql.int(index)}) AS ${sql.numbered('g', index)}
    ON ${sql.numbered('g', index)}.group_key = ${key}`,
  everyone: (projectId) => sql`FROM (SELECT uuid AS person_id FROM person WHERE project_id = ${sql.int(projectId)}) AS e
    LEFT JOIN (SELECT uuid AS person_uuid FROM person WHERE project_id = ${sql.int(projectId)}) AS o ON o.person_uuid = e.person_id
    ${clickhouseDialect.personRecord(projectId)}`,
  inStaticCohort: (projectId, cohortId) => sql`${person} IN (SELECT person_uuid FROM cohort_member
      WHERE project_id = ${sql.int(projectId)} AND cohort_id = ${sql.int(cohortId)})`,
  text,
  number: (property, { isMeasured = false } = {}) => {
    if (property.of === 'column') {
      const seconds = sql`(${clickhouseDialect.millis(sql`e.timestamp`)} / 1000)`;
      return property.key === 'timestamp' ? seconds : numberOf(column(property));
    }
    const { raw, isNumber, asNumber } = found(property, { isScanned: isMeasured });
    // A JSON string must be unquoted and unescaped before it can be converted to a number.
    return sql`multiIf(${isNumber}, ${asNumber}, startsWith(${raw}, '"'), ${numberOf(text(property))}, NULL)`;
  },
  time: (property, zone) => {
    if (property.of === 'column')
      return property.key === 'timestamp' ? sql`e.timestamp` : sql`CAST(NULL AS Nullable(DateTime64(3, 'UTC')))`;
    const { isNumber, asNumber } = found(property);
    const value = text(property);
    const ofSeconds = sql`fromUnixTimestamp64Milli(toInt64(${asNumber} * 1000), 'UTC')`;
    const ofMillis = sql`fromUnixTimestamp64Milli(toInt64(${asNumber}), 'UTC')`;
    return sql`multiIf(
      ${isNumber} AND abs(${asNumber}) < 1e11, toNullable(${ofSeconds}),
      ${isNumber} AND abs(${asNumber}) < 1e14, toNullable(${ofMillis}),
      ${isNumber}, NULL,
      match(${value}, ${sql.text(localTimePattern)}), ${localTime(value, zone)},
      match(${value}, ${sql.text(zonedTimePattern)}), parseDateTime64BestEffortOrNull(${value}, 3, 'UTC'),
      NULL)`;
  },
  version: (property) => {
    const [value, pattern] = [sql`ifNull(${text(property)}, '')`, sql`${sql.text(versionPattern)}`];
    const parts = (list: Fragment) => sql`if(${list} = '', '', arrayStringConcat(arrayMap(
        part -> if(match(part, '^\\d+$'), concat('0', leftPad(toString(length(part)), 4, '0'), part), concat('1', part)),
        splitByChar('.', ${list})), char(2)))`;
    // `arrayMap` over a one-element list assigns the matched groups to `g`, so that the query contains the pattern only
    // twice.
    return sql`if(match(${value}, ${pattern}), arrayMap(
        g -> concat(leftPad(g[1], 20, '0'), leftPad(if(g[2] = '', '0', g[2]), 20, '0'), leftPad(if(g[3] = '', '0', g[3]), 20, '0'),
                    if(g[4] = '', '~', concat('-', ${parts(sql`g[4]`)})), char(1), ${parts(sql`g[5]`)}),
        [extractGroups(${value}, ${pattern})])[1], NULL)`;
  },
  json: (property) => {
    if (property.of === 'column') return sql`toJSONString(${column(property)})`;
    const { document, key } = found(property);
    return sql`if(JSONHas(${document}, ${key}), JSONExtractRaw(${document}, ${key}), NULL)`;
  },
  isSet: (property) => {
    if (property.of === 'column') return sql`${column(property)} <> ''`;
    return sql`isNotNull(${text(property)})`;
  },
  isScalar: (property) =>
    property.of === 'column' ? sql`true` : sql`${found(property).kind} NOT IN ('Null', 'Array', 'Object')`,
  equalsAny: (property, values) => {
    if (property.of === 'column') return sql`has(${sql.texts(values)}, ${column(property)})`;
    const { isNumber, asNumber, document, key } = found(property);
    const { numbers, lists } = splitNumbersAndLists(values);
    const ways = [
      sql`has(${sql.texts(values)}, ${text(property)})`,
      ...(numbers.length > 0 ? [sql`(${isNumber} AND has(${sql.floats(numbers.map(Number))}, ${asNumber}))`] : []),
      ...(lists.length > 0 ? [sql`has(${sql.texts(lists.map(compact))}, JSONExtractRaw(${document}, ${key}))`] : []),
    ];
    const isEqual = sql`coalesce(${sql.join(ways, ' OR ')}, false)`;
    const parts = property.of === 'event' && !columnByProperty.has(property.key) ? partsOfEqual(values) : null;
    // ClickHouse parses only the documents that contain one of the strings, because parsing JSON takes most of the
    // time.
    return parts === null ? isEqual : sql`(multiSearchAny(${document}, ${sql.texts(parts)}) AND ${isEqual})`;
  },
  contains: (value, part) => sql`coalesce(position(lowerUTF8(${value}), lowerUTF8(${sql.text(part)})) > 0, false)`,
  matches: (value, pattern) => sql`coalesce(match(${value}, ${sql.text(clickhousePattern(pattern))}), false)`,
  label,
  millis: (time) => sql`toUnixTimestamp64Milli(${time})`,
  positionKey: sql`toString(toUnixTimestamp64Milli(e.timestamp) + toInt64(${sql.float(positionKeyOffset)})) || toString(e.uuid)`,
  bucket: (time, edges) => {
    const millis = sql`toUnixTimestamp64Milli(${time})`;
    const length = evenLength(edges);
    if (length !== null) {
      const [first, last] = [sql.literal(edges[0] ?? 0), sql.literal(edges.length - 1)];
      return sql`toInt32(if(${millis} < ${first}, -1, least(${last}, intDiv(${millis} - ${first}, ${sql.literal(length)}))))`;
    }
    const places = edges.map((_, at) => at);
    return sql`if(${millis} < ${sql.float(edges[0] ?? 0)}, -1,
      toInt32(transform(roundDown(${millis}, ${sql.times(edges)}), ${sql.times(edges)}, ${sql.ints(places)}, -1)))`;
  },
  groupsBeforeCounting: false,
  followsIndexes: false,
  percentile: (share, number) => sql`quantileExactInclusive(${sql.float(share)})(${number})`,
  lists: (one, other) => sql`toJSONString([groupArray(toFloat64(${one})), groupArray(toFloat64(${other}))])`,
  path: (values, hasTimes) => {
    // Simultaneous events are sorted by the 16 bytes of their UUID, which have the same order as its text.
    const columns = sql.join([sql`at`, sql`UUIDStringToNum(uuid)`, sql`toUInt32(steps)`, ...values], ', ');
    const places = values.map((_, at) => sql`event.${sql.literal(at + 4)}`);
    const valuesOf = sql`[${sql.join(places, ', ')}]`;
    const sorted = sql`arraySort(groupArray((${columns})))`;
    const withoutTimes = sql`arrayCompact(arrayMap(event -> (event.3, ${valuesOf}), ${sorted}))`;
    return sql`if(${hasTimes}, toJSONString(arrayMap(event -> (event.1, event.3, ${valuesOf}), ${sorted})),
      toJSONString(arrayMap((event, at) -> (at, event.1, event.2), ${withoutTimes}, arrayEnumerate(${withoutTimes}))))`;
  },
  funnel: (plan) => buildFunnelWalkSql(clickhouseDialect, plan),
  lifecycle: (query) => buildLifecycleBitsSql(clickhouseDialect, query),
  // By default, engine.ts makes aggregates nullable, which needs more time and memory.
  settingsOfGroups: sql`SETTINGS aggregate_functions_null_for_empty = 0`,
  bits: (place, happened) => sql`groupBitOr(CASE WHEN ${happened} THEN bitShiftLeft(toUInt64(1), ${place}) ELSE 0 END)`,
  bitPlaces: (number) => sql`bitPositionsToArray(${number})`,
  haveCommonBit: (one, other) => sql`bitAnd(${one}, ${other}) <> 0`,
  points: (lists) => {
    const columns = lists.map(
      (_, at) => sql`, toUInt64(tupleElement(span, ${sql.literal(at + 2)})) AS ${sql.numbered('s', at)}`,
    );
    return sql`(SELECT span.1 AS point${sql.join(columns, ' ')}
    FROM (SELECT arrayJoin(arrayZip(range(${sql.int(lists[0]?.length ?? 0)}), ${sql.join(
      lists.map((list) => sql`${sql.floats(list)}`),
      ', ',
    )})) AS span)) AS w`;
  },
  inByteOrder: (value) => value,
  uuidText: (uuid) => sql`toString(${uuid})`,
  nullable: (value) => sql`toNullable(${value})`,
  // Without PREWHERE, ClickHouse may decompress the properties of all events between the first and the last key. All
  // duplicates of an event from Kafka have the same key, so `FINAL` is not affected.
  whereKeys: (projectId, keys) => sql`PREWHERE e.project_id = ${sql.int(projectId)} AND ${isInTimeOf(keys)}
    AND e.event IN ${sql.texts(keys.map(({ event }) => event))}
    AND e.distinct_id IN ${sql.texts(keys.map(({ distinctId }) => distinctId))}
    AND e.uuid IN ${sql.uuids(keys.map(({ uuid }) => uuid))}`,
  document: (json) => json,
  bytes: (document) => sql`length(${document})`,
  characters: (value) => sql`lengthUTF8(${value})`,
  actorId: (actorType: ActorType) => {
    switch (actorType.of) {
      case 'person':
        return person;
      case 'group':
        return groupKey(actorType.index);
      case 'session':
        return sql`nullIf(${text({ of: 'event', key: '$session_id' })}, '')`;
      default:
        return actorType satisfies never;
    }
  },
  actorKey: (actorType) => sql`cityHash64(${clickhouseDialect.actorId(actorType)})`,
};

/** Returns the interval length if all intervals have the same length, and null otherwise. */
function evenLength(edges: readonly number[]): number | null {
  const [first, second] = edges;
  if (first === undefined || second === undefined) return null;
  return edges.every((edge, at) => edge === first + at * (second - first)) ? second - first : null;
}

/** Builds the condition that an event's time is between the earliest and latest time in the keys. */
function isInTimeOf(keys: readonly EventKey[]): Fragment {
  const times = keys.map(({ timestamp }) => timestamp);
  return sql`e.timestamp >= ${sql.time(Math.min(...times))} AND e.timestamp <= ${sql.time(Math.max(...times))}`;
}

function groupKey(index: number): Fragment {
  return sql`nullIf(${text({ of: 'event', key: `$group_${index}` })}, '')`;
}

/**
 * Selects the given properties of persons, as one JSON document and as one text column per key. Other properties are
 * omitted, because the join keeps the selected properties of all the project's persons in memory and copies them for
 * every event. ClickHouse computes only the columns that the query uses.
 */
function personProperties(keys: readonly string[]): Fragment {
  const document = sql`person.readable`;
  const named = keys.filter((key) => key !== '');
  const texts = sql.join(
    named.map(
      (key) => sql`, JSONExtract(${document}, ${sql.text(key)}, 'Nullable(String)') AS ${personTextColumn(key)}`,
    ),
    ' ',
  );
  if (named.length < keys.length) return sql`, ${document} AS properties, is_identified${texts}`;
  if (keys.length === 0) return sql``;
  const pairs = keys.map((key) => {
    const name = sql.text(key);
    return sql`concat(toJSONString(${name}), ':', JSONExtractRaw(${document}, ${name}))`;
  });
  return sql`, concat('{', arrayStringConcat(arrayFilter(pair -> NOT endsWith(pair, ':'), [${sql.join(pairs, ', ')}]), ','), '}') AS properties${texts}`;
}

const personTextColumn = (key: string) => Fragment.of([`text_${Buffer.from(key).toString('hex')}`], []);

type DocumentProperty = Exclude<Property, { of: 'column' }>;

function found(property: DocumentProperty, { isScanned = false } = {}) {
  const key = sql.text(property.key);
  const document = documentOf(property);
  const parsed = sql`JSONExtractRaw(${document}, ${key})`;
  const raw = isScanned ? scanForValue(property, parsed) : parsed;
  return {
    document,
    key: sql`${key}`,
    kind: sql`JSONType(${document}, ${key})`,
    // JSON text of the property, or an empty string if the property is missing. The type and the number are read from
    // this text, because each JSON function would parse the entire document again.
    raw,
    isNumber: sql`(${raw} >= '-' AND ${raw} < ':')`,
    asNumber: sql`toFloat64OrNull(${raw})`,
  };
}

function documentOf(property: DocumentProperty): Fragment {
  switch (property.of) {
    case 'event':
      return sql`e.readable`;
    case 'person':
      return sql`ifNull(p.properties, '{}')`;
    case 'stored person':
      return sql`e.person_properties`;
    case 'shown person':
      return sql`ifNull(p.properties, e.person_properties)`;
    case 'group':
      return sql`ifNull(${sql.numbered('g', property.index)}.group_properties, '{}')`;
    default:
      return property satisfies never;
  }
}

/**
 * Finds the JSON text of an event's property without parsing the document, because parsing takes twice as long as
 * decompressing it. The search is reliable only if the document contains the name, no longer name ends with it (after
 * an escaped quote), and no object within the document begins before it. Filters do not use this function, because its
 * SQL is long and a query can have 200 filters.
 * @param otherwise the value for documents in which the search is not reliable
 */
function scanForValue({ of, key }: DocumentProperty, otherwise: Fragment): Fragment {
  // Property names that consist of these characters need no quoting in SQL.
  if (of !== 'event' || !/^[\w $.:@+-]+$/.test(key)) return otherwise;
  const name = Fragment.of([key], []);
  const place = sql`position(e.readable, '"${name}":')`;
  const isCertain = sql`${place} > 0 AND position(e.readable, '\\\\"${name}":') = 0
      AND NOT position(e.readable, '{', 2) BETWEEN 1 AND ${place}`;
  return sql`if(${isCertain}, trimBoth(simpleJSONExtractRaw(e.readable, '${name}')), ${otherwise})`;
}

/**
 * The SQL for each property that has its own column. The SQL accesses the column by name, because with `FINAL`, which
 * events from Kafka need, the function `tupleElement` would read the columns of all properties.
 */
const columnByProperty: ReadonlyMap<string, Fragment> = new Map(
  [...propertyColumns.few, ...propertyColumns.many].map((name) => [name, Fragment.of([`e.usual.\`${name}\``], [])]),
);

/** Returns a property as text, with numbers in their shortest form and lists as JSON. */
function text(property: Property): Fragment {
  if (property.of === 'column') return column(property);
  const { document, key } = found(property);
  const own = property.of === 'event' ? columnByProperty.get(property.key) : undefined;
  return own ?? sql`JSONExtract(${document}, ${key}, 'Nullable(String)')`;
}

/** Like `text`, but faster for many rows. */
function labelText(property: Property): Fragment {
  // The join computes the text once per person. Computing it here would repeat the work for every event.
  if (property.of === 'person') return sql`p.${personTextColumn(property.key)}`;
  if (property.of !== 'event' || columnByProperty.has(property.key)) return text(property);
  const raw = scanForValue(property, sql`''`);
  return sql`if(startsWith(${raw}, '"') AND position(${raw}, '\\\\') = 0, substring(${raw}, 2, length(${raw}) - 2), ${text(property)})`;
}

function label({ property, isUrl, isBoolean, bins }: Breakdown): Fragment {
  if (bins !== null) {
    const number = clickhouseDialect.number(property, { isMeasured: true });
    return sql`if(isNull(${number}), NULL, toString(arrayCount(edge -> edge <= assumeNotNull(${number}), ${sql.floats(bins)}) - 1))`;
  }
  // A value that equals the label for missing values is treated as missing.
  const whole = sql`nullIf(nullIf(${labelText(property)}, ${sql.text(nullLabel)}), '')`;
  const value = isUrl
    ? sql`coalesce(nullIf(replaceRegexpOne(${whole}, '[/?#]+$', ''), ''), if(isNull(${whole}), NULL, '/'))`
    : isBoolean
      ? buildBooleanText(whole)
      : whole;
  return sql`substringUTF8(${value}, 1, ${sql.int(maxLabelLength)})`;
}

function numberOf(value: Fragment): Fragment {
  return sql`if(match(${value}, ${sql.text(numberPattern)}), toFloat64OrNull(trimBoth(${value})), NULL)`;
}

/**
 * Converts a local time to UTC. If a clock change skips the local time, the result is an hour later, as in PostgreSQL.
 */
function localTime(value: Fragment, zone: string): Fragment {
  const read = (name: string) => sql`parseDateTime64BestEffortOrNull(${value}, 3, ${sql.text(name)})`;
  if (zone === 'UTC') return read('UTC');
  const [time, shown] = [read(zone), read('UTC')];
  const isShown = sql`toUnixTimestamp64Milli(${time}) + timeZoneOffset(${time}) * 1000 = toUnixTimestamp64Milli(${shown})`;
  return sql`toTimeZone(if(${isShown}, ${time}, addHours(${time}, 1)), 'UTC')`;
}

const readableGroup = Fragment.of([repairJsonSql('group.group_properties')], []);

/**
 * For each value, returns a string that occurs in every document whose property equals the value. Returns null if any
 * value has no such string.
 */
function partsOfEqual(values: readonly string[]): string[] | null {
  if (values.length === 0 || values.length > 20) return null;
  const numbers = new Set(splitNumbersAndLists(values).numbers);
  const parts = values.map((value) => {
    // Characters outside of this set may be escaped in stored JSON, and lists may contain spaces.
    if (!numbers.has(value)) return /^[\w .:@+-]+$/.test(value) ? value : null;
    // A stored number has no exponent and may end in zeros. JavaScript may round a number with more than 15 characters.
    const shortest = String(Number(value));
    return value.length <= 15 && /^[-.\d]+$/.test(shortest) ? shortest : null;
  });
  const certain = parts.filter((part) => part !== null);
  return certain.length === parts.length ? certain : null;
}

/** Formats JSON as ClickHouse does. */
const compact = (json: string) => JSON.stringify(JSON.parse(json));

/** Adapts a pattern to RE2's defaults, so that `.` matches any character and `$` only the end of the text. */
function clickhousePattern(pattern: string): string {
  const [flags = ''] = /^\(\?i\)/.exec(pattern) ?? [];
  return `${flags}(?s)(?:${pattern.slice(flags.length)})`;
}
