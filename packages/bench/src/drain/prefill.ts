// Fills a database with events before a measurement, because large tables make inserts slower.

import { createDatabase } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createMonthPartition, findMonth } from '../../../../services/event-consumer/src/events/store.ts';
import type { BenchDatabase } from '../harness/bench-database.ts';

const eventsPerPerson = 3;
const eventsPerStatement = 300_000;

/**
 * Stores events with their identities, and a person with a distinct ID for every third event, spread over all projects
 * of the database. All timestamps are in the current month, like those of the events that a consumer stores later, so
 * that the consumer writes to tables and indexes of this size. Properties are small, because only the cost of indexes
 * grows with the number of events. UUIDs increase over time, like version 7 UUIDs.
 */
export async function prefillEvents(database: BenchDatabase, count: number): Promise<void> {
  await createMonthPartitions(database.url);
  const until = new Date().toISOString();
  for (let first = 0; first < count; first += eventsPerStatement) {
    const range = [first, Math.min(first + eventsPerStatement, count) - 1, count, until];
    await Promise.all([
      database.query(`${rows} ${eventStatement}`, range),
      database.query(`${rows} ${identityStatement}`, range),
      database.query(personStatement, range.slice(0, 2)),
      database.query(mappingStatement, range.slice(0, 2)),
    ]);
  }
  await database.query('VACUUM (ANALYZE) event, event_identity, person, person_distinct_id');
}

/** Creates the partitions of the current month and of the `before` preceding months, as the consumer does. */
export async function createMonthPartitions(url: string, before = 0): Promise<void> {
  const own = createDatabase({ url, logger: createLogger('bench', 'warn'), poolSize: 1 });
  const now = new Date();
  try {
    for (let back = before; back >= 0; back -= 1) {
      const month = findMonth(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back));
      if (month !== null) await own.transaction((tx) => createMonthPartition(tx, month));
    }
  } finally {
    await own.stop();
  }
}

const projects = 'WITH projects AS (SELECT array_agg(id ORDER BY id) AS ids FROM environment)';
const projectOf = (person: string) => `ids[1 + ${person} % cardinality(ids)]`;

const persons = `${projects}
  SELECT ${projectOf('number')} AS project_id, md5('person ' || number)::uuid AS uuid, 'stored-' || number AS distinct_id
    FROM projects, generate_series($1::int / ${eventsPerPerson}, $2::int / ${eventsPerPerson}) AS number`;

const personStatement = `
  INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
  SELECT project_id, uuid, distinct_id, '{"$initial_os": "Linux", "plan": "free"}', now() FROM (${persons}) AS persons
  ON CONFLICT DO NOTHING`;

const mappingStatement = `
  INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid)
  SELECT project_id, distinct_id, uuid FROM (${persons}) AS persons
  ON CONFLICT DO NOTHING`;

const rows = `${projects}, rows AS (
  SELECT ${projectOf(`(number / ${eventsPerPerson})`)} AS project_id, (lpad(to_hex(number), 12, '0') || '7' || substr(md5('event ' || number), 1, 3) || '8'
           || substr(md5('event ' || number), 4, 15))::uuid AS uuid,
         md5('person ' || number / ${eventsPerPerson})::uuid AS person_id,
         'stored-' || number / ${eventsPerPerson} AS distinct_id,
         date_trunc('milliseconds', month + ($4::timestamptz - month) * (number::float8 / $3::int)) AS timestamp
    FROM projects, generate_series($1::int, $2::int) AS number,
         (SELECT date_trunc('month', $4::timestamptz, 'UTC') AS month) AS this)`;

const identityStatement =
  'INSERT INTO event_identity (project_id, uuid, timestamp) SELECT project_id, uuid, timestamp FROM rows';

const eventStatement = `
  INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
  SELECT project_id, timestamp, uuid, '$pageview', distinct_id, person_id, '{"$os": "Linux"}', timestamp FROM rows`;
