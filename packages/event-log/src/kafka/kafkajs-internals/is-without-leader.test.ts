import { createRequire } from 'node:module';
import { isWithoutLeader } from './errors.ts';

const kafkajs = createRequire(import.meta.url);
const createAdmin = kafkajs('kafkajs/src/admin/index.js');
const Cluster = kafkajs('kafkajs/src/cluster/index.js');
const { createErrorFromCode } = kafkajs('kafkajs/src/protocol/error.js');

const logger = { namespace: () => logger, debug() {}, error() {}, warn() {}, info() {} };
/** A cluster that has forgotten the topic. */
const forgetful = {
  async addTargetTopic() {},
  async refreshMetadataIfNecessary() {},
  findTopicPartitionMetadata: () => [],
  fetchTopicsOffset: async () => [],
};

/** Error codes: https://kafka.apache.org/protocol#protocol_error_codes */
test.each([3, 5, 6])('a broker that answers with error %d does not know the leader yet', (code) => {
  expect(isWithoutLeader(createErrorFromCode(code))).toBe(true);
  expect(isWithoutLeader(new Error('asking', { cause: createErrorFromCode(code) }))).toBe(true);
});

test('a client that has forgotten the topic asks again', async () => {
  const admin = createAdmin({ logger, cluster: forgetful, retry: { retries: 0 } });
  const error = await admin.fetchTopicOffsets('topic').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TypeError);
  expect(isWithoutLeader(error)).toBe(true);
});

test('a client that has not read the layout asks again', async () => {
  const cluster = new Cluster({ logger, brokers: ['nowhere:1'] });
  const error = await cluster.findControllerBroker().catch((reason: unknown) => reason);
  expect(isWithoutLeader(error)).toBe(true);
});

test.each([
  ['a topic that is not allowed', () => createErrorFromCode(29)],
  ['a mistake of ours', () => new TypeError('undefined is not a function')],
  ['nothing', () => undefined],
])('%s is not asked about again', (_, error) => {
  expect(isWithoutLeader(error())).toBe(false);
});
