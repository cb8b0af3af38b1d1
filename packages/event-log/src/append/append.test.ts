import { createMetrics, isAppError } from '@millrace/runtime';
import { eventually, patienceMs } from '@millrace/testing';
import fc from 'fast-check';
import { testLogger } from '../testing/test-logger.ts';
import { createAppender } from './append.ts';
import { partitionForKey } from './partition-queue.ts';
import { type AppendTransport, defaultAppendSettings, type PartitionBatch } from './transport.ts';

/**
 * Creates a transport that fails in the given order. A real server cannot be made to fail at a chosen record. Other
 * tests use real transports and servers.
 */
function createFailingServer(failures: ('ok' | 'refuse-one' | 'throw' | 'lose-the-response')[]) {
  const written = new Map<string, string[]>();
  const underWay = new Set<string>();
  const overlaps: string[] = [];
  const write = ({ topic, partition, records }: PartitionBatch) => {
    const name = `${topic}/${partition}`;
    written.set(name, [...(written.get(name) ?? []), ...records.map(({ value }) => value.toString())]);
  };
  const transport: AppendTransport = {
    leadersOf: async () => [1, 2, 1],
    async send(batches) {
      const names = batches.map(({ topic, partition }) => `${topic}/${partition}`);
      overlaps.push(...names.filter((name) => underWay.has(name)));
      for (const name of names) underWay.add(name);
      await new Promise((resolve) => setTimeout(resolve, 1));
      for (const name of names) underWay.delete(name);
      const failure = failures.shift() ?? 'ok';
      if (failure === 'throw') throw new Error('intentional failure');
      if (failure === 'lose-the-response') {
        batches.forEach(write);
        throw new Error('intentional failure');
      }
      return batches.map((batch, index) => {
        if (failure === 'refuse-one' && index === 0)
          return { reason: 'not_now', error: new Error('intentional failure') };
        write(batch);
        return null;
      });
    },
  };
  return { transport, written, overlaps };
}

const pipelines: { close(timeoutMs: number): Promise<void> }[] = [];
afterEach(() => Promise.all(pipelines.splice(0).map((pipeline) => pipeline.close(100))));

function createPipeline(transport: AppendTransport, change: Partial<typeof defaultAppendSettings> = {}) {
  const metrics = createMetrics({ withProcessMetrics: false });
  const settings = { ...defaultAppendSettings, lingerMs: 1, appendTimeoutMs: patienceMs, ...change };
  const figures = async () => {
    const texts = (await metrics.registry.metrics()).split('\n').filter((line) => !line.startsWith('#'));
    return Object.fromEntries(
      texts.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  };
  const pipeline = createAppender({ settings, transport, logger: testLogger(), metrics });
  pipelines.push(pipeline);
  return { ...pipeline, figures };
}

const failure = fc.constantFrom('ok', 'refuse-one', 'throw', 'lose-the-response');

test("keeps each key's order, settles every call and sends one request per partition at a time, whichever ones fail", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(failure, { maxLength: 5 }),
      fc.array(
        fc.record({
          key: fc.integer({ min: 0, max: 5 }),
          count: fc.integer({ min: 1, max: 4 }),
          pauseMs: fc.constantFrom(0, 0, 0, 2),
        }),
        {
          maxLength: 40,
        },
      ),
      async (failures, calls) => {
        const { transport, written, overlaps } = createFailingServer([...failures]);
        const pipeline = createPipeline(transport, { maxBatchBytes: 60, maxRequestBytes: 100 });
        const expected = new Map<number, string[]>();
        const appends: Promise<void>[] = [];
        for (const [call, { key, count, pauseMs }] of calls.entries()) {
          if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
          const values = Array.from({ length: count }, (_, index) => `${key}:${call}:${index}`);
          expected.set(key, [...(expected.get(key) ?? []), ...values]);
          const records = values.map((value) => ({ topic: 't', key: String(key), value: Buffer.from(value) }));
          appends.push(pipeline.append(records));
        }
        await Promise.all(appends);
        const all = [...written.values()].map((values) => [...new Set(values)]);
        for (const [key, values] of expected) {
          expect(all.flatMap((one) => one.filter((value) => value.startsWith(`${key}:`)))).toEqual(values);
        }
        expect(overlaps).toEqual([]);
        expect((await pipeline.figures()).millrace_log_append_in_flight_bytes ?? 0).toBe(0);
      },
    ),
    { numRuns: 40 },
  );
});

test('sends many append calls in one request', async () => {
  const { transport } = createFailingServer([]);
  const pipeline = createPipeline(transport);
  await Promise.all(
    Array.from({ length: 500 }, (_, n) => pipeline.append([{ topic: 't', key: `k${n}`, value: Buffer.from('v') }])),
  );
  const figures = await pipeline.figures();
  expect(figures.millrace_log_append_batch_records_sum).toBe(500);
  expect(figures.millrace_log_append_batch_records_count).toBeLessThanOrEqual(6);
  expect(figures.millrace_log_append_seconds_count).toBe(500);
});

test('fails an append call at its time limit and frees its memory if the server never responds', async () => {
  const pipeline = createPipeline(
    { leadersOf: async () => [0], send: () => new Promise((_, reject) => setTimeout(reject, 150, new Error('late'))) },
    { appendTimeoutMs: 100, maxInFlightBytes: 200 },
  );
  const record = { topic: 't', key: 'k', value: Buffer.alloc(80) };
  const first = pipeline.append([record]).catch((error: unknown) => error);
  const second = pipeline.append([record]).catch((error: unknown) => error);
  const overBudget = await pipeline.append([record]).catch((error: unknown) => error);
  for (const error of [await first, await second, overBudget]) expect(isAppError(error, 'unavailable')).toBe(true);
  await eventually(async () => (await pipeline.figures()).millrace_log_append_in_flight_bytes === 0, {
    what: 'no bytes under way',
  });
  expect(await pipeline.figures()).toMatchObject({
    'millrace_log_append_failures_total{reason="expired"}': 2,
    'millrace_log_append_failures_total{reason="budget"}': 1,
  });
});

test('a topic whose partition leaders cannot be looked up does not delay other topics', async () => {
  const { transport, written } = createFailingServer([]);
  const pipeline = createPipeline(
    { ...transport, leadersOf: async (topic) => (topic === 'bad' ? Promise.reject(new Error('no such topic')) : [0]) },
    { appendTimeoutMs: 3000 },
  );
  const bad = pipeline.append([{ topic: 'bad', key: 'k', value: Buffer.from('1') }]).catch((error: unknown) => error);
  await pipeline.append([{ topic: 'good', key: 'k', value: Buffer.from('1') }]);
  expect(written.get('good/0')).toEqual(['1']);
  const error = await bad;
  expect(isAppError(error, 'unavailable') && error.cause).toMatchObject({ message: 'no such topic' });
});

test('sends to a new partition leader without waiting for the former one', async () => {
  const written: number[] = [];
  let leaders = [1, 1];
  let requests = 0;
  const pipeline = createPipeline({
    leadersOf: async () => leaders,
    async send(batches) {
      requests += 1;
      if (requests === 1) {
        leaders = [1, 2];
        return batches.map(() => ({ reason: 'not_now', error: new Error('intentional failure') }));
      }
      if (batches.some(({ partition }) => partition === 0)) await new Promise((resolve) => setTimeout(resolve, 300));
      written.push(...batches.map(({ partition }) => partition));
      return batches.map(() => null);
    },
  });
  const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
  const keyOf = (partition: number) => keys.find((key) => partitionForKey(Buffer.from(key), 2) === partition) ?? '';
  const append = (partition: number) =>
    pipeline.append([{ topic: 't', key: keyOf(partition), value: Buffer.from('v') }]);
  const first = append(0);
  await eventually(async () => requests === 2, { what: 'the request that is slow' });
  await append(1);
  expect(written).toEqual([1]);
  await first;
});

test('accepts an append call that is larger than the whole byte budget when no other call is pending', async () => {
  const { transport, written } = createFailingServer([]);
  const pipeline = createPipeline(transport, { maxInFlightBytes: 100 });
  await pipeline.append([{ topic: 't', key: 'k', value: Buffer.alloc(500) }]);
  expect([...written.values()].flat()).toHaveLength(1);
});

test('sends a record that exceeds the batch size in a batch of its own', async () => {
  const { transport, written } = createFailingServer([]);
  const pipeline = createPipeline(transport, { maxBatchBytes: 100 });
  const records = [500, 10, 500].map((bytes) => ({ topic: 't', key: 'k', value: Buffer.alloc(bytes) }));
  await pipeline.append(records);
  expect([...written.values()].flat().map(({ length }) => length)).toEqual([500, 10, 500]);
});
