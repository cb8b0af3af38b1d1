import { Kafka, logLevel } from 'kafkajs';

/** Deletes a test file's topics from the shared broker, which becomes slow if it has many topics. @internal */
export async function deleteTopics(brokers: string[], topics: string[]): Promise<void> {
  const admin = new Kafka({ brokers, clientId: 'test', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    if (topics.length > 0) await admin.deleteTopics({ topics, timeout: 20_000 });
  } catch {
    // Ignore errors. Topics that remain only use disk space.
  } finally {
    await admin.disconnect();
  }
}
