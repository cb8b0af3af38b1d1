import { randomUUID } from 'node:crypto';
import type { CapturedEvent, CapturedRecord } from '@millrace/contracts';
import { createPublishHandler } from '../output/publish.ts';
import { processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from '../testing/consumer-fixture.ts';

let fixture: ConsumerFixture;
let project: TestProject;
let topic: string;

beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  topic = randomUUID();
});

const group = 'g';
const replaceKey = (token: string) =>
  fixture.database.sql.query('UPDATE environment SET api_token = $2 WHERE api_token = $1', [
    token,
    `phc_${randomUUID().replaceAll('-', '')}`,
  ]);
const deleteEnvironment = ({ id }: TestProject) =>
  fixture.database.sql.query('DELETE FROM environment WHERE id = $1', [id]);
const waiting = (stamp: Partial<CapturedEvent>): CapturedEvent[] =>
  Array.from({ length: 200 }, (_, index) => capturedEvent(project.token, { distinct_id: `d${index % 40}`, ...stamp }));
const store = (records: CapturedRecord[]) =>
  processBatch(
    { batch: logBatch(topic, 0, records), group, deadLetterReason: null, lockFirst: false },
    fixture.createDeps(),
  );

test.each<[string, () => Partial<CapturedEvent>]>([
  ['that contain the ID of their environment', () => ({ environment_id: project.id })],
  ['without the ID of their environment, from a gateway without access to its stores,', () => ({})],
])('stores events %s even if their key is replaced while they wait in the log', async (_name, stamp) => {
  const events = waiting(stamp());
  await replaceKey(project.token);
  expect(await store(events)).toMatchObject({ stored: 200, dropped: [] });
});

test('drops events that a gateway without database access accepted long after their key was replaced', async () => {
  await replaceKey(project.token);
  const later = capturedEvent(project.token, { now: new Date(Date.now() + 3_600_000).toISOString() });
  expect(await store([later])).toMatchObject({ stored: 0, dropped: ['invalid_token'] });
});

test('uses a separate drop reason for events of a deleted environment', async () => {
  const events = [
    capturedEvent(project.token, { environment_id: project.id }),
    capturedEvent(project.token, { environment_id: 2_147_483_647 }),
  ];
  await deleteEnvironment(project);
  expect(await store(events)).toMatchObject({ stored: 0, dropped: ['environment_deleted', 'environment_deleted'] });
});

test('uses the environment ID of an event or warning, even if its key now belongs to another project', async () => {
  const other = await fixture.createProject();
  const event = capturedEvent(other.token, { environment_id: project.id });
  const warning: CapturedRecord = {
    kind: 'warning',
    uuid: randomUUID(),
    token: 'phc_nobodys',
    environment_id: project.id,
    type: 'quota_limited',
    count: 3,
    now: new Date().toISOString(),
    details: {},
  };
  expect(await store([event, warning])).toMatchObject({ stored: 1, dropped: [] });
  const { sql } = fixture.database;
  expect(await sql.query('SELECT uuid FROM event WHERE project_id = $1', [project.id])).toEqual([{ uuid: event.uuid }]);
  expect(await sql.query('SELECT type FROM ingestion_warning WHERE project_id = $1', [project.id])).toEqual([
    { type: 'quota_limited' },
  ]);
});

test.each<[string, () => Partial<CapturedEvent>]>([
  ['with the ID of their environment', () => ({ environment_id: project.id })],
  ['without the ID of their environment', () => ({})],
])('publishes stored events even if their key was replaced, from records %s', async (_name, stamp) => {
  const events = waiting(stamp());
  await store(events);
  await replaceKey(project.token);
  let published = 0;
  const publish = createPublishHandler({
    database: fixture.database,
    log: { append: async () => {} },
    projects: fixture.createDeps().projects,
    topic: 'processed',
    storingGroup: group,
    group: 'output',
    logger: fixture.logger,
    published: (count) => {
      published += count;
    },
    sleep: async () => {},
  });
  await publish(logBatch(topic, 0, events), { signal: new AbortController().signal, heartbeat: async () => {} });
  expect(published).toBe(200);
});
