import { randomUUID } from 'node:crypto';
import { type CapturedEvent, type CapturedWarning, listProductFeatures } from '@millrace/contracts';
import type { LogBatch } from '@millrace/event-log';
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
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
});

const run = (batch: LogBatch) =>
  processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, fixture.createDeps());
const event = (overrides: Partial<CapturedEvent> = {}) => capturedEvent(project.token, overrides);
const migrated: Partial<CapturedEvent> = { historical_migration: true, timestamp: '2020-01-02T00:00:00.000Z' };
const unchecked: Partial<CapturedEvent> = { ...migrated, plan_unchecked: true };

const eventRows = () => fixture.database.prisma.event.findMany({ where: { project_id: project.id } });
const warnings = () => fixture.database.prisma.ingestion_warning.findMany({ where: { project_id: project.id } });

async function includeMigrations(): Promise<void> {
  await fixture.database.sql.query(
    `UPDATE organization SET available_product_features = $2
      WHERE id = (SELECT organization_id FROM project WHERE id = $1)`,
    [project.id, JSON.stringify(listProductFeatures('full'))],
  );
}

describe('a historical migration that the gateway could not check', () => {
  test('drops the events of the migration with one warning if the plan does not include migrations', async () => {
    const other = await fixture.createProject();
    const batch = [
      event(unchecked),
      event(),
      capturedEvent(other.token, migrated),
      event(unchecked),
      event({ ...unchecked, event: '$identify', properties: { $set: { plan: 'pro' } } }),
    ];
    const report = await run(logBatch(randomUUID(), 0, batch));
    expect(report).toMatchObject({ outcome: 'done', stored: 2, dropped: Array(3).fill('migration_not_in_plan') });
    expect(await eventRows()).toHaveLength(1);
    expect(await warnings()).toEqual([
      expect.objectContaining({
        type: 'historical_migration_not_in_plan',
        severity: 'error',
        count: 3,
        details: { firstEventUuid: batch[0]?.uuid },
      }),
    ]);
    expect(await fixture.database.prisma.event.count({ where: { project_id: other.id } })).toBe(1);
  });

  test('stores the events of the migration if the plan includes migrations', async () => {
    await includeMigrations();
    const report = await run(logBatch(randomUUID(), 0, [event(unchecked), event(unchecked)]));
    expect(report).toMatchObject({ stored: 2, dropped: [] });
    expect(await warnings()).toEqual([]);
  });

  test('stores the events of a migration that the gateway has already checked', async () => {
    const report = await run(logBatch(randomUUID(), 0, [event(migrated)]));
    expect(report).toMatchObject({ stored: 1, dropped: [] });
  });
});

describe('an event with person processing disabled by the operator', () => {
  test('stores the event without creating or changing a person, whatever its properties contain', async () => {
    const properties = { $process_person_profile: true, $set: { plan: 'pro' } };
    const personless = event({ force_disable_person_processing: true, distinct_id: 'unknown', properties });
    await run(logBatch(randomUUID(), 0, [personless, event({ distinct_id: 'somebody' })]));
    expect(await eventRows()).toHaveLength(2);
    const persons = await fixture.database.prisma.person.findMany({ where: { project_id: project.id } });
    expect(persons).toHaveLength(1);
    expect(persons[0]?.properties).not.toHaveProperty('plan');
  });

  test.each([{}, { $process_person_profile: false }])(
    'stores a merge event with the properties %j as an ordinary event without merging persons',
    async (wish) => {
      await run(logBatch(randomUUID(), 0, [event({ distinct_id: 'a' }), event({ distinct_id: 'b' })]));
      const alias = { event: '$create_alias', distinct_id: 'a', properties: { ...wish, alias: 'b' } };
      const report = await run(logBatch(randomUUID(), 0, [event({ ...alias, force_disable_person_processing: true })]));
      expect(report).toMatchObject({ stored: 1, dropped: [] });
      expect(await fixture.database.prisma.person.count({ where: { project_id: project.id } })).toBe(2);
    },
  );
});

test.each([
  ['quota_limited', 'error'],
  ['rate_limited', 'warning'],
  ['traffic_spike', 'warning'],
  ['blocked_token', 'info'],
] as const)('stores a gateway warning about %s with severity %s', async (type, severity) => {
  const now = new Date().toISOString();
  const warning: CapturedWarning = {
    kind: 'warning',
    uuid: randomUUID(),
    token: project.token,
    type,
    count: 7,
    now,
    details: { eventsPerMonth: 5 },
  };
  await run(logBatch(randomUUID(), 0, [warning, warning]));
  expect(await warnings()).toEqual([expect.objectContaining({ type, severity, count: 7, details: warning.details })]);
});
