import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import { processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from '../testing/consumer-fixture.ts';

/** A consumer whose cached projects do not expire during the test, without Redis for change notifications. */
let fixture: ConsumerFixture;
let project: TestProject;
let process: (token: string) => Promise<{ dropped: string[]; uuid: string }>;

beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  const deps = fixture.createDeps();
  process = async (token) => {
    const event = capturedEvent(token, { environment_id: project.id, ip: '203.0.113.9' });
    const batch = logBatch(randomUUID(), 0, [event]);
    const report = await processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, deps);
    return { dropped: report.outcome === 'done' ? report.dropped : [], uuid: event.uuid };
  };
  expect(await addressOf((await process(project.token)).uuid)).toBe('203.0.113.9');
});

/** The expected delay is one second. The time limit is longer, because the test machine may be slow. */
const soon = { timeoutMs: 20_000 };

async function addressOf(uuid: string): Promise<unknown> {
  const [row] = await fixture.database.sql.query<{ ip: unknown }>(
    `SELECT properties ->> '$ip' AS ip FROM event WHERE project_id = $1 AND uuid = $2`,
    [project.id, uuid],
  );
  return row?.ip;
}

test('applies a changed `anonymize_ips` setting to subsequent events', async () => {
  await fixture.database.sql.query('UPDATE environment SET anonymize_ips = true WHERE id = $1', [project.id]);
  await eventually(async () => expect(await addressOf((await process(project.token)).uuid)).toBeNull(), soon);
});

test('drops events that are sent to a deleted project', async () => {
  await fixture.database.sql.query('DELETE FROM environment WHERE id = $1', [project.id]);
  await eventually(async () => expect((await process(project.token)).dropped).toEqual(['environment_deleted']), soon);
});
