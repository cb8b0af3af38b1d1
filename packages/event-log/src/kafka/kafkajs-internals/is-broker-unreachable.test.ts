import { createRequire } from 'node:module';
import { isBrokerUnreachable } from './errors.ts';

const kafkajs = createRequire(import.meta.url);
const errors = kafkajs('kafkajs/src/errors.js');
const Broker = kafkajs('kafkajs/src/broker/index.js');

const logger = { namespace: () => logger, debug() {}, error() {} };

test.each([
  ['a missing group coordinator', () => new errors.KafkaJSGroupCoordinatorNotFound('Failed to find group coordinator')],
  ['a refused connection', () => new errors.KafkaJSConnectionError('connect', { code: 'ECONNREFUSED' })],
  [
    'the end of repeated attempts',
    () => new errors.KafkaJSNumberOfRetriesExceeded(new errors.KafkaJSConnectionClosedError('Closed connection'), {}),
  ],
  ['a timeout of waiting for another connection attempt', () => new errors.KafkaJSLockTimeout('connect to broker')],
  [
    'a missing response that is marked as final',
    () => new errors.KafkaJSNonRetriableError('x', { cause: new errors.KafkaJSRequestTimeoutError('t') }),
  ],
])('classifies %s as unreachable brokers', (_, error) => {
  expect(isBrokerUnreachable(error())).toBe(true);
});

test('classifies a broker object that is not connected as unreachable brokers', async () => {
  const broker = new Broker({ connectionPool: {}, logger, nodeId: 1 });
  const error = await broker.metadata([]).catch((reason: unknown) => reason);
  expect(isBrokerUnreachable(new errors.KafkaJSNonRetriableError('x', { cause: error }))).toBe(true);
});

test.each([
  [
    'a rejected member',
    () => new errors.KafkaJSProtocolError({ type: 'INVALID_SESSION_TIMEOUT', retriable: false, message: 'm' }),
  ],
  ['a programming error', () => new TypeError('undefined is not a function')],
  ['undefined', () => undefined],
])('does not classify %s as unreachable brokers', (_, error) => {
  expect(isBrokerUnreachable(error())).toBe(false);
});
