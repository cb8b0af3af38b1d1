import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createTestDatabase, createTestTenant, type TestDatabase } from '@millrace/testing';
import pg from 'pg';

const page = new URL('../../../../docs/guides/grafana-metabase.md', import.meta.url);

/** The name must be unique, because other tests use the same server, and all databases of a server share its roles. */
const role = `millrace_reporting_${randomUUID().slice(0, 8)}`;

let database: TestDatabase;
let owner: pg.Client;
let reader: pg.Client;
let queries: string[];
let removal: string;

function expandMacros(query: string): string {
  return query
    .replace('$__timeGroupAlias(timestamp, $__interval)', `date_bin('1 hour', timestamp, 'epoch') AS "time"`)
    .replace('$__timeFilter(timestamp)', "timestamp BETWEEN now() - interval '30 days' AND now()");
}

beforeAll(async () => {
  const text = await readFile(page, 'utf8');
  const blocks = [...text.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql = '']) => sql);
  database = await createTestDatabase();
  const ada = await createTestTenant(database.url);
  const other = await createTestTenant(database.url);
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(`CREATE TABLE event_any PARTITION OF event FOR VALUES FROM ('2015-01-01Z') TO ('2200-01-01Z')`);

  const ofGuide = (sql: string) =>
    sql.replaceAll('project_id = 1;', `project_id = ${ada.projectId};`).replaceAll('millrace_reporting', role);
  const [views = '', createRole = '', ...rest] = blocks.map(ofGuide);
  removal = rest.pop() ?? '';
  queries = rest.map(expandMacros);
  await owner.query(views);
  await owner.query(createRole);

  for (const { projectId } of [ada, other]) await storeVisits(projectId);
  const url = new URL(database.url);
  url.username = role;
  url.password = 'choose a password';
  reader = new pg.Client({ connectionString: url.toString() });
  await reader.connect();
});

afterAll(async () => {
  await reader?.end();
  await owner?.query(removal);
  await owner?.end();
  await database?.drop();
});

/** Stores events of a visitor who views a product, signs in (which merges two distinct IDs) and orders. */
async function storeVisits(projectId: number): Promise<void> {
  const [ada, visitor] = [randomUUID(), randomUUID()];
  const persons = `INSERT INTO person (project_id, uuid, main_distinct_id, properties, is_identified, created_at)
    VALUES ($1, $2, 'ada', '{"email":"ada@example.com"}', true, now())`;
  await owner.query(persons, [projectId, ada]);
  const ids = 'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version) VALUES ($1, $2, $3, $4)';
  await owner.query(ids, [projectId, 'ada', ada, 0]);
  await owner.query(ids, [projectId, 'visitor', ada, 1]);
  // The events must all be on the same day and in the same week, even if the test runs shortly after midnight.
  const event = `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
    VALUES ($1, CASE WHEN now() < date_trunc('day', now()) + interval '40 minutes' THEN date_trunc('day', now()) ELSE now() END
                - make_interval(mins => $2), gen_random_uuid(), $3, $4, $5, $6, now())`;
  const add = (minutes: number, name: string, id: string, person: string, properties: object) =>
    owner.query(event, [projectId, minutes, name, id, person, JSON.stringify(properties)]);
  await add(30, '$pageview', 'visitor', visitor, {});
  await add(29, 'product viewed', 'visitor', visitor, { product: 'hand-mill' });
  await add(20, '$pageview', 'ada', ada, {});
  await add(10, 'order placed', 'ada', ada, { product: 'hand-mill', total: 189 });
  await add(5, 'order placed', 'ada', ada, { product: 'hand-mill', total: 'unknown' });
}

test('the reporting role can run each query of the guide, which counts only the given project', async () => {
  const results: unknown[] = [];
  for (const query of queries) results.push((await reader.query(query)).rows);
  expect(results).toEqual([
    [expect.objectContaining({ orders: '2' })],
    [expect.objectContaining({ visitors: '1' })],
    [{ product: 'hand-mill', orders: '1', revenue: '189' }],
    [expect.objectContaining({ email: 'ada@example.com', orders: '2' })],
    [{ viewed: '1', ordered: '1' }],
    expect.arrayContaining([expect.objectContaining({ 'page views': expect.any(String) })]),
  ]);
});

test.each([
  ['SELECT * FROM public.event', 'permission denied for table event'],
  ['SELECT * FROM public."user"', 'permission denied for table user'],
  ['SELECT * FROM clickhouse.event', 'permission denied for schema clickhouse'],
  ['DELETE FROM reporting.person', 'permission denied for view person'],
  ['CREATE TABLE reporting.mine ()', 'cannot execute CREATE TABLE in a read-only transaction'],
])('the reporting role cannot run %s', async (query, message) => {
  await expect(reader.query(query)).rejects.toThrow(message);
});

test('a query of the reporting role reads only the partitions of the months in its time range', async () => {
  await owner.query(`SET ROLE ${role}`);
  const plan = await owner.query(`EXPLAIN ${queries[0]}`);
  await owner.query('RESET ROLE');
  expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('event_before_2015');
});
