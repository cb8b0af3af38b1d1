// Events that ClickHouse itself generates. Every column is an expression of the event's number, so that the correct
// results of queries can be computed from the same expressions.
import { createSqlDatabase } from '@millrace/db';
import { type ClickHouseClient, copyPersonPortion, createTables, propertyColumns } from '@millrace/insights';
import { createLogger } from '@millrace/runtime';
import type { Bench } from '../harness/bench.ts';
import type { BenchDatabase } from '../harness/bench-database.ts';

const days = 90;
const dayMs = 86_400_000;
const eventsPerVisit = 5;

/**
 * The number of visits and regular visitors. Half of the visits are from persons who come only once, and the other half
 * from regular visitors.
 */
export interface GeneratedEvents {
  projectId: number;
  visits: number;
  regulars: number;
  /** Time of the first event, in milliseconds since 1970. */
  begin: number;
}

/**
 * Generates events and their persons, and copies the persons to ClickHouse as the delivery worker does. Uses the events
 * of an earlier run if ClickHouse still contains them.
 * @throws Error if ClickHouse contains a different number of events
 */
export async function ensureGeneratedEvents(
  { database, print, onEnd }: Pick<Bench, 'database' | 'print' | 'onEnd'>,
  client: ClickHouseClient,
  events: number,
): Promise<GeneratedEvents> {
  const postgres = { url: database.url };
  await createTables(client, postgres);
  // Parts of different days do not overlap, so merging them would only use CPU time during the measurements.
  await client.command({ query: 'SYSTEM STOP MERGES events' });
  const existing = await client.query({
    query: 'SELECT count(), toUnixTimestamp64Milli(min(timestamp)) FROM events',
    format: 'JSONCompactEachRow',
  });
  const [[count, begin] = ['0', '0']] = await existing.json<[string, string]>();
  const visits = Math.floor(events / eventsPerVisit);
  const plan = { projectId: database.projectId, visits, regulars: Math.ceil(visits / 25) };
  const isNew = Number(count) === 0;
  const size = { ...plan, begin: isNew ? Date.now() - days * dayMs : Number(begin) };
  if (isNew) {
    print(`generating ${events} events of ${days} days`);
    await Promise.all([fillPersons(database, size), fillClickHouse(client, size)]);
  } else if (Number(count) !== visits * eventsPerVisit) {
    throw new Error(`The directory has ${count} events. Use \`--events ${count}\`, or another directory.`);
  }
  const records = createSqlDatabase({ url: database.url, logger: createLogger('bench', 'warn'), poolSize: 1 });
  onEnd(() => records.stop());
  while ((await copyPersonPortion({ database: records, client, postgres }))?.hasMore !== false);
  return size;
}

/** Returns the number of persons. Persons are numbered consecutively, beginning with the regular visitors. */
const personsOf = ({ visits, regulars }: GeneratedEvents) => regulars + Math.floor(visits / 2);

export const buildPlanExpression = (number: string) => `['free','pro','team'][1 + ${number} % 3]`;
const personUuidOf = (number: string) => `toUUID(lower(hex(MD5(concat('person ', toString(${number}))))))`;
export const buildUuidExpression = (number: string) => `toUUID(lower(hex(MD5(concat('event ', toString(${number}))))))`;
const distinctIdOf = (person: string) => `concat('id ', toString(${person}))`;

/**
 * Selects the generated events of the visits in a range. One person in a hundred was merged into the next one after all
 * events.
 * @param columns expressions of `number`, `visit`, `step`, `person`, `owner` (the person after merges), `ms` and
 * `event`
 */
export function buildGeneratedEventsSql(
  { visits, regulars, begin }: GeneratedEvents,
  columns: string,
  [from, to] = [0, visits],
): string {
  const msPerVisit = (days * dayMs) / visits;
  return `SELECT ${columns} FROM (
    SELECT number, intDiv(number, ${eventsPerVisit}) AS visit, number % ${eventsPerVisit} AS step,
           if(visit % 2 = 0, (intDiv(visit, 2) * 7919) % ${regulars}, ${regulars} + intDiv(visit, 2)) AS person,
           if(person % 100 = 0, person + 1, person) AS owner,
           ${begin} + toInt64(floor(visit * ${msPerVisit})) + step * 20000 AS ms,
           multiIf(step = 0 OR step = 1 AND visit % 10 < 9, '$pageview', step = 2, 'clicked', step = 3 AND visit % 4 = 0, 'added',
                   step = 3, 'viewed', visit % 20 = 0, 'ordered', visit % 1000 = 1, 'rare', concat('event ', toString(visit % 14))) AS event
      FROM (SELECT number + ${from * eventsPerVisit} AS number FROM numbers(${(to - from) * eventsPerVisit})))`;
}

/** Properties that have their own column, with the expressions of their values. */
const usual: Readonly<Record<string, string>> = {
  $browser: "['Chrome','Chrome','Safari','Firefox','Edge','Opera'][1 + visit % 6]",
  $os: "['Mac OS X','Windows','Android','iOS','Linux'][1 + visit % 5]",
  $device_type: "'Desktop'",
  $lib: "'web'",
  $geoip_country_code: "['DE','FR','PT','AT','NO'][1 + visit % 5]",
  $current_url: "concat('https://shop.example.com/shelf/', toString(number % 997))",
  $pathname: "concat('/shelf/', toString(number % 997))",
  $referrer: "'https://search.example.com/'",
  $session_id: 'hex(sipHash128(visit))',
};
const others = `'"plan":"', ${buildPlanExpression('number')}, '","price":', toString((number % 20000) / 100),
  ',"quantity":', toString(1 + number % 4), ',"order_code":"', toString(cityHash64(number)),
  '","$lib_version":"1.449.2","$screen_height":1080,"$screen_width":1920,"$viewport_height":900,"$viewport_width":1440,',
  '"$timezone":"Europe/Berlin","$raw_user_agent":"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",',
  '"$insert_id":"', hex(MD5(toString(number))), '"}'`;
const properties = `concat('{', ${Object.entries(usual)
  .map(([name, value]) => `'"${name}":"', ${value}, '",', `)
  .join('')}${others})`;

/**
 * Fills ClickHouse's table with one sorted part per day. Sorts the numbers before it builds the large values, because
 * sorting large values would take most of the time. Also supplies the values of computed columns, so that ClickHouse
 * does not have to parse JSON.
 */
async function fillClickHouse(client: ClickHouseClient, size: GeneratedEvents): Promise<void> {
  const time = "fromUnixTimestamp64Milli(ms, 'UTC')";
  const [uuid, distinctId] = [buildUuidExpression('number'), distinctIdOf('person')];
  const names = [...propertyColumns.few, ...propertyColumns.many];
  const columns = `${size.projectId}, ${time}, ${uuid}, event, ${distinctId}, ${personUuidOf('person')}, ${time}, '{}', 'full',
    ${properties} AS properties, properties, tuple(${names.map((name) => usual[name] ?? 'NULL').join(', ')}), '', false, ${time}, ${time}`;
  for (let day = 0; day < days; day += 1) {
    const generated = buildGeneratedEventsSql(size, '*', [visitOf(size, day), visitOf(size, day + 1)]);
    await client.command({
      query: `INSERT INTO events (project_id, timestamp, uuid, event, distinct_id, person_id, person_created_at, person_properties,
          person_mode, properties, readable, usual, elements_chain, historical_migration, captured_at, created_at)
        SETTINGS insert_allow_materialized_columns = 1, max_insert_threads = 1, min_insert_block_size_rows = 2000000,
          min_insert_block_size_bytes = 4000000000
        SELECT ${columns} FROM (${generated} ORDER BY toDate(${time}), event, cityHash64(${distinctId}), ${uuid})`,
    });
  }
}

const visitOf = ({ visits }: GeneratedEvents, day: number) => Math.round((visits * day) / days);

/** Stores the persons of all events in PostgreSQL, from which ClickHouse reads them. */
async function fillPersons(database: BenchDatabase, size: GeneratedEvents): Promise<void> {
  const uuid = (number: string) => `md5('person ' || ${number})::uuid`;
  const everyMs = (2 * days * dayMs) / size.visits;
  for (let first = 0; first < personsOf(size); first += 500_000) {
    const range = [size.projectId, first, Math.min(first + 500_000, personsOf(size)) - 1];
    await database.query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1::int, ${uuid('number')}, 'id ' || number,
              jsonb_build_object('plan', (ARRAY['free','pro','team'])[1 + number % 3], 'email', 'person' || number || '@example.com',
                '$initial_referrer', 'https://search.example.com/', '$initial_os', 'Linux'),
              to_timestamp(($4::float8 + CASE WHEN number < $5::int THEN number * 1000 ELSE (number - $5::int) * $6::float8 END) / 1000)
         FROM generate_series($2::int, $3::int) AS number WHERE number % 100 <> 0`,
      [...range, size.begin, size.regulars, everyMs],
    );
    await database.query(
      `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version)
       SELECT $1::int, 'id ' || number, ${uuid('CASE WHEN number % 100 = 0 THEN number + 1 ELSE number END')},
              CASE WHEN number % 100 = 0 THEN 1 ELSE 0 END
         FROM generate_series($2::int, $3::int) AS number`,
      range,
    );
  }
  await database.query('VACUUM (ANALYZE) person, person_distinct_id');
}
