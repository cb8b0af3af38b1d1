import { createRequire } from 'node:module';
import { isBrokerAway } from './errors.ts';

const kafkajs = createRequire(import.meta.url);
const errors = kafkajs('kafkajs/src/errors.js');
const Broker = kafkajs('kafkajs/src/broker/index.js');

const logger = { namespace: () => logger, debug() {}, error() {} };

test.each([
  ['no coordinator', () => new errors.KafkaJSGroupCoordinatorNotFound('Failed to find group coordinator')],
  ['a refused connection', () => new errors.KafkaJSConnectionError('connect', { code: 'ECONNREFUSED' })],
  [
    'the last of many attempts',
    () => new errors.KafkaJSNumberOfRetriesExceeded(new errors.KafkaJSConnectionClosedError('Closed connection'), {}),
  ],
  ['waiting for another to connect', () => new errors.KafkaJSLockTimeout('connect to broker')],
  [
    'no answer, called final',
    () => new errors.KafkaJSNonRetriableError('x', { cause: new errors.KafkaJSRequestTimeoutError('t') }),
  ],
])('treats %s as brokers being away', (_, error) => {
  expect(isBrokerAway(error())).toBe(true);
});

test('treats a broker object that is not connected as brokers being away', async () => {
  const broker = new Broker({ connectionPool: {}, logger, nodeId: 1 });
  const error = await broker.metadata([]).catch((reason: unknown) => reason);
  expect(isBrokerAway(new errors.KafkaJSNonRetriableError('x', { cause: error }))).toBe(true);
});

test.each([
  [
    'a member that is refused',
    () => new errors.KafkaJSProtocolError({ type: 'INVALID_SESSION_TIMEOUT', retriable: false, message: 'm' }),
  ],
  ['a mistake of ours', () => new TypeError('undefined is not a function')],
  ['nothing', () => undefined],
])('does not treat %s as brokers being away', (_, error) => {
  expect(isBrokerAway(error())).toBe(false);
});
