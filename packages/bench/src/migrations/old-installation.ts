import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';

/** Everything lies in one project, which has this id. */
export const projectId = 1;
const rowsPerStatement = 500_000;
export const eventsPerPerson = 5;

/** Fills the tables of the first landing, whose columns every later state still has, as those of an installation that has run for long. */
export async function fillOldInstallation(database: Pool, events: number): Promise<void> {
  const organization = randomUUID();
  await database.query('INSERT INTO organization (id, name) VALUES ($1, $2)', [organization, 'bench']);
  await database.query('INSERT INTO project (id, organization_id) VALUES ($1, $2)', [projectId, organization]);
  await database.query('INSERT INTO environment (id, uuid, project_id, api_token) VALUES ($1, $2, $1, $3)', [
    projectId,
    randomUUID(),
    'phc_bench',
  ]);
  await database.query(`
    DO $$ BEGIN
      EXECUTE format('CREATE TABLE "event_%s" PARTITION OF event FOR VALUES FROM (%L) TO (%L)',
        to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM'), date_trunc('month', now(), 'UTC'),
        date_trunc('month', now(), 'UTC') + interval '1 month');
    END $$`);
  for (let from = 0; from < events; from += rowsPerStatement) {
    const range = [from, Math.min(from + rowsPerStatement, events) - 1];
    await Promise.all(fillings.map((statement) => database.query(statement, range)));
  }
  await database.query('VACUUM (ANALYZE) event, event_identity, person, person_distinct_id');
}

/** Uuids that rise as those of version 7 do. */
const uuidOf = (number: string) =>
  `(lpad(to_hex(${number}), 12, '0') || '70008000' || lpad(to_hex(${number}), 12, '0'))::uuid`;
const personOf = (number: string) => `md5('person ' || (${number}) / ${eventsPerPerson})::uuid`;
const timeOf = (number: string) =>
  `date_trunc('month', now(), 'UTC') + (${number} % 1000000) * interval '1 millisecond'`;

const fillings = [
  `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
   SELECT ${projectId}, ${timeOf('n')}, ${uuidOf('n')}, '$pageview', 'd' || n / ${eventsPerPerson}, ${personOf('n')},
          '{"$os": "Linux", "$current_url": "https://a.example/some/page"}', now() FROM generate_series($1::int, $2::int) AS n`,
  `INSERT INTO event_identity (project_id, uuid, timestamp)
   SELECT ${projectId}, ${uuidOf('n')}, ${timeOf('n')} FROM generate_series($1::int, $2::int) AS n`,
  `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
   SELECT ${projectId}, ${personOf('n')}, 'd' || n / ${eventsPerPerson}, '{"plan": "free"}', now()
     FROM generate_series($1::int, $2::int, ${eventsPerPerson}) AS n`,
  `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid)
   SELECT ${projectId}, 'd' || n / ${eventsPerPerson}, ${personOf('n')} FROM generate_series($1::int, $2::int, ${eventsPerPerson}) AS n`,
];
