import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '@millrace/runtime';
import { eventually } from '@millrace/testing';
import { createTracing } from './index.ts';
import { createStartLimit } from './start-limit.ts';

const warnings: string[] = [];
const logger = { warn: (text: string) => void warnings.push(text) } as unknown as Logger;

test('without a collector there is nothing to ask', async () => {
  expect(await createTracing('test', { traceSampleRatio: 1 }, logger)).toBeNull();
});

test('a collector that refuses costs a warning, and stopping does not wait for it', async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(400).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const tracing = await createTracing('test', { otelExporterOtlpEndpoint: `http://127.0.0.1:${port}/` }, logger);
  tracing?.start('work', { kind: 'internal' }).end();
  await eventually(() => warnings.length > 0, { what: 'the warning' });
  expect([asked, warnings]).toEqual([1, ['traces are not taken by the collector']]);
  await tracing?.stop();
  server.closeAllConnections();
  server.close();
});

test('no more than so many are chosen in a second, whoever asks', () => {
  let nowMs = 0;
  const mayStart = createStartLimit(3, () => nowMs);
  const startsOf = (count: number) => Array.from({ length: count }, mayStart).filter(Boolean).length;
  expect([startsOf(10), startsOf(10)]).toEqual([3, 0]);
  nowMs = 1000;
  expect(startsOf(2)).toBe(2);
});
