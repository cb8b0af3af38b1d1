import { createRequire } from 'node:module';
import { testServers, uniqueTopicPrefix } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { deleteTopics } from '../testing/delete-topics.ts';
import { findTopicIdentity, installMetadataWithTopicIds } from './metadata.ts';

const { lookup, requests } = createRequire(import.meta.url)('kafkajs/src/protocol/requests/index.js');
const metadataKey = 3;

beforeAll(() => installMetadataWithTopicIds());

test.each([
  [6, 6],
  [9, 6],
  [10, 10],
  [13, 10],
])('for a broker that supports metadata versions up to %d, the client sends version %d', (maxVersion, asked) => {
  const ask = lookup({ [metadataKey]: { minVersion: 0, maxVersion } })(metadataKey, requests.Metadata);
  expect(ask({ topics: ['topic'] }).request).toMatchObject({ apiKey: metadataKey, apiVersion: asked });
});

test('partition metadata includes the topic ID and the leader epoch', async () => {
  const { kafkaBrokers: brokers } = testServers();
  const topic = `${uniqueTopicPrefix()}identity`;
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 2 }] });
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const identities = topics.flatMap(({ partitions }) => partitions.map(findTopicIdentity));
    const identity = {
      clusterId: (await admin.describeCluster()).clusterId,
      topicId: expect.stringMatching(/^(?!0{32})[0-9a-f]{32}$/),
      leaderEpoch: 0,
    };
    expect(identities).toEqual([expect.objectContaining(identity), expect.objectContaining(identity)]);
    expect(identities[0]?.topicId).toBe(identities[1]?.topicId);
  } finally {
    await admin.disconnect();
    await deleteTopics(brokers, [topic]);
  }
});
