import { createMetrics, type Logger, type Metrics } from '@millrace/runtime';
import { eventually } from '@millrace/testing';
import type { BatchResult, LogBatch } from '../log.ts';
import { deliverBatch } from './deliver.ts';
import { type ConsumeMetrics, createConsumeMetrics } from './metrics.ts';

const names = { topic: 't', group: 'g' };
const logger = { warn: () => {} } as unknown as Logger;

let metrics: Metrics;
let consumeMetrics: ConsumeMetrics;

beforeEach(() => {
  metrics = createMetrics({ withProcessMetrics: false });
  consumeMetrics = createConsumeMetrics(metrics);
});

/** Creates a batch whose first record was appended `waitedMs` ago. Its remaining records were appended now. */
function batchOf(records: number, waitedMs: number): LogBatch {
  const appendedAtMs = Date.now() - waitedMs;
  const record = (at: number) => ({
    ...{ offset: BigInt(at), key: null, value: Buffer.alloc(0), headers: {} },
    appendedAtMs: at === 0 ? appendedAtMs : Date.now(),
  });
  return {
    topic: 't',
    partition: 3,
    log: 'l',
    continuesFrom: 0n,
    records: Array.from({ length: records }, (_, at) => record(at)),
  };
}

const deliverTo = (batch: LogBatch, handler: () => Promise<BatchResult>) =>
  deliverBatch({ consume: { ...names, handler }, logger, metrics: consumeMetrics }, batch, {
    signal: new AbortController().signal,
    heartbeat: async () => {},
  });
const done = (nextOffset: bigint) => async (): Promise<BatchResult> => ({ outcome: 'done', nextOffset });

async function sumOf(name: string): Promise<number> {
  const found = await metrics.registry.getSingleMetric(name)?.get();
  return found?.values.reduce((sum, { value }) => sum + value, 0) ?? Number.NaN;
}

test('the reported lag grows while a batch keeps failing, even without further deliveries', async () => {
  await deliverTo(batchOf(2, 90_000), async () => {
    throw new Error('the database is away');
  });
  const first = await sumOf('millrace_log_lag_seconds');
  expect(first).toBeGreaterThanOrEqual(90);
  await eventually(async () => (await sumOf('millrace_log_lag_seconds')) > first, { what: 'a longer wait' });
});

test('reports a lag of 0 after the batch is committed, and no lag after the partition moves to another member', async () => {
  await deliverTo(batchOf(2, 90_000), done(2n));
  consumeMetrics.lag('t', 'g', 3, 0);
  expect(await sumOf('millrace_log_lag_seconds')).toBe(0);
  consumeMetrics.forgetLag('t', 'g', 3);
  expect((await metrics.registry.getSingleMetric('millrace_log_lag_seconds')?.get())?.values).toEqual([]);
});

test.each([
  ['counts no records as late if their batch takes effect within a minute', 1000, 0],
  ['counts all records of a batch as late if one of them waited longer than a minute', 70_000, 5],
])('%s', async (_, waitedMs, expected) => {
  await deliverTo(batchOf(5, waitedMs), done(5n));
  expect(await sumOf('millrace_log_consumed_records_total')).toBe(5);
  expect(await sumOf('millrace_log_late_records_total')).toBe(expected);
});
