import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';

const pauseMs = 100;

/** Deletes topics and makes them anew at once, with as many partitions as they had. */
export async function recreateTopics(broker: string, names: readonly string[]): Promise<void> {
  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
    await admin.deleteTopics({ topics: topics.map(({ name }) => name) });
    // A broker may still be busy deleting when it is asked for the same name again.
    for (let isMade = false; !isMade; ) {
      isMade = await admin
        .createTopics({
          topics: topics.map(({ name, partitions }) => ({ topic: name, numPartitions: partitions.length })),
        })
        .then(
          () => true,
          () => sleep(pauseMs, false),
        );
    }
  } finally {
    await admin.disconnect();
  }
}
