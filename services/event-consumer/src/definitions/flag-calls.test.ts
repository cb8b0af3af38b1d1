import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { createLogger } from '@millrace/runtime';
import { processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from '../testing/consumer-fixture.ts';
import { createFlagCallRecorder, type FlagCallRecorder } from './flag-calls.ts';

let fixture: ConsumerFixture;
let project: TestProject;
let flagCalls: FlagCallRecorder;
let nowMs: number;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  nowMs = Date.parse('2026-11-22T10:15:00Z');
  const logger = createLogger('test', 'error');
  flagCalls = createFlagCallRecorder({ database: fixture.database, logger, now: () => nowMs, flushIntervalMs: 0 });
  for (const [key, deleted] of [
    ['beta', false],
    ['checkout', false],
    ['gone', true],
  ]) {
    await fixture.database.sql.query('INSERT INTO feature_flag (project_id, key, deleted) VALUES ($1, $2, $3)', [
      project.id,
      key,
      deleted,
    ]);
  }
});

const topic = randomUUID();
let offset = 0;
const called = (flag: unknown, at: string, rest: Partial<CapturedEvent> = {}): Partial<CapturedEvent> => ({
  event: '$feature_flag_called',
  timestamp: at,
  properties: { $feature_flag: flag, $feature_flag_response: true },
  ...rest,
});
async function consume(...events: Partial<CapturedEvent>[]): Promise<void> {
  const batch = logBatch(
    topic,
    offset,
    events.map((one) => capturedEvent(project.token, one)),
  );
  offset += events.length;
  await processBatch(
    { batch, group: 'g', deadLetterReason: null, lockFirst: false },
    fixture.createDeps({ flagCalls }),
  );
}
async function lastCalls(): Promise<Record<string, string | null>> {
  const rows = await fixture.database.sql.query<{ key: string; last_called_at: Date | null }>(
    'SELECT key, last_called_at FROM feature_flag WHERE project_id = $1 ORDER BY key',
    [project.id],
  );
  return Object.fromEntries(rows.map(({ key, last_called_at: at }) => [key, at?.toISOString() ?? null]));
}
const version = async () =>
  (
    await fixture.database.sql.query('SELECT version FROM flag_definitions_version WHERE project_id = $1', [project.id])
  )[0]?.version;

test("stores each flag's latest call without changing the version of flag definitions", async () => {
  const before = await version();
  await consume(
    called('beta', '2026-11-22T10:10:00Z'),
    called('beta', '2026-11-22T10:12:00Z'),
    called('beta', '2026-11-22T10:11:00Z'),
    called('gone', '2026-11-22T10:12:00Z'),
    called('unknown-flag', '2026-11-22T10:12:00Z'),
    called('checkout', '2026-11-22T10:12:00Z', { event: 'another' }),
  );
  expect(await lastCalls()).toMatchObject({ beta: null });
  await flagCalls.flush();
  expect(await lastCalls()).toEqual({ beta: '2026-11-22T10:12:00.000Z', checkout: null, gone: null });
  expect(await version()).toBe(before);
});

test("records a flag's last call at most once an hour, and never replaces a time with an earlier one", async () => {
  await consume(called('beta', '2026-11-22T10:12:00Z'));
  await flagCalls.flush();
  await consume(called('beta', '2026-11-22T10:14:00Z'));
  await flagCalls.flush();
  expect(await lastCalls()).toMatchObject({ beta: '2026-11-22T10:12:00.000Z' });
  nowMs += 3_600_000;
  await consume(called('beta', '2026-11-01T00:00:00Z'));
  await flagCalls.flush();
  expect(await lastCalls()).toMatchObject({ beta: '2026-11-22T10:12:00.000Z' });
  nowMs += 3_600_000;
  await consume(called('beta', '2026-11-22T12:14:00Z'));
  await flagCalls.flush();
  expect(await lastCalls()).toMatchObject({ beta: '2026-11-22T12:14:00.000Z' });
});

test("replaces a flag call's time in the future with the current time", async () => {
  await consume(called('beta', '2026-11-22T22:00:00Z', { now: '2026-11-22T22:00:00Z' }));
  await flagCalls.flush();
  expect(await lastCalls()).toMatchObject({ beta: '2026-11-22T10:15:00.000Z' });
});

test.each([[undefined], [null], [7], [''], ['x'.repeat(401)], [['beta']], [{ key: 'beta' }]])(
  'calling a flag with the unusual key %j does not affect the recorded calls of other flags',
  async (flag) => {
    await consume(called(flag, '2026-11-22T10:12:00Z'), called('checkout', '2026-11-22T10:12:00Z'));
    await flagCalls.flush();
    expect(await lastCalls()).toEqual({ beta: null, checkout: '2026-11-22T10:12:00.000Z', gone: null });
  },
);

test('uses a limited amount of memory and writes nothing for a hundred thousand made-up flag keys', async () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => ({
    projectId: project.id,
    event: '$feature_flag_called',
    timestampMs: nowMs,
    properties: { under: { $feature_flag: `made-up-${index}` }, over: {} },
  }));
  flagCalls.note(rows);
  await flagCalls.flush();
  expect(await lastCalls()).toEqual({ beta: null, checkout: null, gone: null });
});

test('stores flag calls again after a database restore that may have lost them', async () => {
  const again = async () => {
    await consume(called('beta', '2026-11-22T10:12:00Z'));
    await flagCalls.flush();
    return (await lastCalls()).beta;
  };
  expect(await again()).not.toBeNull();
  await fixture.database.sql.query('UPDATE feature_flag SET last_called_at = NULL WHERE project_id = $1', [project.id]);
  expect(await again()).toBeNull();
  flagCalls.forgetAll();
  expect(await again()).toBe('2026-11-22T10:12:00.000Z');
});
