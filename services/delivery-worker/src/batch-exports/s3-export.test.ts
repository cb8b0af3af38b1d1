import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { createTestTenant } from '@millrace/testing';
import S3rver from 's3rver';
import { runOneRound } from '../testing/one-round.ts';
import { storeEvents, storeExport } from '../testing/stored-export.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { planRun } from './plan.ts';
import { createExportMetrics, type ExportRunDeps, runDueExports } from './run.ts';

let fixture: WorkerFixture;
let deps: ExportRunDeps;
let server: S3rver;
let directory: string;
let client: S3Client;
let config: Record<string, unknown>;
const bucket = 'exports';
const secrets = { aws_access_key_id: 'S3RVER', aws_secret_access_key: 'S3RVER' };
beforeAll(async () => {
  fixture = await startWorkerFixture();
  directory = await mkdtemp(join(tmpdir(), 'millrace-s3-'));
  server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: bucket }] });
  const endpoint = `http://127.0.0.1:${(await server.run()).port}`;
  client = new S3Client({
    endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
  config = { bucket_name: bucket, region: 'us-east-1', prefix: '/a/{year}/{table}/', endpoint_url: endpoint };
  deps = { ...fixture, mayBePrivate: true, counter: createExportMetrics(fixture.metrics) };
});
afterAll(async () => {
  client.destroy();
  await server.close();
  await rm(directory, { recursive: true, force: true });
  await fixture.stop();
});

const forever = new AbortController().signal;
const runAll = async () => {
  while (await planRun(fixture));
  while (await runOneRound((slots) => runDueExports(deps, forever, slots)));
};
const runOf = async (id: string) =>
  (
    await fixture.database.sql.query(
      'SELECT status, records_completed, bytes_exported::int AS bytes, latest_error FROM batch_export_run WHERE batch_export_id = $1',
      [id],
    )
  )[0];

async function oneExport(settings: Record<string, unknown>, fields: Record<string, unknown> = {}) {
  const { environmentId } = await createTestTenant(fixture.database);
  const id = await storeExport(fixture.database.sql, environmentId, {
    destination_type: 'S3',
    destination_config: { ...config, ...settings },
    destination_secrets: secrets,
    end_at: '2026-11-10T11:00:00Z',
    ...fields,
  });
  return { environmentId, id };
}

async function read(key: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('exports an interval to S3 as one object of JSON lines', async () => {
  const { environmentId, id } = await oneExport({});
  await storeEvents(fixture.database.sql, environmentId, {
    count: 20,
    from: '2026-11-10T10:00:00Z',
    properties: '{"a": "ä\\n\\""}',
  });
  await runAll();
  expect(await runOf(id)).toMatchObject({ status: 'Completed', records_completed: 20, latest_error: null });
  const object = await read('a/2026/events/2026-11-10T10:00:00Z-2026-11-10T11:00:00Z.jsonl');
  expect((await runOf(id))?.bytes).toBe(object.length);
  const records = lines(object.toString());
  expect(records.length).toBe(20);
  expect(records[0]).toMatchObject({
    event: 'page',
    distinct_id: 'd0',
    team_id: environmentId,
    properties: { a: 'ä\n"' },
    person_properties: {},
    timestamp: '2010-01-01T00:00:00.000Z',
    created_at: '2026-11-10T10:00:00.000Z',
  });
});

test('uploads a large interval in parts, optionally compressed, without losing a record', async () => {
  const { environmentId, id } = await oneExport({ prefix: 'large' });
  const compressed = await oneExport({ prefix: 'zipped', compression: 'gzip' });
  // Random text does not compress well.
  const noise = randomBytes(24_000).toString('base64');
  for (const target of [environmentId, compressed.environmentId]) {
    await storeEvents(fixture.database.sql, target, {
      count: 300,
      from: '2026-11-10T10:00:00Z',
      properties: JSON.stringify({ noise }),
    });
  }
  await runAll();
  for (const run of [await runOf(id), await runOf(compressed.id)]) {
    expect(run).toMatchObject({ status: 'Completed', records_completed: 300 });
  }
  const name = '2026-11-10T10:00:00Z-2026-11-10T11:00:00Z.jsonl';
  const plain = await read(`large/${name}`);
  expect(plain.length).toBeGreaterThan(8 * 1024 * 1024);
  expect(new Set(lines(plain.toString()).map(({ uuid }) => uuid)).size).toBe(300);
  const zipped = await read(`zipped/${name}.gz`);
  expect(lines(gunzipSync(zipped).toString()).length).toBe(300);
  expect([(await runOf(id))?.bytes, (await runOf(compressed.id))?.bytes]).toEqual([plain.length, zipped.length]);
});

test('creates no S3 object for an interval without records', async () => {
  const { id } = await oneExport({ prefix: 'empty' });
  await runAll();
  expect(await runOf(id)).toMatchObject({ status: 'Completed', records_completed: 0, bytes: 0 });
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'empty' }));
  expect(Contents ?? []).toEqual([]);
});

test('names an unknown bucket or an invalid key in the error, without revealing the key', async () => {
  const unknown = await oneExport({ bucket_name: 'there-is-none' });
  const wrong = await oneExport({}, { destination_secrets: { ...secrets, aws_access_key_id: 'AKIAWRONG' } });
  for (const { environmentId } of [unknown, wrong]) {
    await storeEvents(fixture.database.sql, environmentId, { count: 1, from: '2026-11-10T10:00:00Z' });
  }
  await runAll();
  const errors = [await runOf(unknown.id), await runOf(wrong.id)].map((run) => run?.latest_error);
  expect(errors).toEqual([
    'The object storage failed: NoSuchBucket (404).',
    'The object storage failed: InvalidAccessKeyId (403).',
  ]);
});

test('rejects an S3 server at a private address, unless private addresses are allowed', async () => {
  const { id } = await oneExport({});
  while (await planRun(fixture));
  while (await runOneRound((slots) => runDueExports({ ...deps, mayBePrivate: false }, forever, slots)));
  expect(await runOf(id)).toMatchObject({
    status: 'Failed',
    latest_error: 'The object storage failed: EPRIVATEADDRESS.',
  });
});

function* spaces() {
  for (;;) yield Buffer.alloc(64 * 1024, ' ');
}

describe('exporting to a faulty storage server', () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  async function storageThat(answers: RequestListener): Promise<string> {
    const storage = createServer(answers);
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve));
    stops.push(() => storage.close().closeAllConnections());
    return `http://127.0.0.1:${(storage.address() as AddressInfo).port}`;
  }

  test.each<[string, RequestListener, string]>([
    ['never answers', () => {}, 'no answer in time'],
    [
      'sends invalid HTTP',
      ({ socket }) => socket.write('HTTP/1.1 101 Other\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
      'no answer in time',
    ],
    [
      'sends a response without an end',
      (_, response) => {
        response.writeHead(500, { 'content-type': 'application/xml' });
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
      },
      'no answer in time',
    ],
    [
      'sends more than fits into memory',
      (_, response) => {
        response.writeHead(400, { 'content-type': 'application/xml' });
        Readable.from(spaces()).pipe(response);
      },
      'EANSWERTOOLONG',
    ],
  ])('fails and later retries a run when the storage server %s', async (_, answers, reason) => {
    const { environmentId, id } = await oneExport({ endpoint_url: await storageThat(answers) });
    await storeEvents(fixture.database.sql, environmentId, { count: 1, from: '2026-11-10T10:00:00Z' });
    while (await planRun(fixture));
    while (await runOneRound((slots) => runDueExports({ ...deps, responseTimeoutMs: 1000 }, forever, slots)));
    expect(await runOf(id)).toMatchObject({
      status: 'FailedRetryable',
      latest_error: expect.stringContaining(`The object storage failed: ${reason}`),
    });
  });
});
