import type { RecordMetadata, TopicMessages } from 'kafkajs';
import type { AppendTransport, BatchRefusal, PartitionBatch } from '../append/append-transport.ts';
import type { KafkaSessions } from './kafka-session.ts';
import { toBundle } from './kafkajs-internals/produce-protocol.ts';

/** Error codes of a partition in a produce response: https://kafka.apache.org/protocol#protocol_error_codes */
const messageTooLarge = 10;
const recordListTooLarge = 18;

/**
 * Writes to Kafka with acks=all: a batch is acknowledged once every in-sync replica has it.
 * @param sendTimeoutMs after this an attempt counts as failed and its connections are given up.
 */
export function createKafkaTransport(sessions: KafkaSessions, sendTimeoutMs: number): AppendTransport {
  return {
    async leadersOf(topic) {
      const metadata = await sessions.use(
        ({ admin }) => admin.fetchTopicMetadata({ topics: [topic] }),
        sendTimeoutMs,
        'reading the layout of a topic',
      );
      const partitions = metadata.topics.find(({ name }) => name === topic)?.partitions ?? [];
      if (partitions.length === 0) throw new Error(`the topic ${topic} does not exist`);
      const leaders: number[] = new Array(partitions.length).fill(0);
      for (const { partitionId, leader } of partitions) leaders[partitionId] = leader;
      return leaders;
    },

    async send(batches) {
      const answers = await sessions.use(
        ({ producer }) => producer.sendBatch({ acks: -1, timeout: sendTimeoutMs, topicMessages: toMessages(batches) }),
        sendTimeoutMs,
        'sending records',
      );
      const refusals = batches.map((batch) => refusalOf(batch, answers));
      // A leader may have moved: a new session looks up where it is.
      if (refusals.some((refusal) => refusal?.reason === 'not_now')) sessions.renew('a partition refused records');
      return refusals;
    },
  };
}

function toMessages(batches: PartitionBatch[]): TopicMessages[] {
  const topics = new Map<string, TopicMessages>();
  for (const { topic, partition, records } of batches) {
    const entry = topics.get(topic) ?? { topic, messages: [] };
    entry.messages.push(toBundle(partition, records));
    topics.set(topic, entry);
  }
  return [...topics.values()];
}

function refusalOf({ topic, partition }: PartitionBatch, answers: RecordMetadata[]): BatchRefusal | null {
  const answer = answers.find((one) => one.topicName === topic && one.partition === partition);
  if (answer?.errorCode === 0) return null;
  const code = answer?.errorCode ?? 'missing';
  return {
    reason: code === messageTooLarge || code === recordListTooLarge ? 'too_large' : 'not_now',
    error: new Error(`Kafka answered ${topic}/${partition} with error code ${code}`),
  };
}
