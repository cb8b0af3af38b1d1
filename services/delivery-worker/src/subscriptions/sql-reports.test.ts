import { createTestTenant, patienceMs, type TestTenant } from '@millrace/testing';
import { runOneRound } from '../testing/one-round.ts';
import { storeSubscription } from '../testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createDueReports } from './create-reports.ts';
import { createDeliveryMetrics, deliverDueReports } from './deliver.ts';
import { scheduleDueReports } from './schedule.ts';

let fixture: WorkerFixture;
let tenant: TestTenant;
beforeAll(async () => {
  fixture = await startWorkerFixture();
  tenant = await createTestTenant(fixture.database);
  const { sql } = fixture.database;
  await sql.query(`CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01Z') TO ('2100-01-01Z')`);
  await sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
     SELECT $1, at, gen_random_uuid(), 'order', 'ada', '00000000-0000-4000-8000-000000000001', '{}', at, at
       FROM unnest($2::timestamptz[]) AS at`,
    [tenant.environmentId, ['2026-11-01T08:00:00Z', ...[5, 5, 6, 7, 7, 7].map((day) => `2026-11-0${day}T08:00:00Z`)]],
  );
  await sql.query(
    `INSERT INTO insight_variable (id, environment_id, name, code_name, type, default_value, "values")
     VALUES (gen_random_uuid(), $1, 'Least', 'least', 'Number', '1', 'null')`,
    [tenant.environmentId],
  );
});
afterAll(() => fixture.stop());

async function send(): Promise<void> {
  await scheduleDueReports(fixture.database, new Date('2026-11-10T12:00:00Z'));
  const { signal: stopping } = new AbortController();
  await runOneRound((slots) => createDueReports({ ...fixture, stopping }, slots));
  const counter = createDeliveryMetrics(fixture.metrics);
  const deps = { ...fixture, mailsPerHour: 0, publicAppUrl: undefined, publicApiUrl: 'https://millrace.example.com' };
  await runOneRound((slots) =>
    deliverDueReports({ ...deps, mayBePrivate: true, postTimeoutMs: patienceMs, counter }, slots),
  );
}

test("an email shows the chart, number and rows of SQL insights, with the dashboard's filters applied", async () => {
  const { sql } = fixture.database;
  const { environmentId } = tenant;
  const [board] = await sql.query<{ id: number }>(
    `INSERT INTO dashboard (project_id, name, filters, variables) VALUES ($1, 'Shop', $2, $3) RETURNING id`,
    [environmentId, JSON.stringify({ date_from: '-7d' }), JSON.stringify({ any: { code_name: 'least', value: 2 } })],
  );
  const perDay = `SELECT toDate(timestamp) AS day, count() AS orders FROM events WHERE {filters}
    GROUP BY day HAVING count() >= {variables.least} ORDER BY day`;
  const node = (display: string, query = perDay) => ({
    kind: 'DataVisualizationNode',
    display,
    source: { kind: 'HogQLQuery', query },
  });
  const insights = [
    ['Per day', node('ActionsLineGraph')],
    ['In total', node('BoldNumber', 'SELECT count() AS orders FROM events WHERE {filters}')],
    ['Rows', { kind: 'HogQLQuery', query: perDay }],
    ['Broken', { kind: 'HogQLQuery', query: 'SELECT evnt FROM events' }],
  ] as const;
  for (const [at, [name, query]] of insights.entries())
    await sql.query(
      `WITH made AS (INSERT INTO insight (project_id, short_id, name, query) VALUES ($1, $2, $3, $4) RETURNING id)
       INSERT INTO dashboard_tile (dashboard_id, insight_id, layouts) SELECT $5, id, $6 FROM made`,
      [
        environmentId,
        `sql${at}`,
        name,
        JSON.stringify(query),
        board?.id,
        JSON.stringify({ sm: { x: 0, y: at, w: 6, h: 5 } }),
      ],
    );
  const subscription = { next_delivery_date: '2026-11-09T09:00:00Z', dashboard: board?.id };
  await storeSubscription(sql, environmentId, subscription);
  await send();
  const [mail] = fixture.mailServer.mails;
  const rows = 'day         orders\n2026-11-05  2\n2026-11-07  3';
  expect(mail?.body).toContain(`Per day\n${rows}`);
  expect(mail?.body).toContain('In total\norders: 6');
  expect(mail?.body).toContain(`Rows\n${rows}`);
  expect(mail?.body).toContain('Broken\nNo results: Unable to resolve field: evnt');
  expect(mail?.html).toMatch(/2026-11-07<\/td>.*3<\/td>/);
  expect(mail?.attachments).toHaveLength(2);
});
