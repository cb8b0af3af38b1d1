// Creates the events of the insight benchmark.

import { createMonthPartitions } from '../drain/prefill.ts';
import type { BenchDatabase } from '../harness/bench-database.ts';

const days = 90;
const eventsPerPerson = 10;
const eventsPerStatement = 200_000;

/**
 * Fills a project for insight queries: events with 20 names and about twenty properties, spread over 90 days. There is
 * one person per ten events, and one person in a hundred was later merged into a different one.
 */
export async function fillInsights(database: BenchDatabase, count: number): Promise<void> {
  await createMonthPartitions(database.url, Math.ceil(days / 28));
  const { projectId } = database;
  for (let first = 0; first < count; first += eventsPerStatement) {
    const last = Math.min(first + eventsPerStatement, count) - 1;
    await Promise.all([
      database.query(eventStatement, [projectId, first, last, count]),
      database.query(personStatement, [projectId, first / eventsPerPerson, Math.floor(last / eventsPerPerson), count]),
    ]);
  }
  await database.query('VACUUM (ANALYZE) event, person, person_distinct_id');
}

const personOf = (number: string) => `md5('person ' || ${number})::uuid`;
/** Most events of a person are within a period of a few weeks. */
const person = `((number * 7919::bigint) % ($4::bigint / ${eventsPerPerson}))`;

const eventStatement = `
  INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_created_at, properties, captured_at, created_at)
  SELECT $1::int, at, md5('event ' || number)::uuid,
         CASE WHEN number % 100 < 38 THEN '$pageview' WHEN number % 100 < 60 THEN 'clicked' WHEN number % 100 < 75 THEN 'viewed'
              WHEN number % 1000 = 999 THEN 'rare' WHEN number % 100 < 80 THEN 'added' WHEN number % 100 < 83 THEN 'ordered'
              ELSE 'event ' || number % 14 END,
         'id ' || person, ${personOf('person')}, at, properties, at, at
    FROM (SELECT number, ${person} AS person,
                 date_trunc('milliseconds', now() - interval '${days} days' * (1 - number::float8 / $4::bigint)) AS at,
                 jsonb_build_object(
                   '$browser', (ARRAY['Chrome','Chrome','Safari','Firefox','Edge','Opera'])[1 + number % 6],
                   '$os', (ARRAY['Mac OS X','Windows','Android','iOS','Linux'])[1 + number % 5], 'plan', (ARRAY['free','pro','team'])[1 + number % 3],
                   '$current_url', 'https://shop.example.com/shelf/' || number % 997, '$pathname', '/shelf/' || number % 997, 'price', (number % 20000) / 100.0,
                   'quantity', 1 + number % 4, '$referrer', 'https://search.example.com/', '$lib', 'web', '$lib_version', '1.449.2',
                   '$screen_height', 1080, '$screen_width', 1920, '$viewport_height', 900, '$viewport_width', 1440, '$session_id', md5('session ' || number / 5),
                   '$device_type', 'Desktop', '$geoip_country_code', (ARRAY['DE','FR','PT','AT','NO'])[1 + number % 5], '$timezone', 'Europe/Berlin',
                   '$insert_id', md5(number::text)) AS properties
            FROM generate_series($2::bigint, $3::bigint) AS number) AS numbered`;

const personStatement = `
  WITH numbers AS (SELECT number FROM generate_series($2::bigint, $3::bigint) AS number WHERE number < $4::bigint / ${eventsPerPerson}),
       made AS (
         INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
         SELECT $1::int, ${personOf('number')}, 'id ' || number, '{"plan": "free"}', now() - interval '${days} days' * random()
           FROM numbers ON CONFLICT DO NOTHING)
  INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version)
  SELECT $1::int, 'id ' || number, ${personOf('CASE WHEN number % 100 = 0 THEN number + 1 ELSE number END')},
         CASE WHEN number % 100 = 0 THEN 1 ELSE 0 END
    FROM numbers ON CONFLICT DO NOTHING`;
