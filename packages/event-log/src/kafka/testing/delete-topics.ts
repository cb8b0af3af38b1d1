import { Kafka, logLevel } from 'kafkajs';

/**
 * Takes a test file's topics off the shared broker again: it gets slow when they pile up.
 * @internal
 */
export async function deleteTopics(brokers: string[], topics: string[]): Promise<void> {
  const admin = new Kafka({ brokers, clientId: 'test', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    if (topics.length > 0) await admin.deleteTopics({ topics, timeout: 20_000 });
  } catch {
    // They only cost room.
  } finally {
    await admin.disconnect();
  }
}
