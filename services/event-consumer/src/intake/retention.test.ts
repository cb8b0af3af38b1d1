import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from '../testing/consumer-fixture.ts';
import { createProjectResolver } from './projects.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

async function consume(project: TestProject, events: Partial<CapturedEvent>[], eventRetentionDays = 0) {
  const changes = { subscribe: () => {}, isSubscribed: () => true };
  const projects = createProjectResolver({ sql: fixture.database.sql, changes, eventRetentionDays });
  const batch = logBatch(
    randomUUID(),
    0,
    events.map((one) => capturedEvent(project.token, one)),
  );
  return processBatch(
    { batch, group: 'g', deadLetterReason: null, lockFirst: false },
    fixture.createDeps({ projects }),
  );
}

const setRetention = (project: TestProject, days: number) =>
  fixture.database.sql.query('UPDATE environment SET event_retention_days = $2 WHERE id = $1', [project.id, days]);

const warnings = (project: TestProject) =>
  fixture.database.sql.query('SELECT type, count FROM ingestion_warning WHERE project_id = $1', [project.id]);

test("drops events that are older than the environment's retention, with one warning for all of them", async () => {
  const project = await fixture.createProject();
  await setRetention(project, 30);
  const old = { timestamp: daysAgo(31), event: '$identify', properties: { $set: { email: 'ada@example.com' } } };
  const report = await consume(project, [old, { ...old, distinct_id: 'b' }, { timestamp: daysAgo(29) }]);
  expect(report).toMatchObject({ stored: 1, dropped: ['older_than_retention', 'older_than_retention'] });
  expect(await warnings(project)).toEqual([{ type: 'event_older_than_retention', count: 2 }]);
  const persons = await fixture.database.sql.query('SELECT 1 FROM person WHERE project_id = $1', [project.id]);
  expect(persons).toHaveLength(1);
});

test('stores no warning for events that became too old while they waited in the log', async () => {
  const project = await fixture.createProject();
  await setRetention(project, 30);
  const waited = { timestamp: daysAgo(31), now: daysAgo(31) };
  expect(await consume(project, [waited])).toMatchObject({ stored: 0, dropped: ['older_than_retention'] });
  expect(await warnings(project)).toEqual([]);
});

test.each<[string, number | null, number, number]>([
  ['stores all events without a limit', null, 0, 2],
  ['applies the limit of the installation to an environment without one', null, 30, 1],
  ['applies a shorter limit of the environment', 10, 30, 0],
  ['ignores a longer limit of the environment', 100, 30, 1],
])('%s', async (_name, own, installation, stored) => {
  const project = await fixture.createProject();
  if (own !== null) await setRetention(project, own);
  const events = [{ timestamp: daysAgo(40) }, { timestamp: daysAgo(20) }];
  expect(await consume(project, events, installation)).toMatchObject({ stored });
});
