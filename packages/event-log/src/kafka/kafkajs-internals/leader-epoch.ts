import type { KafkaMessage } from 'kafkajs';

/**
 * Reason: a new leader may have lost what the former one had; a higher epoch tells of it, and kafkajs checks nothing by it.
 * Relies on: `batchContext.partitionLeaderEpoch` of fetched messages, which kafkajs 2.2.4 leaves on them without declaring it.
 * Witness: leader-epoch.test.ts.
 * May go: when the client tells the epoch of records, or finds truncated logs by itself (KIP-320).
 */

/** The highest epoch of the leaders that wrote the messages; null where they carry none (the format before Kafka 0.11). */
export function newestLeaderEpoch(messages: readonly KafkaMessage[]): number | null {
  // Epochs never fall within a log, so that of the last message is the highest.
  const { batchContext } = (messages.at(-1) ?? {}) as { batchContext?: { partitionLeaderEpoch?: number } };
  return batchContext?.partitionLeaderEpoch ?? null;
}
