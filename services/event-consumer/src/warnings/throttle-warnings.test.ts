import { randomUUID } from 'node:crypto';
import type { WarningType } from '../model/warning.ts';
import { processBatch } from '../process-batch.ts';
import { capturedEvent, createConsumerFixture, logBatch } from '../testing/consumer-fixture.ts';
import type { StoredWarning } from './store.ts';
import { createWarningThrottle } from './warnings.ts';

function warnings(count: number, projectId = 1, type: WarningType = 'ignored_invalid_timestamp'): StoredWarning[] {
  return Array.from({ length: count }, (_, index) => {
    return { projectId, id: randomUUID(), type, details: { index }, count: 1, timestampMs: 0 };
  });
}

const counts = (stored: StoredWarning[]) => stored.map(({ count }) => count);
const sum = (stored: StoredWarning[]) => counts(stored).reduce((total, count) => total + count, 0);

test('stores the first warnings of a minute individually, and later ones of a batch as one warning with a count', () => {
  let nowMs = 0;
  const throttle = createWarningThrottle(() => nowMs);
  const first = throttle(warnings(50));
  expect(first).toHaveLength(21);
  expect(sum(first)).toBe(50);
  expect(first.at(-1)).toMatchObject({ count: 30, details: { index: 20 } });
  expect(new Set(first.map(({ id }) => id)).size).toBe(21);
  expect(counts(throttle(warnings(7)))).toEqual([7]);
  nowMs = 60_000;
  expect(throttle(warnings(7))).toHaveLength(7);
});

test('counts warnings separately per project and type, and always stores rejected merges individually', () => {
  const throttle = createWarningThrottle(() => 0);
  throttle(warnings(50));
  expect(throttle(warnings(5, 2))).toHaveLength(5);
  expect(throttle(warnings(5, 1, 'invalid_group_set'))).toHaveLength(5);
  expect(throttle(warnings(50, 1, 'cannot_merge_already_identified'))).toHaveLength(50);
});

test('counts many invalid events, but stores only a few warnings about them', async () => {
  const fixture = await createConsumerFixture();
  try {
    const { id, token } = await fixture.createProject();
    const events = Array.from({ length: 100 }, () => capturedEvent(token, { timestamp: 'the day before yesterday' }));
    const batch = logBatch(randomUUID(), 0, events);
    await processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, fixture.createDeps());
    expect(await fixture.database.prisma.event.count({ where: { project_id: id } })).toBe(100);
    const rows = await fixture.database.prisma.ingestion_warning.findMany({ where: { project_id: id } });
    expect(rows).toHaveLength(21);
    expect(rows.reduce((total, { count }) => total + count, 0)).toBe(100);
  } finally {
    await fixture.stop();
  }
});
