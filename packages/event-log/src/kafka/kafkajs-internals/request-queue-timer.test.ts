import { createRequire } from 'node:module';
import { stopIdleRequestQueueTimer } from './connection.ts';

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js');

test('a connection runs a timer only while requests wait to be sent', () => {
  stopIdleRequestQueueTimer();
  const queue = new RequestQueue({ requestTimeout: 1000, clientId: 'test', broker: 'b', logger: { debug() {} } });
  queue.checkPendingRequests();
  expect(queue.throttleCheckTimeoutId).toBeNull();

  queue.throttledUntil = Date.now() + 60_000;
  queue.push({ entry: { correlationId: 1 }, expectResponse: true, sendRequest() {} });
  expect(queue.throttleCheckTimeoutId).not.toBeNull();
  queue.destroy();
});
