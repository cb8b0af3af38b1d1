import { nullLabel } from '../../breakdown-labels.ts';
import { hrefPattern } from '../../elements-chain.ts';
import { toPostgresPattern } from '../../patterns.ts';
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
import type { ActorType, Breakdown, Property } from '../selection.ts';
import { type Fragment, sql } from '../sql.ts';

const person = sql`coalesce(o.person_uuid, e.person_id)`;
const column = (property: Extract<Property, { of: 'column' }>) =>
  buildColumnText(property, {
    engine: 'postgres',
    person: sql`${person}::text`,
    storedPerson: sql`e.person_id::text`,
    timestamp: sql`e.timestamp::text`,
    href: sql`coalesce(substring(e.elements_chain FROM ${sql.text(hrefPattern)}), '')`,
  });

export const postgresDialect: Dialect = {
  name: 'postgres',
  events: sql`event e`,
  firstDay: ({ projectId, from, to }) => sql`SELECT ${postgresDialect.millis(sql`e.timestamp`)} FROM event e
      WHERE e.project_id = ${sql.int(projectId)} AND e.timestamp >= ${sql.time(from)} AND e.timestamp < ${sql.time(to)}
      ORDER BY e.timestamp LIMIT 1`,
  personJoin: (_projectId, looksUp = false) =>
    leftJoin(
      { from: sql`person_distinct_id o`, as: sql`o`, looksUp },
      sql`o.project_id = e.project_id AND o.distinct_id = e.distinct_id AND o.version > 0`,
    ),
  person,
  personRecord: (projectId, id = person, { looksUp = false } = {}) =>
    leftJoin(
      { from: sql`person p`, as: sql`p`, looksUp },
      sql`p.project_id = ${sql.int(projectId)} AND p.uuid = ${id}`,
    ),
  groupRecord: (projectId, index, key = groupKey(index)) => sql`LEFT JOIN "group" ${sql.numbered('g', index)}
    ON ${sql.numbered('g', index)}.project_id = ${sql.int(projectId)} AND ${sql.numbered('g', index)}.group_type_index = ${sql.int(index)}
   AND ${sql.numbered('g', index)}.group_key = ${key}`,
  everyone: (projectId) => sql`FROM (SELECT * FROM person WHERE project_id = ${sql.int(projectId)}) AS p
    CROSS JOIN LATERAL (SELECT p.uuid AS person_id) AS e CROSS JOIN LATERAL (SELECT p.uuid AS person_uuid) AS o`,
  inStaticCohort: (projectId, cohortId) => sql`EXISTS (SELECT FROM cohort_member m
    WHERE m.project_id = ${sql.int(projectId)} AND m.cohort_id = ${sql.int(cohortId)}
      AND m.person_uuid = coalesce(o.person_uuid, e.person_id))`,
  text,
  number: (property) => {
    if (property.of === 'column') {
      const seconds = sql`(${postgresDialect.millis(sql`e.timestamp`)} / 1000)`;
      return property.key === 'timestamp' ? seconds : numberOf(column(property));
    }
    const { json, asText } = found(property);
    return sql`CASE WHEN jsonb_typeof(${json}) = 'number' THEN ${toFloat(sql`(${json})::numeric`)}
                    ELSE ${numberOf(asText)} END`;
  },
  time: (property, zone) => {
    if (property.of === 'column') return property.key === 'timestamp' ? sql`e.timestamp` : sql`NULL::timestamptz`;
    const { json, asText } = found(property);
    const number = sql`(${json})::numeric`;
    return sql`CASE WHEN jsonb_typeof(${json}) = 'number' THEN
        CASE WHEN abs(${number}) < 1e11 THEN to_timestamp((${number})::float8)
             WHEN abs(${number}) < 1e14 THEN to_timestamp((${number} / 1000)::float8) END
      WHEN ${asText} ~ ${sql.text(localTimePattern)} AND pg_input_is_valid(${asText}, 'timestamp')
        THEN ${inZone(sql`(${asText})::timestamp`, zone)}
      WHEN ${asText} ~ ${sql.text(zonedTimePattern)} AND pg_input_is_valid(${asText}, 'timestamptz')
        THEN (${asText})::timestamptz END`;
  },
  version: (property) => {
    const parts = (list: Fragment) => sql`coalesce((SELECT string_agg(
        CASE WHEN part ~ '^\\d+$' THEN '0' || lpad(length(part)::text, 4, '0') || part ELSE '1' || part END, chr(2) ORDER BY place)
        FROM regexp_split_to_table(${list}, '\\.') WITH ORDINALITY AS parts (part, place)), '')`;
    return sql`(SELECT lpad(m[1], 20, '0') || lpad(coalesce(m[2], '0'), 20, '0') || lpad(coalesce(m[3], '0'), 20, '0')
        || CASE WHEN m[4] IS NULL THEN '~' ELSE '-' || ${parts(sql`m[4]`)} END || chr(1) || ${parts(sql`m[5]`)}
        FROM regexp_match(${text(property)}, ${sql.text(versionPattern)}) AS m)`;
  },
  json: (property) =>
    property.of === 'column' ? sql`to_json(${column(property)})::text` : sql`(${found(property).json})::text`,
  isSet: (property) =>
    property.of === 'column' ? sql`${column(property)} <> ''` : sql`${found(property).asText} IS NOT NULL`,
  isScalar: (property) =>
    property.of === 'column'
      ? sql`true`
      : sql`coalesce(jsonb_typeof(${found(property).json}) IN ('string', 'number', 'boolean'), false)`,
  equalsAny: (property, values) => {
    if (property.of === 'column') return sql`${column(property)} = ANY (${sql.texts(values)})`;
    const { json, asText } = found(property);
    const { numbers, lists } = splitNumbersAndLists(values);
    const isText = sql`${asText} = ANY (${sql.texts(values)})`;
    const isNumber = sql`(jsonb_typeof(${json}) = 'number' AND (${json})::numeric = ANY (${sql.texts(numbers)}::numeric[]))`;
    const isList = sql`${json} = ANY (${sql.texts(lists)}::jsonb[])`;
    const ways = [isText, ...(numbers.length > 0 ? [isNumber] : []), ...(lists.length > 0 ? [isList] : [])];
    return sql`coalesce(${sql.join(ways, ' OR ')}, false)`;
  },
  contains: (value, part) => sql`coalesce(strpos(lower(${value}), lower(${sql.text(part)})) > 0, false)`,
  matches: (value, pattern) => sql`coalesce(${value} ~ ${sql.text(toPostgresPattern(pattern))}, false)`,
  label,
  // Computes whole milliseconds. `extract` would return a decimal, which is slower to compute with.
  millis: (time) => sql`round(date_part('epoch', ${time}) * 1000)`,
  positionKey: sql`(round(date_part('epoch', e.timestamp) * 1000 + ${sql.float(positionKeyOffset)}))::bigint || ''::text || e.uuid`,
  bucket: (time, edges) => sql`width_bucket(${time}, ${sql.times(edges)}) - 1`,
  groupsBeforeCounting: true,
  followsIndexes: true,
  percentile: (share, number) => sql`percentile_cont(${sql.float(share)}) WITHIN GROUP (ORDER BY ${number})`,
  lists: (one, other) => sql`array_to_json(ARRAY[array_agg((${one})::float8), array_agg((${other})::float8)])::text`,
  path: null,
  funnel: () => null,
  lifecycle: () => null,
  settingsOfGroups: sql``,
  bits: (place, happened) => sql`bit_or(CASE WHEN ${happened} THEN 1::bigint << (${place}) ELSE 0 END)`,
  bitPlaces: null,
  haveCommonBit: (one, other) => sql`(${one} & ${other}) <> 0`,
  points: (lists) => {
    const names = lists.map((_, at) => sql.numbered('s', at));
    const columns = names.map((name) => sql`, ${name}::bigint AS ${name}`);
    return sql`(SELECT point - 1 AS point${sql.join(columns, ' ')}
    FROM unnest(${sql.join(
      lists.map((list) => sql`${sql.floats(list)}`),
      ', ',
    )}) WITH ORDINALITY AS spans (${sql.join(names, ', ')}, point)) AS w`;
  },
  uuidText: (uuid) => uuid,
  nullable: (value) => value,
  whereKeys: (projectId, keys) => sql`WHERE e.project_id = ${sql.int(projectId)} AND (e.timestamp, e.uuid) IN (
    SELECT * FROM unnest(${sql.times(keys.map(({ timestamp }) => timestamp))}, ${sql.uuids(keys.map(({ uuid }) => uuid))}))`,
  document: (json) => sql`${json}::text`,
  bytes: (document) => sql`octet_length((${document})::text)`,
  characters: (value) => sql`char_length(${value})`,
  inByteOrder: (value) => sql`${value} COLLATE "C"`,
  actorId: (actorType: ActorType) => {
    switch (actorType.of) {
      case 'person':
        return person;
      case 'group':
        return groupKey(actorType.index);
      case 'session':
        return sql`nullif(e.properties ->> '$session_id', '')`;
      default:
        return actorType satisfies never;
    }
  },
  actorKey: (actorType) => postgresDialect.actorId(actorType),
};

function groupKey(index: number): Fragment {
  return sql`nullif(e.properties ->> ${sql.text(`$group_${index}`)}, '')`;
}

/** The lateral join with LIMIT prevents the planner from reading both tables completely for a hash join. */
function leftJoin(
  { from, as, looksUp }: { from: Fragment; as: Fragment; looksUp: boolean },
  condition: Fragment,
): Fragment {
  return looksUp
    ? sql`LEFT JOIN LATERAL (SELECT * FROM ${from} WHERE ${condition} LIMIT 1) AS ${as} ON true`
    : sql`LEFT JOIN ${from} ON ${condition}`;
}

/** Converts a local time to an instant. If the local time occurs twice, returns the earlier instant. */
function inZone(time: Fragment, zone: string): Fragment {
  const at = sql`${sql.text(zone)}`;
  const hourBefore = sql`((${time} AT TIME ZONE ${at}) - interval '1 hour')`;
  return sql`CASE WHEN ${hourBefore} AT TIME ZONE ${at} = ${time} THEN ${hourBefore} ELSE ${time} AT TIME ZONE ${at} END`;
}

function found(property: Exclude<Property, { of: 'column' }>): { json: Fragment; asText: Fragment } {
  const key = sql.text(property.key);
  const properties = propertiesOf(property);
  return { json: sql`(${properties} -> ${key})`, asText: sql`(${properties} ->> ${key})` };
}

function propertiesOf(property: Exclude<Property, { of: 'column' }>): Fragment {
  switch (property.of) {
    case 'event':
      return sql`e.properties`;
    case 'person':
      return sql`p.properties`;
    case 'stored person':
      return sql`e.person_properties`;
    case 'shown person':
      return sql`coalesce(p.properties, e.person_properties)`;
    case 'group':
      return sql`${sql.numbered('g', property.index)}.group_properties`;
    default:
      return property satisfies never;
  }
}

/** Returns a property as text: numbers in their shortest form, and lists and objects as compact JSON. */
function text(property: Property): Fragment {
  if (property.of === 'column') return column(property);
  const { json, asText } = found(property);
  const number = sql`(${json})::numeric`;
  // Very large and very small numbers have an exponent, as in ClickHouse. The text of `jsonb` has spaces between
  // tokens, which `compact` removes.
  return sql`CASE jsonb_typeof(${json})
    WHEN 'number' THEN CASE WHEN ${number} = 0 OR (abs(${number}) >= 1e-6 AND abs(${number}) < 1e21) THEN trim_scale(${number})::text
                            ELSE regexp_replace((${toFloat(number)})::text, 'e(?:[+]|(-)0?)', 'e\\1') END
    WHEN 'string' THEN ${asText}
    WHEN 'boolean' THEN ${asText}
    WHEN 'array' THEN ${compact(asText)} WHEN 'object' THEN ${compact(asText)} END`;
}

/** Removes the spaces between tokens of JSON text. */
const compact = (json: Fragment) => sql`regexp_replace(${json}, '("(?:[^"\\\\]|\\\\.)*")|([,:]) ', '\\1\\2', 'g')`;

function label({ property, isUrl, isBoolean, bins }: Breakdown): Fragment {
  if (bins !== null) {
    const number = postgresDialect.number(property);
    return sql`(width_bucket(${number}, ${sql.floats(bins)}) - 1)::text`;
  }
  // A value that equals the label for missing values is treated as missing.
  const whole = sql`nullif(nullif(${text(property)}, ${sql.text(nullLabel)}), '')`;
  const value = isUrl
    ? sql`coalesce(nullif(rtrim(${whole}, '/?#'), ''), CASE WHEN ${whole} IS NULL THEN NULL ELSE '/' END)`
    : isBoolean
      ? buildBooleanText(whole)
      : whole;
  return sql`left(${value}, ${sql.int(maxLabelLength)})`;
}

/**
 * Converts a number to a double. A number whose magnitude exceeds 1e300 becomes null and one below 1e-300 becomes 0,
 * because conversions that overflow or underflow fail in PostgreSQL.
 */
function toFloat(number: Fragment): Fragment {
  return sql`CASE WHEN abs(${number}) BETWEEN 1e-300 AND 1e300 THEN (${number})::float8
                  WHEN abs(${number}) < 1e-300 THEN 0 END`;
}

function numberOf(value: Fragment): Fragment {
  return sql`CASE WHEN ${value} ~ ${sql.text(numberPattern)} THEN (${value})::float8 END`;
}
