import { eventually, startServer } from '@millrace/testing';
import type { Logger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { createTracing } from './index.ts';
import { createTraceLimit } from './tracing.ts';

let warnings: string[];
const logger = { warn: (text: string) => void warnings.push(text) } as unknown as Logger;
beforeEach(() => {
  warnings = [];
});

/** Sends traces to a collector that responds with 400 after `mayRespond` resolves. */
async function traceTo(mayRespond: Promise<void>) {
  let requestCount = 0;
  const collector = await startServer(async (_request, response) => {
    requestCount += 1;
    await mayRespond;
    response.writeHead(400).end();
  });
  const metrics = createMetrics({ withProcessMetrics: false });
  const config = { otelExporterOtlpEndpoint: `${collector.url}/` };
  const tracing = await createTracing('test', config, { logger, metrics });
  return {
    requestCount: () => requestCount,
    trace(spans: number) {
      for (let n = 0; n < spans; n++) tracing?.start('work', { kind: 'internal' }).end();
    },
    async lost() {
      const [lost] = (await metrics.registry.getMetricsAsJSON()).filter(({ name }) => name.includes('spans_lost'));
      return (lost?.values ?? []).map(({ labels, value }) => [labels.reason, value]);
    },
    async stop() {
      await tracing?.stop();
      await collector.stop();
    },
  };
}

test('does not set up tracing if no collector is configured', async () => {
  const metrics = createMetrics({ withProcessMetrics: false });
  expect(await createTracing('test', { traceSampleRatio: 1 }, { logger, metrics })).toBeNull();
});

test('counts spans that the collector rejects, logs one warning, and stops without waiting for the collector', async () => {
  const { trace, requestCount, lost, stop } = await traceTo(Promise.resolve());
  trace(3);
  await eventually(() => warnings.length > 0, { what: 'the warning' });
  expect([requestCount(), warnings, await lost()]).toEqual([
    1,
    ['spans lost: the trace collector does not accept them'],
    [['not_taken', 3]],
  ]);
  await stop();
});

test('counts spans that do not fit into the queue, and logs one warning', async () => {
  let respond = () => {};
  const mayRespond = new Promise<void>((resolve) => {
    respond = resolve;
  });
  const { trace, lost, stop } = await traceTo(mayRespond);
  // 256 spans are in flight, and the next 2048 are queued.
  trace(256 + 2048 + 10);
  expect([warnings, await lost()]).toEqual([
    ['spans dropped: they are created faster than the trace collector accepts them'],
    [['queue_full', 10]],
  ]);
  respond();
  await stop();
});

test('limits the number of new traces per second', () => {
  let nowMs = 0;
  const mayStart = createTraceLimit(3, () => nowMs);
  const startsOf = (count: number) => Array.from({ length: count }, mayStart).filter(Boolean).length;
  expect([startsOf(10), startsOf(10)]).toEqual([3, 0]);
  nowMs = 1000;
  expect(startsOf(2)).toBe(2);
});
