import { eventually, testServers } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import type { RunningServices } from './start-services.ts';

/** Returns how many event records have been processed, according to the stored offsets. */
export async function countConsumedRecords({ database, topicPrefix }: RunningServices): Promise<number> {
  const { rows } = await database.query<{ sum: string }>(
    `SELECT coalesce(sum(next_offset), 0) AS sum FROM consumer_offset
      WHERE topic = ANY($1) AND starts_with("group", $2)`,
    // Include only the event consumer's groups, because other groups read the same topics without storing events.
    [eventTopics(topicPrefix), `${topicPrefix}millrace.event-consumer.`],
  );
  return Number(rows[0]?.sum);
}

async function appendedRecords(services: RunningServices): Promise<number> {
  return services.eventLog === 'kafka' ? kafkaRecords(services) : postgresRecords(services);
}

/** Waits until all records that have been appended so far are processed. */
export async function waitUntilDrained(services: RunningServices): Promise<void> {
  const appended = await appendedRecords(services);
  await eventually(
    async () => {
      const consumed = await countConsumedRecords(services);
      if (consumed >= appended) return;
      const logs = services.consumers.map(({ output }) => output().slice(-1500)).join('\n--\n');
      throw new Error(`${consumed} of ${appended} are consumed. The consumers said:\n${logs}`);
    },
    { what: `Consuming all ${appended} records`, timeoutMs: 180_000, intervalMs: 100 },
  );
}

function eventTopics(prefix: string): string[] {
  return ['live', 'historical', 'overflow'].map((topic) => `${prefix}events.${topic}`);
}

async function kafkaRecords({ topicPrefix }: RunningServices): Promise<number> {
  const admin = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const existing = await admin.listTopics();
    const topics = eventTopics(topicPrefix).filter((topic) => existing.includes(topic));
    // A new topic has no leader for a moment, and kafkajs does not retry in this case.
    const ends = await eventually(() => Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic))), {
      what: 'Reading the ends of the topics',
    });
    return ends.flat().reduce((sum, { high }) => sum + Number(high), 0);
  } finally {
    await admin.disconnect();
  }
}

async function postgresRecords({ database, topicPrefix }: RunningServices): Promise<number> {
  const { rows } = await database.query<{ sum: string }>(
    'SELECT coalesce(sum(next_offset), 0) AS sum FROM event_log_partition WHERE topic = ANY($1)',
    [eventTopics(topicPrefix)],
  );
  return Number(rows[0]?.sum);
}
