import { createRequire } from 'node:module';
import { isLeaderMissing } from './errors.ts';

const kafkajs = createRequire(import.meta.url);
const createAdmin = kafkajs('kafkajs/src/admin/index.js');
const Cluster = kafkajs('kafkajs/src/cluster/index.js');
const { createErrorFromCode } = kafkajs('kafkajs/src/protocol/error.js');

const logger = { namespace: () => logger, debug() {}, error() {}, warn() {}, info() {} };
/** A cluster object that no longer has the topic's metadata. */
const forgetful = {
  async addTargetTopic() {},
  async refreshMetadataIfNecessary() {},
  findTopicPartitionMetadata: () => [],
  fetchTopicsOffset: async () => [],
};

/** Error codes: https://kafka.apache.org/protocol#protocol_error_codes */
test.each([3, 5, 6])('recognizes broker error %d as a missing leader', (code) => {
  expect(isLeaderMissing(createErrorFromCode(code))).toBe(true);
  expect(isLeaderMissing(new Error('asking', { cause: createErrorFromCode(code) }))).toBe(true);
});

test("recognizes a topic's lost metadata as a missing leader", async () => {
  const admin = createAdmin({ logger, cluster: forgetful, retry: { retries: 0 } });
  const error = await admin.fetchTopicOffsets('topic').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TypeError);
  expect(isLeaderMissing(error)).toBe(true);
});

test('recognizes the error for metadata that is not loaded yet as a missing leader', async () => {
  const cluster = new Cluster({ logger, brokers: ['nowhere:1'] });
  const error = await cluster.findControllerBroker().catch((reason: unknown) => reason);
  expect(isLeaderMissing(error)).toBe(true);
});

test.each([
  ['an unauthorized topic', () => createErrorFromCode(29)],
  ['a programming error', () => new TypeError('undefined is not a function')],
  ['undefined', () => undefined],
])('does not classify %s as a missing leader', (_, error) => {
  expect(isLeaderMissing(error())).toBe(false);
});
