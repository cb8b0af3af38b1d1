import { type Lane, type TopicNames, topicNames } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import type { Pool } from 'pg';
import type { TopicRecord } from './release-record.ts';

/** One stores, one publishes. */
const groupsOfLane = 2;
const kinds = ['live', 'historical', 'overflow', 'processed', 'deadLetter'] as const;

/** The topics of one installation, each with one partition: what is in them has one order. */
export interface RecordedTopics {
  create(): Promise<void>;
  append(records: readonly TopicRecord[]): Promise<void>;
  /** All that is in them, topic by topic. */
  read(): Promise<TopicRecord[]>;
  /** Resolves when a consumer has stored what is in a lane, and published it. */
  untilConsumed(lane: Lane, database: Pool): Promise<void>;
  remove(): Promise<void>;
  close(): Promise<void>;
}

export async function openTopics(broker: string, prefix: string): Promise<RecordedTopics> {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
  const names: TopicNames = topicNames(prefix);
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  await Promise.all([admin.connect(), producer.connect()]);
  let readers = 0;

  async function read(): Promise<TopicRecord[]> {
    const found = new Map<string, TopicRecord[]>(kinds.map((kind) => [names[kind], []]));
    const ends = await Promise.all(kinds.map((kind) => admin.fetchTopicOffsets(names[kind])));
    const count = ends.flat().reduce((sum, { high }) => sum + Number(high), 0);
    readers += 1;
    const consumer = kafka.consumer({ groupId: `${prefix}recorder-${readers}` });
    await consumer.connect();
    await consumer.subscribe({ topics: [...found.keys()], fromBeginning: true });
    await consumer.run({
      async eachMessage({ topic: name, message: { key, value, headers } }) {
        const topic = kinds.find((kind) => names[kind] === name) ?? 'live';
        const texts = Object.entries(headers ?? {}).map(([header, text]) => [header, String(text)] as const);
        const place = { topic, key: key?.toString() ?? null, headers: Object.fromEntries(texts) };
        found.get(name)?.push({ ...place, value: asJson(value?.toString() ?? '') });
      },
    });
    await eventually(() => [...found.values()].flat().length >= count, { what: `${count} records` });
    await consumer.disconnect();
    return [...found.values()].flat();
  }

  return {
    create: async () => {
      await admin.createTopics({
        topics: kinds.map((kind) => ({ topic: names[kind], numPartitions: 1 })),
        waitForLeaders: true,
      });
    },
    async append(records) {
      for (const { topic, key, headers, value } of records) {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        await producer.send({ topic: names[topic], messages: [{ key, headers, value: text }] });
      }
    },
    read,
    async untilConsumed(lane, database) {
      const [end] = await admin.fetchTopicOffsets(names[lane]);
      const consumed = async () => {
        const { rows } = await database.query<{ groups: number }>(
          'SELECT count(*)::int AS groups FROM consumer_position WHERE topic = $1 AND next_offset >= $2',
          [names[lane], end?.high],
        );
        return (rows[0]?.groups ?? 0) >= groupsOfLane;
      };
      await eventually(consumed, { what: `The end of ${names[lane]}` });
    },
    remove: () => admin.deleteTopics({ topics: kinds.map((kind) => names[kind]) }),
    async close() {
      await Promise.all([admin.disconnect(), producer.disconnect()]);
    },
  };
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
