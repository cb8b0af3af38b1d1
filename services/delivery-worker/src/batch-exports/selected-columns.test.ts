import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { readExportQuery } from '@millrace/insights';
import { createTestTenant } from '@millrace/testing';
import S3rver from 's3rver';
import { runOneRound } from '../testing/one-round.ts';
import { storeExport } from '../testing/stored-export.ts';
import { startWarehouse, type Warehouse } from '../testing/warehouse.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { planRun } from './plan.ts';
import { createExportMetrics, type ExportRunDeps, runDueExports } from './run.ts';

let fixture: WorkerFixture;
let warehouse: Warehouse;
let deps: ExportRunDeps;
let storage: S3rver;
let directory: string;
let client: S3Client;
let s3: Record<string, unknown>;
beforeAll(async () => {
  [fixture, warehouse] = await Promise.all([startWorkerFixture(), startWarehouse()]);
  deps = { ...fixture, mayBePrivate: true, counter: createExportMetrics(fixture.metrics) };
  directory = await mkdtemp(join(tmpdir(), 'millrace-s3-'));
  storage = new S3rver({
    ...{ port: 0, address: '127.0.0.1', silent: true, directory },
    configureBuckets: [{ name: 'b' }],
  });
  const endpoint = `http://127.0.0.1:${(await storage.run()).port}`;
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials });
  s3 = {
    destination_type: 'S3',
    destination_config: { bucket_name: 'b', region: 'us-east-1', endpoint_url: endpoint },
    destination_secrets: { aws_access_key_id: 'S3RVER', aws_secret_access_key: 'S3RVER' },
  };
});
afterAll(async () => {
  client.destroy();
  await storage.close();
  await rm(directory, { recursive: true, force: true });
  await Promise.all([warehouse.stop(), fixture.stop()]);
});

const forever = new AbortController().signal;
async function runAll(): Promise<void> {
  while (await planRun(fixture));
  while (await runOneRound((slots) => runDueExports(deps, forever, slots)));
}
const runOf = async (id: string) =>
  (
    await fixture.database.sql.query(
      'SELECT status, records_completed, latest_error FROM batch_export_run WHERE batch_export_id = $1',
      [id],
    )
  )[0];

interface StoredEvent {
  event?: string;
  properties: Record<string, unknown>;
  timestamp?: string;
}

async function projectWith(events: readonly StoredEvent[]): Promise<number> {
  const { environmentId } = await createTestTenant(fixture.database);
  for (const { event = 'order', properties, timestamp = '2010-01-02T09:59:59.250Z' } of events) {
    await fixture.database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, person_mode, properties,
                          elements_chain, captured_at, created_at)
       VALUES ($1, $2, gen_random_uuid(), $3, 'ada', gen_random_uuid(), '{"plan": "free"}', 0, $4, '', $2, '2026-11-10T10:30:00Z')`,
      [environmentId, timestamp, event, properties],
    );
  }
  return environmentId;
}

async function exportOf(environmentId: number, text: string, destination: Record<string, unknown>): Promise<string> {
  const { parser } = fixture;
  const query = await readExportQuery(
    { sql: fixture.database.sql, parser },
    { projectId: environmentId, text, now: Date.now() },
  );
  return storeExport(fixture.database.sql, environmentId, {
    ...destination,
    query: JSON.stringify(query),
    end_at: '2026-11-10T11:00:00Z',
  });
}

async function linesOf(prefix: string): Promise<Record<string, unknown>[]> {
  const Key = `${prefix}/2026-11-10T10:00:00Z-2026-11-10T11:00:00Z.jsonl`;
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'b', Key }));
  const text = (await Body?.transformToString()) ?? '';
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
const to = (prefix: string) => ({ ...s3, destination_config: { ...(s3.destination_config as object), prefix } });

test('writes the selected columns of matching events to S3', async () => {
  const environmentId = await projectWith([
    { properties: { amount: 12.5, items: ['pen'], paid: true } },
    { properties: { amount: 7 } },
    { properties: { amount: 1000 }, event: 'refund' },
  ]);
  const id = await exportOf(
    environmentId,
    `SELECT toString(uuid) AS uuid, upper(event) AS timestamp, toFloat(properties.amount) * 2 AS double, properties AS document,
            events.timestamp AS at, toDate(events.timestamp) AS day, person.properties.plan AS plan, [event, distinct_id] AS list,
            event = 'order' AS is_order, NULL AS none, 'a''b"c\n' AS "it's"
       FROM events WHERE event = 'order'`,
    to('columns'),
  );
  await runAll();
  expect(await runOf(id)).toEqual({ status: 'Completed', records_completed: 2, latest_error: null });
  const lines = await linesOf('columns');
  expect(lines.map(({ double }) => double).sort()).toEqual([14, 25]);
  const line = lines.find(({ double }) => double === 25);
  expect(Object.entries(line ?? {})).toEqual([
    ['uuid', expect.stringMatching(/^[0-9a-f-]{36}$/)],
    ['timestamp', 'ORDER'],
    ['double', 25],
    ['document', { amount: 12.5, items: ['pen'], paid: true }],
    ['at', '2010-01-02T09:59:59.250000Z'],
    ['day', '2010-01-02'],
    ['plan', 'free'],
    ['list', ['order', 'ada']],
    ['is_order', 1],
    ['none', null],
    ["it's", 'a\'b"c\n'],
  ]);
});

test('creates a table with typed columns, and does not duplicate rows when an interval is exported again', async () => {
  const environmentId = await projectWith([{ properties: { amount: 12.5, big: 2 ** 40 } }, { properties: {} }]);
  const table = `t_${randomUUID().slice(0, 8)}`;
  const id = await exportOf(
    environmentId,
    `SELECT uuid AS id, event, toFloat(properties.amount) AS amount, toInt(properties.big) AS big, timestamp AS at,
            toDate(timestamp) AS day, event = 'order' AS flag, properties AS document, [1, 2] AS list,
            toBool(properties.paid) AS paid
       FROM events AS e WHERE e.distinct_id = 'ada'`,
    { destination_config: { ...warehouse.config, table_name: table } },
  );
  await runAll();
  const again = () =>
    fixture.database.sql.query(
      `UPDATE batch_export_run SET status = 'Starting', finished_at = NULL, attempt_at = now() WHERE batch_export_id = $1`,
      [id],
    );
  await again();
  await runAll();
  expect(await runOf(id)).toEqual({ status: 'Completed', records_completed: 2, latest_error: null });
  const types = await warehouse.query(
    `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '${table}' ORDER BY ordinal_position`,
  );
  expect(types.map(({ column_name: name, data_type: type }) => [name, type])).toEqual([
    ['id', 'uuid'],
    ['event', 'text'],
    ['amount', 'double precision'],
    ['big', 'bigint'],
    ['at', 'timestamp with time zone'],
    ['day', 'date'],
    ['flag', 'bigint'],
    ['document', 'jsonb'],
    ['list', 'jsonb'],
    ['paid', 'boolean'],
  ]);
  expect(await warehouse.query(`SELECT * FROM "${table}" ORDER BY amount`)).toMatchObject([
    {
      event: 'order',
      amount: 12.5,
      big: String(2 ** 40),
      at: new Date('2010-01-02T09:59:59.250Z'),
      flag: '1',
      list: [1, 2],
    },
    { event: 'order', amount: null, big: null, document: {}, paid: null },
  ]);
});

test('exports every event of a large interval exactly once', async () => {
  const environmentId = await projectWith([]);
  await fixture.database.sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, person_mode, properties,
                        elements_chain, captured_at, created_at)
     SELECT $1, '2010-01-01T10:00:00Z', gen_random_uuid(), 'page', 'd' || n, gen_random_uuid(), '{}', 0, jsonb_build_object('n', n),
            '', now(), timestamptz '2026-11-10T10:00:00Z' + (n / 10) * interval '1 second' FROM generate_series(1, 2600) AS n`,
    [environmentId],
  );
  const id = await exportOf(environmentId, 'SELECT toInt(properties.n) AS n FROM events WHERE n % 2 = 0', to('large'));
  await runAll();
  expect(await runOf(id)).toMatchObject({ status: 'Completed', records_completed: 1300 });
  const numbers = (await linesOf('large')).map(({ n }) => Number(n)).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 1300 }, (_, at) => (at + 1) * 2));
});

test('exports the person that was stored with the event, even after a merge', async () => {
  const environmentId = await projectWith([{ properties: {} }]);
  const [stored] = await fixture.database.sql.query<{ id: string }>(
    'SELECT person_id AS id FROM event WHERE project_id = $1',
    [environmentId],
  );
  await fixture.database.sql.query(
    `WITH p AS (INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
                VALUES ($1, gen_random_uuid(), 'ada', '{"plan": "paid"}', now()) RETURNING uuid)
     INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version) SELECT $1, 'ada', uuid, 1 FROM p`,
    [environmentId],
  );
  await exportOf(
    environmentId,
    'SELECT person_id, person.id AS id, person.properties.plan AS plan FROM events',
    to('merged'),
  );
  await runAll();
  expect(await linesOf('merged')).toEqual([{ person_id: stored?.id, id: stored?.id, plan: 'free' }]);
});

test("keeps a column's type when the property's definition changes", async () => {
  const environmentId = await projectWith([{ properties: { amount: '12' } }]);
  await exportOf(environmentId, 'SELECT properties.amount AS amount FROM events', to('typed'));
  await fixture.database.sql.query(
    `INSERT INTO property_definition (project_id, type, group_type_index, name, property_type, last_seen_at)
     VALUES ($1, 1, -1, 'amount', 'Numeric', now())`,
    [environmentId],
  );
  await runAll();
  expect(await linesOf('typed')).toEqual([{ amount: '12' }]);
});
