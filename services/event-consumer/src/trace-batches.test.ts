import type { LogBatch } from '@millrace/event-log';
import type { TraceAttributes, Tracing } from '@millrace/runtime/tracing';
import type { RecordStep } from './metrics.ts';
import { withBatchTracing } from './trace-batches.ts';

const traceIdOf = (digit: number) => String(digit).repeat(32);
const spanId = 'b7ad6b7169203331';

/**
 * Creates a batch with one untraced record, and one traced record per digit. The trace ID of a traced record consists
 * of its digit.
 */
function batchOf(...digits: number[]): LogBatch {
  const headers: Record<string, string>[] = [
    {},
    ...digits.map((digit) => ({ traceparent: `00-${traceIdOf(digit)}-${spanId}-01` })),
  ];
  const record = { key: null, value: Buffer.from('{}'), appendedAtMs: 0 };
  const records = headers.map((own, at) => ({ ...record, offset: BigInt(at), headers: own }));
  return { topic: 'events.live', partition: 3, log: 'log', continuesFrom: null, records };
}

function tracingOf(most: number) {
  const ended: { name: string; parent?: string; attributes: TraceAttributes; failure?: string }[] = [];
  let chosen = 0;
  const tracing: Tracing = {
    trustsParent: false,
    shouldTrace: () => ++chosen <= most,
    start(name, { parent, attributes: given }) {
      const attributes = { ...given };
      return {
        context: { traceId: traceIdOf(9), spanId, traceFlags: 1 },
        traceparent: '',
        set: (more) => void Object.assign(attributes, more),
        end: (outcome) => void ended.push({ name, ...(parent && { parent: parent.traceId }), attributes, ...outcome }),
      };
    },
    stop: async () => {},
  };
  return { tracing, ended };
}

const work = (batch: LogBatch) => ({ batch, group: 'group', deadLetterReason: null, lockFirst: false });
const recordNoSteps = (): RecordStep => (_step, result) => result;
const stale = { outcome: 'stale', nextOffset: 1n } as const;

test('creates a span in the trace of each traced record, and a detailed span for the batch', async () => {
  const { tracing, ended } = tracingOf(10);
  const process = withBatchTracing(
    tracing,
    async (_work, startStepTimer) => startStepTimer()('commit', stale),
    recordNoSteps,
  );

  expect(await process(work(batchOf(1, 2)))).toEqual(stale);
  expect(ended).toEqual([
    { name: 'process an event', parent: traceIdOf(1), attributes: {} },
    { name: 'process an event', parent: traceIdOf(2), attributes: {} },
    {
      name: 'process a batch',
      attributes: {
        'messaging.destination.name': 'events.live',
        'messaging.destination.partition.id': '3',
        'messaging.batch.message_count': 3,
        'millrace.step.commit.ms': expect.any(Number),
        'millrace.outcome': 'stale',
      },
    },
  ]);
});

test("adds the failure and the number of processed records to a failed batch's span", async () => {
  const { tracing, ended } = tracingOf(10);
  const process = withBatchTracing(
    tracing,
    async (_work, startStepTimer) => {
      startStepTimer()('parse', null);
      throw new TypeError('no');
    },
    recordNoSteps,
  );

  await expect(process(work(batchOf(1)))).rejects.toThrow('no');
  expect(ended.map(({ name, failure }) => [name, failure])).toEqual([
    ['process an event', 'TypeError'],
    ['process a batch', 'TypeError'],
  ]);
  expect(ended[1]?.attributes).toHaveProperty(['millrace.step.parse.ms']);
});

test.each([
  [
    'continues the traces of at most the given number of records',
    1,
    [1, 2, 3],
    ['process an event', 'process a batch'],
  ],
  ['continues no trace after the sampling limit is reached', 0, [1, 2], []],
  ['creates no spans for a batch without traced records', 10, [], []],
])('%s', async (_, most, digits, spans) => {
  const { tracing, ended } = tracingOf(most);
  const process = withBatchTracing(tracing, async () => stale, recordNoSteps);
  expect(await process(work(batchOf(...digits)))).toEqual(stale);
  expect(ended.map(({ name }) => name)).toEqual(spans);
});
