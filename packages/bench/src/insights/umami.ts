/**
 * Stores the events in the PostgreSQL format of Umami (github.com/umami-software/umami, MIT), and runs Umami's queries
 * for the same figures.
 */
import type { BenchDatabase } from '../harness/bench-database.ts';

const website = '00000000-0000-4000-8000-000000000001';

/**
 * Copies the events into Umami's data model. Page views have a separate event type. A visitor is one session per month
 * and is never merged. Properties are in a separate table, which the benchmark's queries do not read.
 */
export async function fillUmami(database: BenchDatabase): Promise<void> {
  await database.query('CREATE SCHEMA umami');
  await database.query(
    `CREATE TABLE umami.website_event AS
       SELECT uuid AS event_id, '${website}'::uuid AS website_id, person_id AS session_id, person_id AS visit_id, timestamp AS created_at,
              left(properties ->> '$pathname', 500)::varchar(500) AS url_path, CASE WHEN event = '$pageview' THEN 1 ELSE 2 END AS event_type,
              CASE WHEN event = '$pageview' THEN NULL ELSE event END::varchar(50) AS event_name
         FROM event WHERE project_id = $1`,
    [database.projectId],
  );
  // Of Umami's thirteen indexes, create only those that the queries can use.
  await database.query('CREATE INDEX ON umami.website_event (created_at)');
  await database.query('CREATE INDEX ON umami.website_event (website_id, created_at)');
  await database.query('VACUUM (ANALYZE) umami.website_event');
}

const byDay = (number: string) => `
  SELECT to_char(date_trunc('day', created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS x, ${number} AS y
    FROM umami.website_event
   WHERE website_id = '${website}' AND created_at BETWEEN now() - interval '30 days' AND now() AND event_type = 1
   GROUP BY 1 ORDER BY 1`;

export const umamiPageviews = byDay('count(*)');
export const umamiVisitors = byDay('count(DISTINCT session_id)');
